"""Moving objects, as conditions in order: grab, above, drop, verify."""

from __future__ import annotations

from dataclasses import dataclass

from conditionals_node.argument_text import as_words


@dataclass(frozen=True, slots=True)
class StepSpec:
    """One condition of a sequence, as an expression, and its part in the sequence's score."""

    expression: str
    score: float = 1.0

    def __post_init__(self) -> None:
        if self.score < 0.0:
            raise ValueError(f"score: is {self.score:g}; write 0 or more")


@dataclass(frozen=True, slots=True)
class PickAndPlace:
    """Each object is grabbed, brought over the container, let go, and then lies in it: a quarter of the score each.

    Without ``ladder`` only two things are looked at, and only the last one scores: it was grabbed, and it lies in it.
    """

    object: tuple[str, ...]
    container: str
    ladder: bool = True

    def __post_init__(self) -> None:
        _check(self.object, self.container, "container")

    def groups(self) -> dict[str, tuple[StepSpec, ...]]:
        """A group for each object, under its name."""
        container = as_words(self.container)
        return {
            name: _steps(
                name,
                container,
                f"object_in_container(object={as_words(name)}, container={container}, "
                "require_gripper_detached=true)",
                self.ladder,
            )
            for name in self.object
        }


@dataclass(frozen=True, slots=True)
class PickAndPlaceOnSurface:
    """As ``PickAndPlace``, but each object comes to rest on ``surface``."""

    object: tuple[str, ...]
    surface: str
    ladder: bool = True

    def __post_init__(self) -> None:
        _check(self.object, self.surface, "surface")

    def groups(self) -> dict[str, tuple[StepSpec, ...]]:
        """A group for each object, under its name."""
        surface = as_words(self.surface)
        return {
            name: _steps(
                name,
                surface,
                f"object_on_top(object={as_words(name)}, reference_object={surface}) "
                f"and not object_grabbed(object={as_words(name)})",
                self.ladder,
            )
            for name in self.object
        }


def _steps(name: str, goal: str, verify: str, ladder: bool) -> tuple[StepSpec, ...]:
    grabbed = f"object_grabbed(object={as_words(name)})"
    if not ladder:
        return StepSpec(grabbed, 0.0), StepSpec(verify, 1.0)
    above = f"object_above(object={as_words(name)}, reference_object={goal})"
    return StepSpec(grabbed), StepSpec(above), StepSpec(f"not {grabbed}"), StepSpec(verify)


def _check(objects: tuple[str, ...], goal: str, field: str) -> None:
    if not objects or not all(objects):
        raise ValueError("object: is empty; name at least one object")
    twice = sorted({name for name in objects if objects.count(name) > 1})
    if twice:
        raise ValueError(f"object: {twice} are there twice; name each once")
    if not goal or goal in objects:
        raise ValueError(f"{field}: is {goal!r}; name another object")
