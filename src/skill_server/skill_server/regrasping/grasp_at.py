"""A grasp of an object where it is, and what makes two of them the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from handiwork_core.contracts.planning import CandidateVerdict
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose

GRASPED = "descend"
"""The stage of Pick whose waypoint is the grasp."""
SAME_M, SAME_TURN = 0.005, 0.05
"""Grasps that differ by less in the object's frame are one grasp."""
SPREAD = 0.3
"""Approaches whose unit vectors are rounded to the same multiples of this are alike."""


@dataclass(frozen=True, slots=True, eq=False)
class GraspAt:
    """A grasp of the object where it is.

    Attributes:
        object_T_ee: Pose of the EE in the object's frame.
        stages: Stages of the pick with their configurations; none for an object that is in the hand already.
    """

    object_T_ee: Pose
    stages: tuple[SkillStage, ...] = ()

    @property
    def world_T_ee(self) -> Pose:
        """The pose of the EE when the fingers close; of a grasp with stages."""
        return next(stage.world_T_ee for stage in self.stages if stage.name == GRASPED and stage.world_T_ee)


def with_q(stages: Sequence[SkillStage], verdict: CandidateVerdict) -> tuple[SkillStage, ...]:
    """Return stages with the configurations of a verdict.

    Args:
        stages: The stages.
        verdict: Verdict on their poses, OK.
    """
    rows = iter(verdict.q)
    return tuple(stage if stage.world_T_ee is None else replace(stage, q=next(rows)) for stage in stages)


def key_of(grasp: GraspAt) -> tuple[int, ...]:
    """Return a key that grasps share which are one grasp in the object's frame.

    Args:
        grasp: The grasp.
    """
    at, turn = grasp.object_T_ee.translation_m, grasp.object_T_ee.rotation.matrix()
    values = np.concatenate([at / SAME_M, turn.ravel() / SAME_TURN])
    return tuple(int(value) for value in np.round(values))


def in_turn(grasps: Sequence[GraspAt], ee_axis: int) -> tuple[GraspAt, ...]:
    """Return grasps so that unlike approaches come first, each kind in its order.

    Args:
        grasps: The grasps, best first.
        ee_axis: Index of the EE's axis along which the gripper approaches.
    """
    alike = defaultdict[tuple[int, ...], list[GraspAt]](list)
    for grasp in grasps:
        approach = grasp.object_T_ee.rotation.matrix()[:, ee_axis]
        alike[tuple(int(value) for value in np.round(approach / SPREAD))].append(grasp)
    rows: Iterator[tuple[GraspAt | None, ...]] = zip_longest(*alike.values())
    return tuple(grasp for row in rows for grasp in row if grasp is not None)
