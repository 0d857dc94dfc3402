"""Heuristic skill of the SimBox format: home, joints given or added, or the hand moved in the base frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.staged_skill import StagedSkill
from skill_server.state import gripper_state

MODES = ("home", "abs_qpos", "rel_qpos", "rel_ee")
JOINT_WITHIN_RAD = 0.088


@dataclass(frozen=True, slots=True, kw_only=True)
class HeuristicSkillParams(SkillParams):
    """Parameters of ``heuristic_skill``.

    Attributes:
        mode: ``home``; ``abs_qpos`` or ``rel_qpos`` with every joint; ``rel_ee`` with a motion in the base frame.
        value: Joints, rad or m; or a motion: [x, y, z] in m, [x, y, z, qw, qx, qy, qz], or a 4x4 matrix in rows,
            applied from the left.
        gripper_state: Gripper at the end: 1 open, -1 closed, 0 unchanged.
    """

    mode: str = "home"
    value: tuple[float, ...] = ()
    gripper_state: int = arm_motions.KEEP


class HeuristicSkill(StagedSkill[HeuristicSkillParams]):
    """Go to a configuration on a free path."""

    name = "heuristic_skill"
    params_type = HeuristicSkillParams

    def is_feasible(self, params: HeuristicSkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                checks.choice("mode", params.mode, MODES),
                _check_value(params, len(arm.joint_names)),
                _check_limits(params, robot, arm, world),
                arm_motions.check_gripper_state(params.gripper_state, arm),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: HeuristicSkillParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make one free motion."""
        world = context.world.snapshot()
        pose, q = self._target(params, context, world)
        functions = arm_motions.gripper_functions(params.gripper_state)
        leaving = arm_motions.touching_now(context, world)
        return [
            (SkillStage("go", None if q is not None else pose, functions=functions, leaving=leaving, q=q),)
        ]

    def is_success(
        self, params: HeuristicSkillParams, before: World, after: World, context: Context
    ) -> Outcome:
        """Check that every joint is near its goal; with rel_ee, that the hand is."""
        pose, q = self._target(params, context, before)
        if q is None:
            return arm_motions.arrived(pose, arm_motions.hand(context, after), params.t_eps, params.o_eps)
        off = float(np.linalg.norm(gripper_state.arm_q(after, context.arm_spec) - q))
        code = Code.OK if off <= JOINT_WITHIN_RAD else Code.NOT_REACHED
        return Outcome(code, f"the joints are {off:.4f} rad from their goal", angle_error_rad=off)

    def _target(
        self, params: HeuristicSkillParams, context: Context, world: World
    ) -> tuple[Pose, Array | None]:
        """Return the EE pose in the world, and the joints when they are given."""
        begun = arm_motions.world_begun(context, world)
        if params.mode == "rel_ee":
            base = context.world.world_T_base()
            return base @ _move(params.value) @ base.inverse() @ arm_motions.hand(context, begun), None
        q = _joints(params, context.arm_spec, begun)
        return arm_motions.hand_at(context, q), q


def _joints(params: HeuristicSkillParams, arm: ArmSpec, world: World) -> Array:
    if params.mode == "home":
        return np.array(arm.home_q)
    start = gripper_state.arm_q(world, arm) if params.mode == "rel_qpos" else 0.0
    return np.asarray(np.array(params.value) + start)


def _move(value: Sequence[float]) -> Pose:
    if len(value) == 16:
        return Pose.from_matrix(np.reshape(value, (4, 4)))
    return Pose.of(value[:3], Rotation.from_wxyz(value[3:]) if len(value) == 7 else None)


def _check_value(params: HeuristicSkillParams, dof: int) -> Outcome:
    counts = {"home": (0,), "abs_qpos": (dof,), "rel_qpos": (dof,), "rel_ee": (3, 7, 16)}
    wanted = counts.get(params.mode, ())
    if len(params.value) not in wanted:
        text = f"value has {len(params.value)} numbers; {params.mode} wants {' or '.join(map(str, wanted))}"
        return checks.fault(Code.BAD_GOAL, "value", text)
    if params.mode == "rel_ee":
        try:
            _move(params.value)
        except ValueError as error:
            return checks.fault(Code.BAD_NUMBER, "value", f"value is no move: {error}")
    return arm_motions.check_vector("value", params.value, 10.0, "(rad, m)")


def _check_limits(params: HeuristicSkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
    if params.mode not in ("abs_qpos", "rel_qpos") or len(params.value) != len(arm.joint_names):
        return OK
    for name, value in zip(arm.joint_names, _joints(params, arm, world), strict=True):
        joint = robot.joints[name]
        if not joint.lower <= value <= joint.upper:
            text = f"joint {name!r} would go to {value:.3f}; its limits are {joint.lower:.3f} to {joint.upper:.3f} rad"
            return checks.fault(Code.JOINT_LIMIT, "value", text)
    return OK
