"""Steps that one word of a person means, each a condition of its own."""

from .pick_and_place import PickAndPlace, PickAndPlaceOnSurface, StepSpec

__all__ = ["PickAndPlace", "PickAndPlaceOnSurface", "StepSpec"]
