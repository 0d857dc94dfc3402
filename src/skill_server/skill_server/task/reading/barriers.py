"""Barriers between the arms of a step: every one is reached by all that wait at it."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from handiwork_core.robot.robot import Robot
from skill_server.task.model import Barrier, Block, entries_of, further_arms

from .file_format import AddMessage


def check_barriers(arms: Mapping[str, Block], path: str, fault: AddMessage) -> None:
    """Check that no arm of a step waits at a barrier forever.

    Args:
        arms: The lists of the step, by arm.
        path: Place of the step in the file.
        fault: Receives every fault.
    """
    lists = {arm: [node for node in block if isinstance(node, Barrier)] for arm, block in arms.items()}
    count = dict.fromkeys((one.name for barriers in lists.values() for one in barriers), 0)
    for barriers in lists.values():
        seen = set[str]()
        for one in barriers:
            if one.name in seen:
                fault(
                    one.path,
                    f"barrier {one.name!r} is twice in the list of one arm; name the second otherwise",
                )
            else:
                count[one.name] += 1
            seen.add(one.name)
    for barriers in lists.values():
        for one in barriers:
            if count[one.name] == 1:
                text = f"no other arm of the step has barrier {one.name!r}; add it to the arm that must wait"
                fault(one.path, text)
    order = TopologicalSorter[str]()
    for barriers in lists.values():
        for before, after in pairwise(barriers):
            if before.name != after.name:
                order.add(after.name, before.name)
    try:
        order.prepare()
    except CycleError as error:
        names = " -> ".join(map(repr, error.args[1]))
        fault(
            path, f"arms wait for one another at barriers {names}; give the barriers one order in all lists"
        )


def check_further_arms(arms: Mapping[str, Block], robot: Robot, fault: AddMessage) -> None:
    """Check that no arm which a skill of a step needs has a list of its own there, or is needed by two lists.

    Args:
        arms: The lists of the step, by arm.
        robot: Robot with the arms.
        fault: Receives every fault.
    """
    needed = dict[str, str]()
    for entry in (one for block in arms.values() for node in block for one in entries_of(node)):
        for name in further_arms(entry, robot):
            user = needed.setdefault(name, entry.arm)
            if user != entry.arm:
                text = f"{entry.skill.name} needs {name}, which a skill of {user} needs in this step; split the step"
                fault(entry.path, text)
            if name in arms:
                text = f"{entry.skill.name} needs {name}, which has skills of its own in this step; split the step"
                fault(entry.path, text)
