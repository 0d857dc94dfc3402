"""Parameters of ``handover``, and of the steps that it consists of."""

from __future__ import annotations

from dataclasses import dataclass, field

from handiwork_core.contracts.skill_params import SKILL, SkillParams
from handiwork_core.contracts.stages import SkillStage
from skill_server.placing.params import PlaceParams

BACK = (1.0, 0.7, 0.4)
"""Shares of the approach by which a hand may leave the object; the first that is possible is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoHandParams(SkillParams):
    """Parameters that the skills of two hands have in common.

    Attributes:
        object: The object.
        approach_offset: Length of the straight way to the object, and at most of the one on which a hand leaves it, m.
        gripper_wait: Wait after a hand has closed or opened, s of the robot's world.
        search_time: Steady time for one search, s.
        max_attempts: Number of places to meet, or of pairs of grasps, that are tried in all.
    """

    object: str = ""
    approach_offset: float = 0.08
    gripper_wait: float = 0.3
    search_time: float = 30.0
    max_attempts: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverParams(TwoHandParams):
    """Parameters of ``handover``; the arm of the goal gives.

    Without an ``object`` it is what the arm holds; with one, an arm that holds nothing picks it first.

    Attributes:
        to_arm: The arm that takes the object; empty: the other one of a robot with two.
        next_place: Where the other arm places the object next: grasps of its hand that cannot reach the place are not
            chosen. The first arm is taken to be out of the way by then.
    """

    to_arm: str = ""
    next_place: PlaceParams | None = field(default=None, metadata={SKILL: "place"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HandStepParams(SkillParams):
    """Parameters of one step on one arm: stages whose configurations may be known already.

    Attributes:
        object: What is handed over.
        alternatives: Sequences of stages, best first; a single one that has all configurations is done as it is.
        is_held_after: True when this arm holds the object at the end.
        giver: The arm that must hold the object until this one closes on it; empty: none.
    """

    object: str
    alternatives: tuple[tuple[SkillStage, ...], ...]
    is_held_after: bool
    giver: str = ""
