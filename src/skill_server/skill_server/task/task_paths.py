"""Places of a task in words, such as ``1.2[cube].1`` or ``fr3_arm=1.2[3].then.1``: read, checked and ordered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from handiwork_core.config.dataclass_loader import ConfigError, nearest

from .model import Block, ForEach, If, Node, Repeat, Retry, Task, TaskStep, Try, arms_of

TaskPath: TypeAlias = tuple[str, ...]
"""The label of a step at the top, then numbers, turns in brackets, and names of branches."""
Starts: TypeAlias = Mapping[str, TaskPath | None]
"""The place of each arm to begin at within a node: empty for its beginning, None for after its end."""
LONGEST = 80
"""Characters of a wrong label that a message repeats."""
LABEL = re.compile(r"(\d+\.\d+)((?:\[[^\]]*\]|\.\d+|\.then|\.else|\.try\d+)*)")
PART = re.compile(r"\[[^\]]*\]|\d+|then|else|try\d+")
ARM = re.compile(r"\s*([^=\[\],]*?)\s*=\s*((?:\[[^\]]*\]|[^,\[])*)(?:,|$)")


@dataclass(frozen=True)
class Found:
    """A place that is in the task.

    Attributes:
        place: The place.
        key: Numbers and names by which places are ordered as they are run.
        step: The part of the place down to its step, or to the control node.
        arm: Arm of the list in which it is; None outside of lists.
    """

    place: TaskPath
    key: tuple[object, ...]
    step: TaskPath
    arm: str | None


def split(label: str) -> TaskPath:
    """Return the parts of a label.

    Args:
        label: Label of a step, a control node or a skill.

    Returns:
        The parts; the label itself alone when it is none.
    """
    match = LABEL.fullmatch(label.strip())
    return (label.strip(),) if match is None else (match[1], *PART.findall(match[2]))


def joined(place: TaskPath) -> str:
    """Return the label of a place.

    Args:
        place: The place.
    """
    return "".join(part if i == 0 or part.startswith("[") else f".{part}" for i, part in enumerate(place))


def starts(task: Task, text: str) -> dict[str, TaskPath]:
    """Return where each arm begins.

    Args:
        task: The task.
        text: A label; or ``<arm>=<label>`` for arms, with commas between them: an arm that is not named begins at the
            earliest step that is named. Empty: all begin at the beginning.

    Returns:
        The place of each arm; empty for the beginning.

    Raises:
        ValueError: The text names no place of the task, or places of branches that exclude each other.
    """
    arms = list(dict.fromkeys(arm for node in task.steps for arm in arms_of(node)))
    if not text.strip():
        return dict.fromkeys(arms, ())
    named = _named(task, text, arms)
    for one in named:
        _check_objects(task, one)
    first = min(named, key=lambda one: one.key)
    begin = dict.fromkeys(arms, first.step)
    for one in named:
        if one.arm is not None:
            begin[one.arm] = one.place
    _check_branches(list(begin.values()))
    return begin


def _named(task: Task, text: str, arms: list[str]) -> list[Found]:
    if not re.search(r"=(?![^\[]*\])", text):
        return [find(task, split(text), None)]
    found: dict[str, Found] = {}
    rest = text
    while rest.strip():
        match = ARM.match(rest)
        if match is None:
            raise ValueError(f"{rest[:LONGEST]!r} names no arm; write <arm>=<group>.<step>.<skill>")
        arm, label, rest = match[1], match[2].strip(), rest[match.end() :]
        if arm in found:
            raise ValueError(f"arm {arm[:LONGEST]!r} is named twice; name each arm once")
        if arm not in arms:
            hint = nearest(arm[:LONGEST], sorted(arms))
            raise ValueError(f"arm {arm[:LONGEST]!r} has no skill in task {task.name!r}; {hint}")
        one = find(task, split(label), arm) if len(split(label)) > 1 else None
        if one is None or one.arm is None:
            raise ValueError(f"{arm}={label[:LONGEST]} is no place; write {arm}=<group>.<step>.<skill>")
        found[arm] = one
    return list(found.values())


def find(task: Task, place: TaskPath, arm: str | None) -> Found:
    """Find a place in a task.

    Args:
        task: The task.
        place: The place.
        arm: Arm in whose list it is; None where a step has only one, or for a step or control node.

    Returns:
        The place.

    Raises:
        ValueError: There is none such; says which there are.
    """
    index = task.index_of(place[0])
    search = _Search(arm, len(place))
    key = search.within(task.steps[index], place[0], place[1:])
    step = place[: search.step_depth] if search.step_depth else place
    return Found(place, (index, *key), step, search.arm if search.step_depth else None)


@dataclass
class _Search:
    """A walk along a place of some parts. ``step_depth`` counts those down to the step in whose lists the place is."""

    arm: str | None
    parts: int
    step_depth: int = 0

    def within(self, node: Node, walked: str, rest: TaskPath) -> tuple[object, ...]:
        if not rest:
            return ()
        word = rest[0]
        match node:
            case TaskStep():
                self.step_depth = self.parts - len(rest)
                return self._block(self._list_of(node, walked), walked, rest)
            case Repeat() | Retry():
                turns = [f"[{k + 1}]" for k in range(node.times)]
                number = turns.index(self._known(word, turns, walked, f"[1] to [{node.times}]"))
                return (number, *self._block(node.body, f"{walked}{word}", rest[1:]))
            case ForEach():
                return (
                    self._object(node, word, walked),
                    *self._block(node.body, f"{walked}{word}", rest[1:]),
                )
            case If():
                names = ["then", *(["else"] if node.otherwise else [])]
                chosen = self._known(word, names, walked, " or ".join(names))
                block = node.then if chosen == "then" else node.otherwise
                return (names.index(chosen), *self._block(block, f"{walked}.{word}", rest[1:]))
            case Try():
                names = [f"try{i + 1}" for i in range(len(node.alternatives))]
                i = names.index(self._known(word, names, walked, f"try1 to try{len(names)}"))
                return (i, *self._block(node.alternatives[i], f"{walked}.{word}", rest[1:]))
        raise ValueError(
            f"{walked} has no parts, and {joined((walked, *rest))[:LONGEST]} names one; write {walked}"
        )

    def _block(self, block: Block, walked: str, rest: TaskPath) -> tuple[object, ...]:
        if not rest:
            return ()
        count, in_list = len(block), bool(self.step_depth)
        # One more than there are says that the arm is done with the list.
        more = in_list and len(rest) == 1
        numbers = [str(n + 1) for n in range(count + more)]
        if rest[0] not in numbers:
            what = f"skill {rest[0]!r} is not in step {walked} of arm {self.arm!r}" if in_list else ""
            done = f", or {count + 1} where all of them are done" if in_list else ""
            text = what or f"{rest[0]!r} is no item of {walked}"
            raise ValueError(f"{text}; write a number from 1 to {count}{done}")
        number = int(rest[0])
        inner = () if number > count else self.within(block[number - 1], f"{walked}.{number}", rest[1:])
        return (number - 1, *inner)

    def _list_of(self, step: TaskStep, walked: str) -> Block:
        if self.arm is None:
            if len(step.arms) > 1:
                example = next(iter(step.arms))
                raise ValueError(
                    f"step {walked} has arms {list(step.arms)}; write {example}={walked}.<skill>"
                )
            self.arm = next(iter(step.arms))
        if self.arm not in step.arms:
            raise ValueError(
                f"arm {self.arm!r} has no skill in step {walked}; name a step in which it has one"
            )
        return step.arms[self.arm]

    def _object(self, node: ForEach, word: str, walked: str) -> object:
        name = word[1:-1]
        if not word.startswith("[") or not name:
            text = f"{walked} is for_each, whose ${node.variable} is not known from {word!r}"
            raise ValueError(f"{text}; write {walked}[<object>]")
        if node.among and name not in node.among:
            raise ValueError(f"{walked}: {name[:LONGEST]!r} is not in among; {nearest(name, node.among)}")
        return node.among.index(name) if node.among else name

    def _known(self, word: str, names: list[str], walked: str, hint: str) -> str:
        if word not in names:
            raise ValueError(
                f"{word[:LONGEST]!r} is no part of {walked}, whose parts are {hint}; write one of them"
            )
        return word


def _check_objects(task: Task, found: Found) -> None:
    """Check the body of each loop over objects along a place for the object that the place names."""
    node: Node | None = task.steps[task.index_of(found.place[0])]
    block: Block = ()
    for part in found.place[1:]:
        if isinstance(node, TaskStep):
            block, node = node.arms[found.arm or ""], None
        if node is None:
            index = int(part) - 1
            node = block[index] if index < len(block) else None
            continue
        match node:
            case ForEach():
                try:
                    block = node.bind(part[1:-1])
                except ConfigError as error:
                    raise ValueError(" | ".join(error.faults)) from error
            case Repeat() | Retry():
                block = node.body
            case If():
                block = node.then if part == "then" else node.otherwise
            case Try():
                block = node.alternatives[int(part[3:]) - 1]
        node = None


def _check_branches(places: Iterable[TaskPath]) -> None:
    known = [place for place in places if place]
    for a in known:
        for b in known:
            pair = next(((x, y) for x, y in zip(a, b, strict=False) if x != y), None)
            if pair and all(word[0].isalpha() for word in pair):
                text = f"{joined(a)} and {joined(b)} are in branches of which only one runs"
                raise ValueError(f"{text}; name places of one of them")
