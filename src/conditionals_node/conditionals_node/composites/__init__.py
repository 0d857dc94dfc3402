"""Composites: one entry of a task that expands to several steps, each a condition."""

from .pick_and_place import PickAndPlace, PickAndPlaceOnSurface, StepSpec

COMPOSITES = {"pick_and_place": PickAndPlace, "pick_and_place_on_surface": PickAndPlaceOnSurface}

__all__ = ["COMPOSITES", "PickAndPlace", "PickAndPlaceOnSurface", "StepSpec", "composite_hint"]


def composite_hint(name: str) -> str:
    """Return why the name of a composite is no condition, and where it belongs; empty for another name.

    Args:
        name: A name that was given for a predicate.
    """
    if name not in COMPOSITES:
        return ""
    text = "it is a composite: steps that hold one after the other, which no single world can show"
    return f"{text}; write it in a subtask of a task, and use the last step or the task's progress here"
