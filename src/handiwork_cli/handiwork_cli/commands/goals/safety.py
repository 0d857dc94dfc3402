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
"""Longest wait for an answer; the state is latched."""
DONE, REFUSED, NO_ANSWER = 0, 1, 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare both commands."""
    stop = commands.add_parser("stop", help="emergency stop: brake all arms and latch")
    stop.set_defaults(run=lambda _options: request("emergency_stop", None))
    parser = commands.add_parser(
        "safety",
        help="state of the safety layer; reset, recover, reduced speed",
        description="Exit code: 0 done, 1 refused or stopped, 2 when nobody answers.",
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
    """Do what was asked; see the command's description for the exit code."""
    if (options.action == "speed") != (options.scale is not None):
        print("handiwork safety: give a scale with speed, and only there: safety speed 0.25", file=sys.stderr)
        return REFUSED
    if options.action == "state":
        return show()
    return request({"stop": "emergency_stop"}.get(options.action, options.action), options.scale)


def request(name: str, scale: float | None) -> int:
    """Call one service of the safety layer and print its answer."""
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs.srv import SetSpeedScale
    from std_srvs.srv import Trigger

    from handiwork_cli.ros.service_question import ask
    from handiwork_ros.clients.skill_client import SkillClient

    with SkillClient(node_name="handiwork_command") as client:
        if scale is None:
            answer = ask(client.node, Trigger, f"safety/{name}", Trigger.Request(), ANSWER_S)
        else:
            asked = SetSpeedScale.Request(speed_scale=scale)
            answer = ask(client.node, SetSpeedScale, "safety/set_speed_scale", asked, ANSWER_S)
    if answer is None:
        print(
            f"handiwork safety: safety/{name} does not answer in {ANSWER_S:.0f} s; the robot may still move: "
            "use the hardware's emergency stop. Start the stack, or set its ROS_DOMAIN_ID",
            file=sys.stderr,
        )
        return NO_ANSWER
    print(answer.message, file=sys.stdout if answer.success else sys.stderr)
    return DONE if answer.success else REFUSED


def show() -> int:
    """Print the state; zero while motions may begin."""
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs.msg import SafetyState

    from handiwork_ros.clients.skill_client import SkillClient
    from handiwork_ros.rclpy_support.qos import LATCHED

    heard, states = threading.Event(), list[Any]()

    def take(message: Any) -> None:  # noqa: ANN401 - a generated message
        states.append(message)
        heard.set()

    with SkillClient(node_name="handiwork_command") as client:
        client.node.create_subscription(SafetyState, "safety/state", take, LATCHED)
        heard.wait(ANSWER_S)
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
    """The state as a person reads it."""
    found = [f"{Mode(message.state).name}, speed scale {message.speed_scale:g}"]
    if message.reason:
        motion = "at rest" if message.at_rest else "braking"
        found += [f"{message.reason} (stop category {message.stop_category}, {motion})"]
    if message.emergency_stop_pressed:
        found += ["an emergency stop is held on safety/emergency_stop"]
    found += [f"stops: {message.protective_stops} protective, {message.emergency_stops} emergency"]
    return [*found, *(f"  {text}" for text in message.limits)]
