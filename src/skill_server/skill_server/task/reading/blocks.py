"""The control nodes of a task file: steps, loops, branches and alternatives, read into the nodes of ``model``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handiwork_core.config.dataclass_loader import nearest, shown
from handiwork_core.intake.limits import TASK_READS
from handiwork_core.robot.robot import ArmSpec
from skill_server.task.looking_ahead import looking_ahead
from skill_server.task.model import Barrier, Block, Check, If, Node, Repeat, Retry, TaskStep, Try

from .barriers import check_barriers, check_further_arms
from .control_keys import mapping_of, read_condition, whole_number
from .entries import Reading, read_entry
from .for_each import read_for_each
from .variables import check_name

CONTROL_KEYS = ("repeat", "retry", "for_each", "if", "try", "parallel", "condition", "barrier")
"""Keys of control nodes. An arm of the same name goes before."""


def read_block(
    items: object, path: str, label: str, arm: ArmSpec | None, reading: Reading, *, in_step: bool = False
) -> Block:
    """Read a list of steps, or of skills of one arm, with the control nodes between them.

    Args:
        items: The list.
        path: Its place in the file.
        label: Label to which the number of each item is added.
        arm: Arm whose skills these are; None for a list of steps.
        reading: Receives the faults.
        in_step: True for the whole list of an arm in a step, where barriers may be.

    Returns:
        The nodes without faults.
    """
    if not isinstance(items, list) or not items:
        what = "steps, each {arm: [skills]}" if arm is None else f"skills of arm {arm.name!r}, at least one"
        reading.fault(path, f"is {shown(items)}; write a list of {what}")
        return ()
    made = []
    for i, item in enumerate(items):
        where = f"{path}[{i}]"
        if next(reading.items) >= TASK_READS:
            text = (
                f"more than {TASK_READS} skills and nodes with the objects of all loops; list fewer objects"
            )
            reading.fault(path, text)
            return ()
        word = _control_word(item, arm, reading)
        node: Node | None
        if word == "barrier" and not in_step:
            node = None
            reading.fault(where, "a barrier is a place in the list of an arm of a step; move it there")
        elif word:
            node = _control(word, item, where, f"{label}.{i + 1}", arm, reading)
        elif arm is not None:
            node = read_entry(item, where, label, arm, i, reading)
        else:
            node = _step(item, where, f"{label}.{i + 1}", reading)
        made += [] if node is None else [node]
    return looking_ahead(tuple(made))


def _control_word(item: object, arm: ArmSpec | None, reading: Reading) -> str:
    """Return the key of a control node; empty for a step or a skill."""
    if not isinstance(item, Mapping) or (arm is not None and "name" in item):
        return ""
    return next((key for key in item if key in CONTROL_KEYS and key not in reading.site.robot.arms), "")


def _control(
    word: str, item: Mapping[str, Any], path: str, label: str, arm: ArmSpec | None, reading: Reading
) -> Node | None:
    for key in item:
        if key != word:
            text = f"is given beside {word}; make it an item of the list of its own"
            reading.fault(f"{path}.{str(key)[:80]}", text)
    data, where = item[word], f"{path}.{word}"
    match word:
        case "repeat":
            return _repeat(data, where, label, arm, reading)
        case "retry":
            given = mapping_of(data, where, ("times", "steps"), (), reading)
            times = whole_number(given, "times", where, reading)
            body = read_block(given.get("steps"), f"{where}.steps", f"{label}[1]", arm, reading)
            return Retry(where, body, times)
        case "for_each":
            return read_for_each(data, where, label, arm, reading, read_block)
        case "if":
            return _if(data, where, label, arm, reading)
        case "try":
            return _try(data, where, label, arm, reading)
        case "condition":
            return Check(read_condition(data, where, reading))
        case "barrier":
            check_name(data, where, reading.fault)
            return Barrier(where, str(data))
    if arm is not None:
        reading.fault(path, f"is within the list of arm {arm.name!r}; write it as a step, beside the arms")
        return None
    return _step(data, where, label, reading)


def _repeat(data: object, path: str, label: str, arm: ArmSpec | None, reading: Reading) -> Repeat | None:
    if isinstance(data, Mapping) and "until" not in data:
        if "max" in data and "times" not in data:
            reading.fault(f"{path}.until", "missing; add the condition that ends the loop, or write times")
            return None
        given = mapping_of(data, path, ("times", "steps"), (), reading)
        times, until = whole_number(given, "times", path, reading), None
    else:
        given = mapping_of(data, path, ("until", "max", "steps"), (), reading)
        times = whole_number(given, "max", path, reading)
        until = read_condition(given.get("until"), f"{path}.until", reading) if given else None
    body = read_block(given.get("steps"), f"{path}.steps", f"{label}[1]", arm, reading) if given else ()
    return Repeat(path, body, times, until)


def _if(data: object, path: str, label: str, arm: ArmSpec | None, reading: Reading) -> If | None:
    given = mapping_of(data, path, ("condition", "then"), ("else",), reading)
    if not given:
        return None
    condition = read_condition(given.get("condition"), f"{path}.condition", reading)
    then = read_block(given.get("then"), f"{path}.then", f"{label}.then", arm, reading)
    otherwise: Block = ()
    if "else" in given:
        otherwise = read_block(given["else"], f"{path}.else", f"{label}.else", arm, reading)
    return If(path, condition, then, otherwise)


def _try(data: object, path: str, label: str, arm: ArmSpec | None, reading: Reading) -> Try | None:
    if not isinstance(data, list) or len(data) < 2:
        reading.fault(
            path, f"is {shown(data)}; write a list of two alternatives or more, each a list of steps"
        )
        return None
    blocks = [
        read_block(one, f"{path}[{i}]", f"{label}.try{i + 1}", arm, reading) for i, one in enumerate(data)
    ]
    return Try(path, tuple(blocks))


def _step(step: object, path: str, label: str, reading: Reading) -> TaskStep | None:
    if not isinstance(step, Mapping) or not step:
        arms = sorted(reading.site.robot.arms)
        reading.fault(path, f"is {shown(step)}; write {{arm: [skills]}} with arms of {arms}")
        return None
    arms_: dict[str, Block] = {}
    for word, skills in step.items():
        where = f"{path}.{str(word)[:80]}"
        arm = reading.arm(str(word))
        if arm is None:
            known = [*reading.arm_words(), *CONTROL_KEYS]
            name = reading.site.robot.name
            reading.fault(where, f"is no arm of {name!r}; {nearest(str(word)[:80], known)}")
        elif arm.name in arms_:
            reading.fault(where, f"names arm {arm.name!r} twice in one step; join the two lists")
        elif not isinstance(skills, list) or not skills:
            reading.fault(
                where, f"is {shown(skills)}; write a list of at least one skill, or leave the arm out"
            )
        else:
            arms_[arm.name] = read_block(skills, where, label, arm, reading, in_step=True)
    check_barriers(arms_, path, reading.fault)
    check_further_arms(arms_, reading.site.robot, reading.fault)
    return TaskStep(label, arms_)
