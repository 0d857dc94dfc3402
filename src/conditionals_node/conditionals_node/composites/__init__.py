"""Composites: one entry of a task that expands to several steps, each a condition."""

from .pick_and_place import PickAndPlace, PickAndPlaceOnSurface, StepSpec

__all__ = ["PickAndPlace", "PickAndPlaceOnSurface", "StepSpec"]
