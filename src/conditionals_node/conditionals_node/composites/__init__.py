"""What a person says in one word and the monitor sees in several steps."""

from .pick_and_place import PickAndPlace, PickAndPlaceOnSurface, StepSpec

__all__ = ["PickAndPlace", "PickAndPlaceOnSurface", "StepSpec"]
