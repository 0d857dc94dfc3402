"""Gripper action: open or close at the present pose of the arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    DetachObject,
    OpenGripper,
)
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.staged_skill import StagedSkill
from skill_server.state import gripper_state

from .wait import TICK_S


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperActionParams(SkillParams):
    """Parameters of ``gripper_action``.

    Attributes:
        gripper_state: 1 opens, -1 closes.
        width: Opening, m; 0 opens completely.
        grip_force: Largest force of a finger when closing, N; 0: the gripper's greatest.
        object: Object that must be in the hand after closing; empty: none need be.
        wait_steps: Pause afterwards, steps of 1/30 s.
    """

    gripper_state: int
    width: float = 0.0
    grip_force: float = 0.0
    object: str = ""
    wait_steps: int = 10


class GripperAction(StagedSkill[GripperActionParams]):
    """Open or close; a released object is an obstacle again, a named and grasped one is carried from now on."""

    name = "gripper_action"
    params_type = GripperActionParams
    object_fields = ("object",)

    def is_feasible(self, params: GripperActionParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        width = OK
        if arm.gripper is not None and params.width != 0.0:
            least, most = arm.gripper.min_width_m, arm.gripper.max_width_m
            width = checks.number("width", params.width, least, most, "m")
        return checks.all_faults(
            (
                checks.with_gripper(arm),
                arm_motions.check_gripper_state(params.gripper_state, arm, keep=False),
                checks.known_object("object", params.object, world) if params.object else OK,
                checks.payload("object", params.object, world, arm)
                if params.gripper_state == arm_motions.CLOSE
                else OK,
                checks.number("wait_steps", params.wait_steps, 0, 100_000, "steps"),
                width,
                checks.grip_force(
                    params.grip_force, arm, is_closing=params.gripper_state == arm_motions.CLOSE
                ),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: GripperActionParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make the gripper's command, and attach or detach the object for the planner."""
        dwell_s = params.wait_steps * TICK_S
        if params.gripper_state == arm_motions.CLOSE:
            attach = (AttachObject(params.object),) if params.object else ()
            return [
                (SkillStage("close", functions=(CloseGripper(params.grip_force), *attach), dwell_s=dwell_s),)
            ]
        free = (DetachObject(name) for name in tuple(context.held))
        return [(SkillStage("open", functions=(OpenGripper(params.width or None), *free), dwell_s=dwell_s),)]

    def is_success(
        self, params: GripperActionParams, before: World, after: World, context: Context
    ) -> Outcome:
        """Check that the named object is held after closing, or that no finger touches the released one."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        width = f"the opening is {gripper_state.width_m(after, gripper) * 1e3:.0f} mm"
        if params.gripper_state == arm_motions.CLOSE:
            found = gripper_state.holds(after, context.robot, gripper, params.object) if params.object else OK
            return found if not found.ok else Outcome(Code.OK, width)
        name = context.released
        if (
            name
            and gripper_state.holds(after, context.robot, gripper, name).ok
            and after.contacts is not None
        ):
            return Outcome(Code.GRIPPER_FAILED, f"{name!r} is still between the fingers; {width}")
        return Outcome(Code.OK, width)
