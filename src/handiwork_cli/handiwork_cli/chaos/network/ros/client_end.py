"""The client in the second namespace: sends the goals that it is asked for, and writes how they ended.

Each line of its input is a request in JSON, each line of its output the answer.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from handiwork_cli.chaos.network.orders import join

if TYPE_CHECKING:
    from handiwork_ros.clients.skill_client import SkillClient


def main(robot: str) -> None:
    """Join the network and answer requests until the input ends.

    Args:
        robot: Name of the robot.
    """
    join(1)
    # Only now: they start threads, and a process with threads can enter no namespace.
    from handiwork_cli.stack.demo_cells import robot_of, target_of
    from handiwork_ros.clients.skill_client import SkillClient

    target = target_of(robot_of(robot), "")
    with SkillClient(node_name="chaos_client") as client:
        for line in sys.stdin:
            print(json.dumps(_answer(client, target, json.loads(line))), flush=True)


def _answer(client: SkillClient, target: Any, request: dict[str, Any]) -> dict[str, Any]:
    from handiwork_cli.chaos.ros.goals import message_of
    from handiwork_cli.chaos.trials import GoalKind

    if "ready_s" in request:
        return {"ready": client.wait_ready(request["ready_s"])}
    kind, begin_s = GoalKind(request["goal"]), time.monotonic()
    send: Any = client.send_task if kind is GoalKind.LARGE_TASK else client.send
    outcome = send(message_of(kind, target)).result(request["bound_s"]).outcome
    return {"code": outcome.code.name, "message": outcome.message, "took_s": time.monotonic() - begin_s}


if __name__ == "__main__":
    main(*sys.argv[1:])
