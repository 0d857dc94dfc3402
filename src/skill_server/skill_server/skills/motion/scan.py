"""Scan: hold the object in the hand before a camera, near the hand's home, turned as the camera needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.staged_skill import StagedSkill
from skill_server.state import gripper_state

Vector = tuple[float, float, float]
TRIES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanParams(SkillParams):
    """Parameters of ``scan``.

    Attributes:
        object: Held object; empty: the one in the hand.
        offset_min: Least offset from the hand's position at home, base frame, m.
        offset_max: Greatest offset, m; the offset is drawn between the two.
        gripper_axis: Direction of the fingers in the base frame; both axes zero keep home's orientation.
        camera_axis: Direction, in the base frame, that the gripper's closing axis takes as nearly as it can.
        hold_steps: Pause at the pose, steps of 1/30 s.
    """

    object: str = ""
    offset_min: Vector = (-0.02, -0.02, 0.0)
    offset_max: Vector = (0.02, 0.02, 0.05)
    gripper_axis: Vector = (0.0, 0.0, 0.0)
    camera_axis: Vector = (0.0, 0.0, 0.0)
    hold_steps: int = 15


class Scan(StagedSkill[ScanParams]):
    """Show the held object."""

    name = "scan"
    params_type = ScanParams
    object_fields = ("object",)

    def is_feasible(self, params: ScanParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        both = any(params.gripper_axis) == any(params.camera_axis)
        text = "set both gripper_axis and camera_axis, or none"
        parallel = not np.any(np.abs(np.cross(params.gripper_axis, params.camera_axis)) > 1e-6)
        crossed = "gripper_axis and camera_axis point the same way; turn one of them"
        return checks.all_faults(
            (
                checks.with_gripper(arm),
                checks.known_object("object", params.object, world) if params.object else OK,
                arm_motions.check_vector("offset_min", params.offset_min, 2.0, "m"),
                arm_motions.check_vector("offset_max", params.offset_max, 2.0, "m"),
                arm_motions.check_range("offset_min", params.offset_min, params.offset_max),
                OK if both else checks.fault(Code.CONTRADICTION, "camera_axis", text),
                checks.fault(Code.CONTRADICTION, "camera_axis", crossed)
                if any(params.gripper_axis) and parallel
                else OK,
                checks.number("hold_steps", params.hold_steps, 0, 100_000, "steps"),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: ScanParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Draw poses to show the object at; there the hand pauses."""
        world = context.world.snapshot()
        arm_motions.held(context, world, params.object)
        home = arm_motions.hand_at(context, context.arm_spec.home_q)
        base = context.world.world_T_base()
        turn = base.rotation @ _turn(params, context.arm_spec) if any(params.gripper_axis) else home.rotation
        offsets = context.rng.uniform(params.offset_min, params.offset_max, (TRIES, 3))
        leaving, hold = (
            arm_motions.touching_now(context, world),
            SkillStage("hold", dwell_s=params.hold_steps / 30.0),
        )
        points = home.translation_m + offsets @ base.rotation.matrix().T
        return [
            (SkillStage("show", Pose.of(point, turn), leaving=leaving, cost=0.01 * i), hold)
            for i, point in enumerate(points)
        ]

    def is_success(self, params: ScanParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object is still in the hand."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        name = params.object or next(iter(context.held), "")
        found = gripper_state.holds(after, context.robot, gripper, name)
        return found if not found.ok else Outcome(Code.OK, f"{name!r} was shown")


def _turn(params: ScanParams, arm: ArmSpec) -> Rotation:
    """Return the EE orientation in the base: the approach axis as asked, the closing axis as near as it can be."""
    gripper = arm.gripper
    assert gripper is not None
    approach = np.array(params.gripper_axis) / np.linalg.norm(params.gripper_axis)
    closing = np.array(params.camera_axis) - approach * float(approach @ np.array(params.camera_axis))
    closing /= np.linalg.norm(closing)
    turn = np.zeros((3, 3))
    turn[:, gripper.ee_axis], turn[:, gripper.closing_axis] = approach, closing
    third = 3 - gripper.ee_axis - gripper.closing_axis
    turn[:, third] = np.cross(turn[:, (third + 1) % 3], turn[:, (third + 2) % 3])
    return Rotation.from_matrix(turn)
