"""Dexterous pick: Pick at poses that were annotated in the object's frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError, parse, read_yaml
from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import file_field
from handiwork_core.intake.limits import TASK_YAML
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.grasping.pick_checks import SELECTING, check_pick
from skill_server.grasping.pick_params import PickParams
from skill_server.params import checks

from .pick import Pick

Row = tuple[float, float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class PoseFile:
    """Content of a file of annotated poses.

    Attributes:
        pick_poses: EE poses in the object's frame, each x, y, z [m] and quaternion w, x, y, z.
    """

    pick_poses: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DexPickParams(PickParams):
    """Parameters of ``dexpick``, beyond those of ``PickParams``.

    Attributes:
        pick_poses: Poses as in ``PoseFile``.
        pose_file: File with such poses, instead of ``pick_poses``.
        pick_pose_idx: Index of the pose to take; -1 tries all.
    """

    pick_poses: tuple[Row, ...] = ()
    pose_file: str = file_field()
    pick_pose_idx: int = 0


class DexPick(Skill[DexPickParams]):
    """Grasp at an annotated pose, and lift."""

    name = "dexpick"
    params_type = DexPickParams
    object_fields = ("object",)

    def is_feasible(self, params: DexPickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults((check_pick(params, arm, world), _idle(params), *_annotation(params)))

    def commands(self, params: DexPickParams, context: Context) -> Sequence[Command]:
        """Make the commands of Pick for the annotated poses."""
        poses = _annotated(params)
        chosen = poses if params.pick_pose_idx < 0 else (poses[params.pick_pose_idx],)
        pose = context.world.snapshot().states[params.object].world_T_object
        return Pick().commands(replace(params, grasp_poses=tuple(pose @ one for one in chosen)), context)

    def is_success(self, params: DexPickParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Pick does."""
        return Pick().is_success(params, before, after, context)

    def recovery_skills(self, params: DexPickParams, lost: str) -> Sequence[tuple[Skill[Any], Any]]:
        """Return no skills: the skill can be tried again at once."""
        return ()


def _idle(params: DexPickParams) -> Outcome:
    why = "dexpick grasps at its own poses as they are; leave it out, or use pick"
    return checks.without_effect(params, ("grasp_poses", *SELECTING), why)


def _annotation(params: DexPickParams) -> tuple[Outcome, ...]:
    if bool(params.pick_poses) == bool(params.pose_file):
        return (checks.fault(Code.CONTRADICTION, "pick_poses", "give either pick_poses or pose_file"),)
    try:
        poses = _annotated(params)
    except (ConfigError, ValueError) as error:
        return (checks.fault(Code.BAD_GOAL, "pose_file" if params.pose_file else "pick_poses", str(error)),)
    return (checks.number("pick_pose_idx", params.pick_pose_idx, -1, len(poses) - 1, "(an index)"),)


def _annotated(params: DexPickParams) -> tuple[Pose, ...]:
    rows = params.pick_poses
    if params.pose_file:
        rows = parse(PoseFile, read_yaml(Path(params.pose_file), TASK_YAML), params.pose_file).pick_poses
    if not rows:
        raise ValueError("holds no poses; write at least one")
    return tuple(Pose.of(row[:3], Rotation.from_wxyz(row[3:])) for row in rows)
