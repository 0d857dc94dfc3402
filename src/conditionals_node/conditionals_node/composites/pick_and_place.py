"""Composites that move objects, as conditions in order: grab, above, drop, verify."""

from __future__ import annotations

from dataclasses import dataclass

from conditionals_node.arguments.argument_text import as_words

RESTS = ", above_rim=0.05, require_stationary=true"
"""Arguments for the last step: an object that is let go over a container does not lie in it yet."""
SINKS_M = 0.01
"""Depth by which an object that rests on a surface may seem to be in it, m."""


@dataclass(frozen=True, slots=True)
class StepSpec:
    """One condition of a sequence.

    Attributes:
        expression: The condition, in the expression language.
        score: Its part in the sequence's score, 0 or more.
        releases: True when the object may be let go, once this has held, without an event of a drop.
    """

    expression: str
    score: float = 1.0
    releases: bool = False

    def __post_init__(self) -> None:
        if self.score < 0.0:
            raise ValueError(f"score: is {self.score:g}; write 0 or more")


@dataclass(frozen=True, slots=True)
class PickAndPlace:
    """Each object is grabbed, brought over the container, let go, and then lies in it: a quarter of the score each.

    Attributes:
        object: Names of the objects.
        container: Name of the container.
        ladder: False for two steps only, of which only the last scores: it was grabbed, and it lies in the
            container.
    """

    object: tuple[str, ...]
    container: str
    ladder: bool = True

    def __post_init__(self) -> None:
        _check(self.object, self.container, "container")

    def groups(self) -> dict[str, tuple[StepSpec, ...]]:
        """Return a group of steps for each object, under its name."""
        container = as_words(self.container)
        found = {}
        for name in self.object:
            item = as_words(name)
            inside = f"object_in_container(object={item}, container={container}"
            # A lowered object is below the container's rim; that is a right place too.
            lowered = f"object_in_hull(object={item}, container={container})"
            there = f"(object_above(object={item}, reference_object={container}) or {lowered})"
            verify = f"{inside}, require_gripper_detached=true{RESTS if self.ladder else ''})"
            if self.ladder:
                # Of two nested bowls each is in the other's hull; only the inner one is above the other's underside.
                verify += f" and object_above_bottom(object={item}, reference_object={container})"
            found[name] = _steps(item, there, verify, self.ladder)
        return found


@dataclass(frozen=True, slots=True)
class PickAndPlaceOnSurface:
    """Each object is grabbed, brought over the surface, let go, and then rests on it; else as ``PickAndPlace``.

    Attributes:
        object: Names of the objects.
        surface: Name of the surface.
        ladder: See ``PickAndPlace``.
    """

    object: tuple[str, ...]
    surface: str
    ladder: bool = True

    def __post_init__(self) -> None:
        _check(self.object, self.surface, "surface")

    def groups(self) -> dict[str, tuple[StepSpec, ...]]:
        """Return a group of steps for each object, under its name."""
        surface = as_words(self.surface)
        found = {}
        for name in self.object:
            item = as_words(name)
            there = f"object_above(object={item}, reference_object={surface}, z_margin=-{SINKS_M:g})"
            rests = f"object_on_top(object={item}, reference_object={surface})"
            found[name] = _steps(item, there, f"{rests} and not object_grabbed(object={item})", self.ladder)
        return found


def _steps(item: str, there: str, verify: str, ladder: bool) -> tuple[StepSpec, ...]:
    grabbed = f"object_grabbed(object={item})"
    if not ladder:
        return StepSpec(grabbed, 0.0), StepSpec(verify, 1.0)
    # An object that falls elsewhere was not let go there, and loses all steps.
    dropped = f"not {grabbed} and {there}"
    return StepSpec(grabbed), StepSpec(there), StepSpec(dropped, releases=True), StepSpec(verify)


def _check(objects: tuple[str, ...], goal: str, field: str) -> None:
    if not objects or not all(objects):
        raise ValueError("object: is empty; name at least one object")
    twice = sorted({name for name in objects if objects.count(name) > 1})
    if twice:
        raise ValueError(f"object: {twice} occur twice; name each once")
    if not goal or goal in objects:
        raise ValueError(f"{field}: is {goal!r}; name another object")
