"""Fail pick: a grasp that misses on purpose, for data of failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.commands import CloseGripper, Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.grasping.grasp_selection import wanted_grasps
from skill_server.grasping.pick_checks import check_pick
from skill_server.grasping.pick_params import PickParams
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.state import gripper_state

from .pick import Pick

MOST_TRIED = 30
RISE_M = 0.01
CLOSED_STAGES = ("grasp", "lift", "return")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailPickParams(PickParams):
    """Parameters of ``fail_pick``, beyond those of ``PickParams``.

    Each grasp is shifted by a distance between min and max, to either side, along x and along y of the base.

    Attributes:
        grasp_x_offset_min: Least shift along x, m.
        grasp_x_offset_max: Greatest shift along x, m.
        grasp_y_offset_min: Least shift along y, m.
        grasp_y_offset_max: Greatest shift along y, m.
    """

    follow_speed: float = 0.0  # the closing hand may push the object that it misses on purpose
    grasp_x_offset_min: float = 0.05
    grasp_x_offset_max: float = 0.1
    grasp_y_offset_min: float = 0.05
    grasp_y_offset_max: float = 0.1


class FailPick(Skill[FailPickParams]):
    """Close beside the object and lift the empty hand."""

    name = "fail_pick"
    params_type = FailPickParams
    object_fields = ("object",)

    def is_feasible(self, params: FailPickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        x, y = (
            (params.grasp_x_offset_min, params.grasp_x_offset_max),
            (params.grasp_y_offset_min, params.grasp_y_offset_max),
        )
        return checks.all_faults(
            (
                check_pick(params, arm, world),
                *(
                    checks.all_faults(
                        (
                            checks.number(f"grasp_{axis}_offset_min", low, 0.0, 1.0, "m"),
                            checks.number(f"grasp_{axis}_offset_max", high, 0.0, 1.0, "m"),
                            checks.ordered(f"grasp_{axis}_offset_min", low, f"grasp_{axis}_offset_max", high),
                        )
                    )
                    for axis, (low, high) in (("x", x), ("y", y))
                ),
            )
        )

    def commands(self, params: FailPickParams, context: Context) -> Sequence[Command]:
        """Make the commands of Pick for shifted grasps; the hand closes there, and carries nothing."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        opening = params.gripper_width or gripper.max_width_m
        grasps = wanted_grasps(params, context, world, gripper, opening)[:MOST_TRIED]
        shifted = tuple(self._shifted(grasp.world_T_ee, params, context) for grasp in grasps)
        missing = replace(
            params,
            grasp_poses=shifted,
            final_gripper_state=1,
            npy_name="",
            constraint_axis="",
            orientation_filters=(),
            direction_to_obj="",
            fixed_orientation=(),
        )
        closed = (CloseGripper(params.grip_force),)
        chosen = Pick().chosen_stages(missing, context)
        made = [replace(s, functions=closed) if s.name in CLOSED_STAGES else s for s in chosen]
        return stage_commands(made, missing, context)

    def is_success(self, params: FailPickParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object is neither held nor higher than before."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        then, now = (float(w.states[params.object].world_T_object.translation_m[2]) for w in (before, after))
        touched = gripper_state.touching_fingers(after, context.robot, gripper, params.object)
        if now - then > RISE_M or len(touched) == len(gripper.finger_links):
            text = f"{params.object!r} was grasped although a miss was wanted; use larger offsets"
            return Outcome(Code.NOT_IN_PLACE, text)
        return Outcome(Code.OK, f"missed {params.object!r} as intended")

    def _shifted(self, pose: Pose, params: FailPickParams, context: Context) -> Pose:
        rng, base = context.rng, context.world.world_T_base().rotation.matrix()
        x = rng.choice((-1.0, 1.0)) * rng.uniform(params.grasp_x_offset_min, params.grasp_x_offset_max)
        y = rng.choice((-1.0, 1.0)) * rng.uniform(params.grasp_y_offset_min, params.grasp_y_offset_max)
        return Pose.of(pose.translation_m + base @ np.array([x, y, 0.0]), pose.rotation)
