"""``handiwork stop`` and ``handiwork safety``: the emergency stop, and the state of the safety layer."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from typing import Any

from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.safety.state import Mode

ANSWER_S = 5.0
"""The longest wait for a response, s; the state is latched."""
DONE, REFUSED, NO_ANSWER = 0, 1, 2
SERVICES = {
    "stop": "safety/emergency_stop",
    "reset": "safety/reset",
    "recover": "safety/recover",
    "speed": "safety/set_speed_scale",
}
"""The service of each action."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare both commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    stop = commands.add_parser("stop", help="emergency stop: brake all arms and latch")
    stop.set_defaults(run=lambda _options: request(SERVICES["stop"], None))
    parser = commands.add_parser(
        "safety",
        help="state of the safety layer; reset, recover, reduced speed",
        description="Exit code: 0 done, 1 refused or stopped, 2 no answer.",
    )
    parser.add_argument(
        "action",
        nargs="?",
        default="state",
        choices=("state", "stop", "reset", "recover", "speed"),
        help="state (default); stop; reset an emergency stop; recover from a protective stop; speed SCALE",
    )
    parser.add_argument(
        "scale", nargs="?", type=float, help="of speed: share of full speed, 1 for normal mode"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the action; see the command's description for the exit code.

    Args:
        options: Parsed command line.

    Returns:
        Exit code.
    """
    if (options.action == "speed") != (options.scale is not None):
        print("handiwork safety: give a scale with speed, and only there: safety speed 0.25", file=sys.stderr)
        return REFUSED
    if options.action == "state":
        return show()
    return request(SERVICES[options.action], options.scale)


def request(service: str, scale: float | None) -> int:
    """Call one service of the safety layer and print its response.

    Args:
        service: Name of the service.
        scale: Share of full speed, for ``safety/set_speed_scale``; None for a service without a value.

    Returns:
        Exit code: DONE, REFUSED or NO_ANSWER.
    """
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs.srv import SetSpeedScale
    from std_srvs.srv import Trigger

    from handiwork_cli.ros.service_question import ask
    from handiwork_ros.rclpy_support.background_node import BackgroundNode

    with BackgroundNode("handiwork_command") as client:
        if scale is None:
            answer = ask(client.node, Trigger, service, Trigger.Request(), ANSWER_S)
        else:
            asked = SetSpeedScale.Request(speed_scale=scale)
            answer = ask(client.node, SetSpeedScale, service, asked, ANSWER_S)
    if answer is None:
        print(
            f"handiwork safety: {service} does not answer in {ANSWER_S:.0f} s; the robot may still move: "
            "use the hardware's emergency stop. Start the stack, or set its ROS_DOMAIN_ID",
            file=sys.stderr,
        )
        return NO_ANSWER
    print(answer.message, file=sys.stdout if answer.success else sys.stderr)
    return DONE if answer.success else REFUSED


def show() -> int:
    """Print the state.

    Returns:
        Exit code: DONE while motions may begin, REFUSED while stopped, or NO_ANSWER.
    """
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs.msg import SafetyState

    from handiwork_ros.rclpy_support.background_node import BackgroundNode
    from handiwork_ros.rclpy_support.qos import LATCHED

    received, states = threading.Event(), list[Any]()

    def take(message: Any) -> None:  # noqa: ANN401 - a generated message
        states.append(message)
        received.set()

    client = BackgroundNode("handiwork_command")
    client.node.create_subscription(SafetyState, "safety/state", take, LATCHED)
    with client:
        received.wait(ANSWER_S)
    if not states:
        print(
            f"handiwork safety: no safety/state in {ANSWER_S:.0f} s; this robot has no safety layer, "
            "or set its ROS_DOMAIN_ID",
            file=sys.stderr,
        )
        return NO_ANSWER
    print(*lines(states[-1]), sep="\n")
    return REFUSED if states[-1].state >= SafetyState.PROTECTIVE_STOP else DONE


def lines(message: Any) -> list[str]:  # noqa: ANN401 - a generated message
    """Return the state as text.

    Args:
        message: A SafetyState message.
    """
    found = [f"{Mode(message.state).name}, speed scale {message.speed_scale:g}"]
    if message.reason:
        motion = "at rest" if message.at_rest else "braking"
        found += [f"{message.reason} (stop category {message.stop_category}, {motion})"]
    if message.emergency_stop_pressed:
        found += ["an emergency stop is held on safety/emergency_stop"]
    found += [f"stops: {message.protective_stops} protective, {message.emergency_stops} emergency"]
    return [*found, *(f"  {text}" for text in message.limits)]
