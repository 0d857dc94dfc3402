"""Waypoints for arms with fewer than six joints: the TCP at its place, in an orientation that the arm can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.commands import DetachObject
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.nearest_pose import FULL, nearest_poses
from handiwork_core.robot.robot import ArmSpec, Robot

CLOSING_RAD = np.deg2rad(8.0)
"""Largest turn of the closing direction where the hand grasps, rad: pads and faces stay nearly parallel."""
GRASP_RAD, RELEASE_RAD = np.deg2rad((30.0, 12.0))
"""Largest turns of the hand where it grasps and where it lets go, rad."""
WAY_RAD = 0.005
"""Largest turn of the hand along a way to or from such a place, rad."""
SHARES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2)
"""Shares of a way to or from such a place that are tried: an arm that cannot turn its hand may get no farther."""
SHORT_COST = 1.0
"""Cost of a way from a release that is missing whole: the hand may then still touch the object that it has let go."""

Sequences = Sequence[Sequence[SkillStage]]


def within_freedom(sequences: Sequences, robot: Robot, arm: ArmSpec, world_T_base: Pose) -> Sequences:
    """Return sequences of stages whose poses an arm with few joints can have; those of other arms stay as they are.

    Where the hand grasps or lets go it keeps its TCP and turns as little as possible. It comes and leaves in that same
    orientation, on as much of the way as the arm can go so. Sequences in which it would turn too far are left out.

    Args:
        sequences: The alternatives.
        robot: The robot.
        arm: Its arm.
        world_T_base: Pose of the arm's base.

    Raises:
        StepFailed: NO_CANDIDATE where no alternative is left; it says which turn the arm lacks.
    """
    acts = [(i, j) for i, one in enumerate(sequences) for j in range(len(one)) if _acts(one, j)]
    if len(arm.joint_names) >= FULL or not acts:
        return sequences
    hand = _Hand(robot, arm, world_T_base)
    lets_go = [any(isinstance(f, DetachObject) for f in sequences[i][j + 1].functions) for i, j in acts]
    turns = dict(zip(acts, hand.turns([sequences[i][j] for i, j in acts], lets_go), strict=True))
    good = [i for i in range(len(sequences)) if all(turns[at].is_allowed for at in acts if at[0] == i)]
    if not good:
        raise StepFailed(_refusal([(sequences[i][j], turn) for (i, j), turn in turns.items()], arm))
    return hand.with_ways([(sequences[i], {j: t for (k, j), t in turns.items() if k == i}) for i in good])


def _acts(sequence: Sequence[SkillStage], index: int) -> bool:
    """Check whether the hand grasps or lets go at a waypoint: the stage behind it has no pose, and acts there."""
    following = sequence[index + 1] if index + 1 < len(sequence) else None
    is_still = following is not None and following.world_T_ee is None and bool(following.functions)
    return is_still and sequence[index].world_T_ee is not None


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """What an arm does instead of a wanted pose.

    ``angle`` and ``closing`` are the turns of the hand and of its closing direction, rad; ``axis`` (3,) is that of the
    turn in the EE frame. ``lets_go`` is True for a release, False for a grasp.
    """

    wanted: Pose
    pose: Pose
    is_met: bool
    angle: float
    closing: float
    axis: Array
    lets_go: bool

    @property
    def is_allowed(self) -> bool:
        """True unless the hand turns too far; a place out of reach is for the planner to name."""
        limit, closing_limit = (RELEASE_RAD, np.pi) if self.lets_go else (GRASP_RAD, CLOSING_RAD)
        return not self.is_met or (self.angle <= limit and self.closing <= closing_limit)


class _Hand:
    """The hand of an arm in the world."""

    def __init__(self, robot: Robot, arm: ArmSpec, world_T_base: Pose) -> None:
        self.robot, self.arm, self.world_T_base = robot, arm, world_T_base
        self.tcp_m, gripper = np.zeros(3), arm.gripper
        if gripper is not None:
            self.tcp_m[gripper.ee_axis] = gripper.tcp_offset_m

    def turns(self, stages: Sequence[SkillStage], lets_go: Sequence[bool]) -> list[_Turn]:
        """Return the turn of each stage at which the hand acts: it grasps, or it lets go."""
        wanted = [stage.world_T_ee for stage in stages if stage.world_T_ee is not None]
        base_T_world = self.world_T_base.inverse()
        rows = np.array([(base_T_world @ pose).matrix() for pose in wanted])
        found = nearest_poses(self.robot, self.arm, rows, self.tcp_m)
        made, gripper = list[_Turn](), self.arm.gripper
        column = None if gripper is None or gripper.suction is not None else gripper.closing_axis
        for i, (pose, before) in enumerate(zip(found.base_T_ee, rows, strict=True)):
            cosine = 1.0 if column is None else float(pose[:3, column] @ before[:3, column])
            angle, is_met = float(found.angle_rad[i]), bool(found.is_met[i])
            axis = pose[:3, :3].T @ found.turn[i] / max(angle, 1e-12)
            at = self.world_T_base @ Pose.from_matrix(pose) if is_met else wanted[i]
            closing = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
            made.append(_Turn(wanted[i], at, is_met, angle, closing, axis, lets_go[i]))
        return made

    def with_ways(self, chosen: Sequence[tuple[Sequence[SkillStage], dict[int, _Turn]]]) -> Sequences:
        """Return sequences with the poses of turns, and with ways that the arm can go without a turn."""
        made = [list(one) for one, _ in chosen]
        ways = list[tuple[int, int, bool, list[Pose]]]()
        for i, (one, turns) in enumerate(chosen):
            for j, stage in enumerate(one):
                if j in turns:
                    cost = stage.cost + turns[j].angle
                    made[i][j] = replace(stage, world_T_ee=turns[j].pose, cost=cost)
                elif stage.world_T_ee is not None:
                    at = min((abs(at - j), at) for at in turns)[1]
                    is_retreat = turns[at].lets_go and at < j
                    ways.append((i, j, is_retreat, _way(stage.world_T_ee, turns[at])))
        if not ways:
            return made
        base_T_world = self.world_T_base.inverse()
        rows = np.array([(base_T_world @ pose).matrix() for *_, poses in ways for pose in poses])
        found = nearest_poses(self.robot, self.arm, rows, self.tcp_m)
        can = (found.is_met & (found.angle_rad < WAY_RAD)).reshape(len(ways), len(SHARES))
        # The pose that the arm has, not the wanted one: inverse kinematics is more exact than WAY_RAD.
        had = found.base_T_ee.reshape(len(ways), len(SHARES), 4, 4)
        for k, (i, j, is_retreat, poses) in enumerate(ways):
            share = int(can[k].argmax())
            pose = self.world_T_base @ Pose.from_matrix(had[k, share]) if can[k, share] else poses[share]
            cost = made[i][j].cost + SHORT_COST * (1.0 - SHARES[share]) * is_retreat
            made[i][j] = replace(made[i][j], world_T_ee=pose, cost=cost)
        return made


def _way(pose: Pose, near: _Turn) -> list[Pose]:
    """Return the ends of the shares of a way between a waypoint and where the hand acts, in its orientation there."""
    offset = pose.translation_m - near.wanted.translation_m
    return [Pose.of(near.pose.translation_m + share * offset, near.pose.rotation) for share in SHARES]


def _refusal(refused: list[tuple[SkillStage, _Turn]], arm: ArmSpec) -> Outcome:
    stage, turn = min(refused, key=lambda item: item[1].angle)
    axis = "xyz"[int(np.abs(turn.axis).argmax())]
    text = (
        f"arm {arm.name!r} has {len(arm.joint_names)} joints and cannot turn its hand freely about the hand's {axis} "
        f"axis: none of {len(refused)} candidates suits it, the nearest is {np.rad2deg(turn.angle):.0f} degrees off at "
        f"{stage.label}; turn the object, or choose another place"
    )
    return Outcome(Code.NO_CANDIDATE, text, "select")
