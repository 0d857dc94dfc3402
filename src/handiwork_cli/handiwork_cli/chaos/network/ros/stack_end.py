"""The stack in the first namespace, with the trials: the goals come from a client behind the faulty network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from handiwork_cli.chaos.network.namespaces import NamespaceError
from handiwork_cli.chaos.network.orders import join
from handiwork_cli.processes.interrupts import INTERRUPTED, interruptible
from handiwork_core.process.dds_profiles import NEW_VARIABLE, OLD_VARIABLE

if TYPE_CHECKING:
    import socket

    from handiwork_cli.chaos.ros.campaign import ChaosPlan

SKIPPED = 77
"""The exit code of a run that this machine does not permit."""
START_S = 60.0
"""The longest wait until the client has found the skill server, s."""
REACH = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}
"""Nothing may pass by the relay: no shared memory, and no profile or server of the user's."""
NOT_TAKEN = ("ROS_STATIC_PEERS", OLD_VARIABLE, NEW_VARIABLE, "ROS_DISCOVERY_SERVER")


class RemoteClient:
    """The client in the second namespace.

    Args:
        robot: Name of the robot.
        relay: The socket to the relay, which the client inherits.
    """

    def __init__(self, robot: str, relay: socket.socket) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "handiwork_cli.chaos.network.ros.client_end", robot],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=(relay.fileno(),),
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer.

        Args:
            request: ``ready_s``, or ``goal`` and ``bound_s``.

        Returns:
            The answer.

        Raises:
            StackError: The client has ended.
        """
        from handiwork_cli.stack.stack import StackError

        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{json.dumps(request)}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise StackError("the client in the second namespace has ended; the lines above say why")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the client at once, also one that waits for a goal."""
        self._process.terminate()
        self._process.communicate()


def run_trials(plan: ChaosPlan, relay: socket.socket) -> int:
    """Run the trials and print the findings.

    Args:
        plan: The settings.
        relay: The socket to the relay.

    Returns:
        Exit code, 0 exactly when every promise was kept.
    """
    from handiwork_cli.chaos.machine import burners
    from handiwork_cli.chaos.verdict import Findings
    from handiwork_cli.stack.demo_cells import robot_of, stack_arguments
    from handiwork_cli.stack.stack import Stack, StackError

    from .network_campaign import NetworkCampaign

    arguments = stack_arguments(plan.robot, robot_of(plan.robot), "")
    arguments["real_time_factor"] = str(plan.real_time_factor)
    findings = Findings(plan.seed)
    try:
        with (
            burners(plan.load),
            Stack(arguments, write=lambda line: print(line, file=sys.stderr, flush=True)) as stack,
        ):
            stack.wait_active()
            client = RemoteClient(plan.robot, relay)
            try:
                if not client.ask(ready_s=START_S)["ready"]:
                    raise StackError(f"the client did not find the skill server within {START_S:.0f} s")
                campaign = NetworkCampaign(plan, stack, findings, client, relay)
                campaign.run(lambda line: print(line, flush=True))
            finally:
                client.close()
    except KeyboardInterrupt:
        findings.is_cut_short = True
    print("\n".join(findings.lines()), flush=True)
    return findings.exit_code


def main(plan: str) -> int:
    """Join the network, then start the stack and run the trials.

    Args:
        plan: The fields of a ``ChaosPlan`` in JSON.

    Returns:
        Exit code; ``SKIPPED`` where namespaces are not permitted.
    """
    try:
        relay = join(0)
    except NamespaceError as error:
        print(f"the network was not made faulty: {error}", flush=True)
        return SKIPPED
    for name in NOT_TAKEN:
        os.environ.pop(name, None)
    os.environ.update(REACH)
    # Only now: they start threads, and a process with threads can enter no namespace.
    from handiwork_cli.chaos.ros.campaign import ChaosPlan
    from handiwork_cli.stack.stack import StackError

    begin_s = time.monotonic()
    try:
        code = run_trials(ChaosPlan(**json.loads(plan)), relay)
    except StackError as error:
        print(f"handiwork chaos: {error}", file=sys.stderr)
        return 1
    print(f"{time.monotonic() - begin_s:.0f} s of wall time", flush=True)
    return code


if __name__ == "__main__":
    with interruptible():
        try:
            code = main(*sys.argv[1:])
        except KeyboardInterrupt:  # the command that has passed the signal on says so
            code = INTERRUPTED
    raise SystemExit(code)
