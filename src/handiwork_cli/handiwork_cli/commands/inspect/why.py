"""``handiwork why``: the reason why a condition is true, false or unknown."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_viz.condition_table import WORDS, seconds, why_lines

if TYPE_CHECKING:
    from handiwork_msgs.msg import Condition
    from handiwork_msgs.srv import EvaluateCondition

    from handiwork_ros.clients.skill_client import SkillClient

ANSWER_S = 10.0
TABLE_S = 5.0
"""The longest wait for the table of watched conditions, s; it is latched."""
EXIT_CODES = {"TRUE": 0, "FALSE": 1, "UNKNOWN": 3}
REFUSED = 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "why",
        help="value, margin, reason and evidence of a condition",
        description="Exit code: 0 TRUE, 1 FALSE, 3 UNKNOWN, 2 refused or no answer.",
    )
    parser.add_argument(
        "condition",
        help="name of a watched condition, of a predicate that is watched, or an expression: "
        "'object_in_container(object=cube, container=bin) and not object_grabbed(object=cube)'",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print value, margin, reason and evidence of a condition.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, see ``EXIT_CODES``; REFUSED for a refusal or without an answer.
    """
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs.srv import EvaluateCondition

    from handiwork_ros.clients.skill_client import SkillClient
    from handiwork_ros.conversions import outcome_from_msg

    text = options.condition.strip()
    plain = text.isidentifier()
    request = EvaluateCondition.Request(name=text if plain else "", expression="" if plain else text)
    with SkillClient(node_name="handiwork_command") as client:
        answer = _asked(client, request)
        if plain and answer is not None and not outcome_from_msg(answer.outcome).ok:
            watched = _watched(client, text)
            if len(watched) > 1:
                print(f"handiwork why: {several(text, [item.key for item in watched])}", file=sys.stderr)
                return REFUSED
            if watched:
                answer = _asked(client, EvaluateCondition.Request(expression=watched[0].expression))
    if answer is None:
        print(
            f"handiwork why: conditions/evaluate does not answer in {ANSWER_S:.0f} s; start the stack, "
            "or set its ROS_DOMAIN_ID",
            file=sys.stderr,
        )
        return REFUSED
    outcome = outcome_from_msg(answer.outcome)
    if not outcome.ok:
        print(f"handiwork why: {outcome.message}", file=sys.stderr)
        return REFUSED
    for line in why_lines(answer.condition, seconds(answer.condition.stamp)):
        print(line)
    return EXIT_CODES[WORDS[answer.condition.value]]


def several(name: str, keys: Sequence[str]) -> str:
    """Return the error text for a name that may mean several watched conditions.

    Args:
        name: The name.
        keys: Keys of these conditions.
    """
    listed = " or ".join(f'"{key}"' for key in keys)
    return f"{name} is watched {len(keys)} times; ask for {listed}"


def _watched(client: SkillClient, name: str) -> list[Condition]:
    """Return the watched conditions of a predicate or of a name; none when no table arrives."""
    from handiwork_msgs.msg import Conditions

    from handiwork_ros.rclpy_support.qos import LATCHED

    received, tables = threading.Event(), list[Conditions]()

    def take(message: Conditions) -> None:
        tables.append(message)
        received.set()

    client.node.create_subscription(Conditions, "conditions", take, LATCHED)
    if not received.wait(TABLE_S):
        return []
    return [c for c in tables[0].conditions if c.name == name or c.expression.startswith(f"{name}(")]


def _asked(client: SkillClient, request: EvaluateCondition.Request) -> EvaluateCondition.Response | None:
    """Return the response of conditionals_node, or None without one."""
    from handiwork_msgs.srv import EvaluateCondition

    from handiwork_cli.ros.service_question import ask

    return ask(client.node, EvaluateCondition, "conditions/evaluate", request, ANSWER_S)
