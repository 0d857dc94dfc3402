"""Where a task goes on: for each arm by what it did and by what its hand holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .model import Task, TaskStep, arms_of
from .record import Ran
from .task_paths import Found, TaskPath, find, joined, split, starts


def resume_text(
    task: Task,
    ran: Mapping[str, Sequence[Ran]],
    stopped_at: Mapping[str, str],
    begun: Mapping[str, TaskPath],
    held: Callable[[str], str],
) -> tuple[str, tuple[str, ...]]:
    """Return the text with which a task goes on; ``task_paths.starts`` reads it.

    A failed skill is repeated where the hand holds what it held before it. Where it does not, the arm goes back to its
    last skill that began with such a hand: after a lost object, to the pick of it. A skill that goes on from any hand
    is always repeated.

    Args:
        task: The task.
        ran: Skills that began in this run, in order, by arm.
        stopped_at: Label of the control node that failed or was not begun, by arm; "" for one between steps.
        begun: Places at which the arms began this run.
        held: Names the object in the hand of an arm.

    Returns:
        The text; empty when nothing is left. And what must be done by hand before the task goes on.
    """
    places, asks = dict[str, TaskPath](), list[str]()
    for arm in begun:
        place, ask = _next(task, arm, ran.get(arm, ()), begun, held)
        places[arm] = split(stopped_at[arm]) if arm in stopped_at else place
        asks += [] if arm in stopped_at or not ask else [ask]
    if "" in stopped_at and not _begins_later(task, ran, begun, stopped_at[""]):
        return stopped_at[""], tuple(asks)
    return _text(task, {arm: place for arm, place in places.items() if place}, ran, begun), tuple(asks)


def _begins_later(
    task: Task, ran: Mapping[str, Sequence[Ran]], begun: Mapping[str, TaskPath], label: str
) -> bool:
    """Return True when an arm, which ran nothing yet, was to begin after a node."""
    key = find(task, split(label), None).key
    return any(
        bool(place) and not ran.get(arm) and _found(task, place, arm).key > key
        for arm, place in begun.items()
    )


def _next(
    task: Task, arm: str, ran: Sequence[Ran], begun: Mapping[str, TaskPath], held: Callable[[str], str]
) -> tuple[TaskPath, str]:
    """Return the place at which an arm goes on, and what must be changed by hand before."""
    if not ran:
        return begun[arm], ""
    last = ran[-1]
    if last.ok:
        return _after(task, split(last.place), arm), ""
    if last.goes_on:
        return split(last.place), ""
    holds = held(arm)
    others = (name for name in begun if name != arm and not holds and last.held_before)
    if (holder := next((name for name in others if held(name) == last.held_before), "")) != "":
        text = f"{arm} held {last.held_before} before the skill, and {holder} holds it now"
        return split(last.place), text
    for one in reversed(ran):
        if one.held_before == holds:
            return split(one.place), ""
    before = last.held_before or "nothing"
    return split(last.place), f"{arm} holds {holds or 'nothing'} and held {before} before the skill"


def _after(task: Task, place: TaskPath, arm: str) -> TaskPath:
    """Return the place after a skill: the next one of the arm, or the end of its list where none can be named."""
    following = (*place[:-1], str(int(place[-1]) + 1))
    index = task.index_of(place[0])
    step = task.steps[index]
    if len(place) > 2 or not isinstance(step, TaskStep) or int(place[-1]) < len(step.arms[arm]):
        return following
    for label, node in zip(task.labels[index + 1 :], task.steps[index + 1 :], strict=True):
        if not isinstance(node, TaskStep):
            break
        if arm in node.arms:
            return (label, "1")
    return following


def _text(
    task: Task,
    places: Mapping[str, TaskPath],
    ran: Mapping[str, Sequence[Ran]],
    begun: Mapping[str, TaskPath],
) -> str:
    if not places:
        return ""
    found = {arm: _found(task, place, arm) for arm, place in places.items()}
    first = min(found.values(), key=lambda one: one.key)
    step = joined(first.step)
    if all(_does_all(task, one, ran.get(arm, ()), begun[arm], arm, first) for arm, one in found.items()):
        return step
    index = task.index_of(first.place[0])
    left = {arm for node in task.steps[index:] for arm in arms_of(node)}
    named = {arm: one for arm, one in found.items() if arm in left and one.arm is not None}
    text = ",".join(f"{arm}={joined(one.place)}" for arm, one in named.items())
    try:
        starts(task, text)
    except ValueError:
        # The arms would go on in branches that exclude each other: the step is done from its beginning.
        return step
    return text


def _does_all(
    task: Task, goes_on: Found, ran: Sequence[Ran], begun: TaskPath, arm: str, first: Found
) -> bool:
    """Return True when an arm has all its skills from the beginning of a step on still to do."""
    begin = first.key[: len(first.step)]
    if begun and not ran and goes_on.key > begin and begun != first.step:
        return False
    keys = (_found(task, split(one.place), arm).key for one in ran if one.ok)
    return not any(begin <= key < goes_on.key for key in keys)


def _found(task: Task, place: TaskPath, arm: str) -> Found:
    try:
        return find(task, place, arm)
    except ValueError:
        # A step in which the arm has no list.
        return find(task, place, None)
