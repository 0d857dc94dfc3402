"""The grasps that Pick tries, best first: those of the goal, of an annotation, or made from the object's shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import GripperSpec
from skill_server.geometry.orientation_cones import Mask, cones_of, surviving
from skill_server.state import gripper_reach

from .antipodal_grasps import Grasp, grasps_for
from .graspnet_rows import (
    GraspFileError,
    RatioRange,
    annotated,
    depth_table,
    read_rows,
    within_part,
)
from .pick_params import PickParams
from .suction_grasps import cup_tool, suction_grasps

MOST_TRIED = 256


@dataclass(frozen=True, slots=True, eq=False)
class GraspTable:
    """Grasps as arrays.

    Attributes:
        turns: Rotations of the EE in the world, (n, 3, 3).
        positions: Positions of the EE in the world, (n, 3), m.
        tcp: Positions of the TCP in the object's frame, (n, 3), m.
        score: Score, (n,); lower is better.
        width: Distance between the pads, (n,), m.
        made: Text that says how many were made, and why others were not.
    """

    turns: Array
    positions: Array
    tcp: Array
    score: Array
    width: Array
    made: str

    def only(self, keep: Mask) -> GraspTable:
        """Return the rows of a mask.

        Args:
            keep: Mask, (n,).

        Returns:
            The smaller table.
        """
        parts = (self.turns[keep], self.positions[keep], self.tcp[keep], self.score[keep], self.width[keep])
        return GraspTable(*parts, self.made)


def wanted_grasps(
    params: PickParams, context: Context, world: World, gripper: GripperSpec, opening_m: float
) -> tuple[Grasp, ...]:
    """Return the grasps that satisfy the goal, best first, ties in random order.

    Args:
        params: Parameters of Pick.
        context: Context of the run.
        world: Snapshot of the world.
        gripper: Gripper of the arm.
        opening_m: Opening of the fingers before they close, m.

    Returns:
        At most ``MOST_TRIED`` grasps; the ``grasp_poses`` of the goal as they are.

    Raises:
        StepFailed: NO_CANDIDATE with the cause that removed the last, or BAD_GOAL for an annotation that cannot be
            read.
    """
    if params.grasp_poses:
        return tuple(Grasp(pose, 0.0, 0.01 * i) for i, pose in enumerate(params.grasp_poses))
    from_file = bool(params.npy_name)
    table = (
        _of_file(params, world, gripper)
        if from_file
        else _of_shapes(params, context, world, gripper, opening_m)
    )
    table = filtered(table, params, context, world, gripper, opening_m)
    # A stable sort of a shuffled table: among equal scores no part of the object is preferred.
    order = context.rng.permutation(len(table.score)) if from_file else np.arange(len(table.score))
    order = order[np.argsort(table.score[order], kind="stable")][:MOST_TRIED]
    return tuple(_grasp(table, int(i), params, context, gripper) for i in order)


def unmade_grasps(
    params: PickParams, context: Context, world: World, gripper: GripperSpec, opening_m: float
) -> str:
    """Return how many grasps were not made of an object's shapes, and why, for a message.

    Args:
        params: Parameters of Pick.
        context: Context of the run.
        world: Snapshot of the world.
        gripper: Gripper of the arm.
        opening_m: Opening of the fingers before they close, m.

    Returns:
        A clause; empty for grasps of the goal or of an annotation, and for an object that has left the world.
    """
    if params.grasp_poses or params.npy_name or params.object not in world.objects:
        return ""
    return _of_shapes(params, context, world, gripper, opening_m).made


def filtered(
    table: GraspTable,
    params: PickParams,
    context: Context,
    world: World,
    gripper: GripperSpec,
    opening_m: float,
) -> GraspTable:
    """Return the grasps that satisfy the constraints of the goal.

    Args:
        table: Grasps.
        params: Parameters of Pick.
        context: Context of the run.
        world: Snapshot of the world.
        gripper: Gripper of the arm.
        opening_m: Opening of the fingers before they close, m.

    Returns:
        The remaining grasps, at least one.

    Raises:
        StepFailed: No grasp remains; says how many each constraint removed.
    """
    base_T_world = context.world.world_T_base().inverse()
    base_R_world = base_T_world.rotation.matrix()
    keep, words = surviving(
        base_R_world @ table.turns, cones_of(params.orientation_filters, context.world.world_T_base())
    )
    narrow = (table.width <= opening_m) & (table.width >= gripper.min_width_m)
    removed = [words] if words else []
    limits = [(f"widths outside of {gripper.min_width_m * 1e3:g} to {opening_m * 1e3:g} mm", narrow)]
    if params.direction_to_obj:
        object_y = float((base_T_world @ world.states[params.object].world_T_object).translation_m[1])
        left = base_T_world.apply(table.positions)[:, 1] > object_y
        side = left if params.direction_to_obj == "left" else ~left
        limits.append((f"direction_to_obj {params.direction_to_obj!r}", side))
    if params.constraint_axis and not params.npy_name:
        limits.append((f"constraint_axis {params.constraint_axis!r}", within_part(table.tcp, _part(params))))
    for name, mask in limits:
        removed.append(f"{name} removed {int((keep & ~mask).sum())}")
        keep = np.asarray(keep & mask)
    if keep.any():
        return table.only(keep)
    field_name = (
        "object" if not len(keep) else "orientation_filters" if params.orientation_filters else "object"
    )
    text = f"no grasp of {params.object!r}: {table.made}; {', '.join(removed)}"
    raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", field_name))


def _of_file(params: PickParams, world: World, gripper: GripperSpec) -> GraspTable:
    part = _part(params) if params.constraint_axis else None
    try:
        rows = read_rows(Path(params.npy_name))
    except GraspFileError as error:
        raise StepFailed(Outcome(Code.BAD_GOAL, str(error), "select", "npy_name")) from error
    tcp_offset = params.tcp_offset or None
    made = annotated(
        rows, gripper, grasp_scale=params.grasp_scale, tcp_offset_m=tcp_offset, part=part,
        extra_depth=depth_table(gripper),
    )  # fmt: skip
    pose = world.states[params.object].world_T_object
    words = f"{len(rows)} rows of {params.npy_name} gave {len(made.score)} grasps"
    return GraspTable(
        pose.rotation.matrix() @ made.turns,
        pose.apply(made.positions),
        made.tcp,
        made.score,
        made.width,
        words,
    )


def _of_shapes(
    params: PickParams, context: Context, world: World, gripper: GripperSpec, opening_m: float
) -> GraspTable:
    pose, body = world.states[params.object].world_T_object, world.objects[params.object]
    if gripper.suction is not None:
        made = suction_grasps(body, pose, cup_tool(context.robot, context.arm_spec, gripper))
    else:
        made = grasps_for(
            body, pose, gripper, gripper_reach.reach(context.robot, context.arm_spec, gripper), opening_m
        )
    turns = np.array([g.world_T_ee.rotation.matrix() for g in made.grasps]).reshape(-1, 3, 3)
    positions = np.array([g.world_T_ee.translation_m for g in made.grasps]).reshape(-1, 3)
    tcp = pose.inverse().apply(positions + gripper.tcp_offset_m * turns[:, :, gripper.ee_axis])
    score, width = np.array([g.score for g in made.grasps]), np.array([g.width_m for g in made.grasps])
    return GraspTable(turns, positions, tcp, score, width, f"{len(made.grasps)} were made ({made.removed})")


def _part(params: PickParams) -> RatioRange:
    return RatioRange("xyz".index(params.constraint_axis), *params.constraint_ratio_range)


def _grasp(table: GraspTable, i: int, params: PickParams, context: Context, gripper: GripperSpec) -> Grasp:
    score, width, position = float(table.score[i]), float(table.width[i]), table.positions[i]
    if not params.fixed_orientation:
        return Grasp(Pose.of(position, Rotation.from_matrix(table.turns[i])), width, score)
    turn = context.world.world_T_base().rotation @ params.fixed_orientation[0]
    return Grasp(Pose.of(position, turn), width, score, table.turns[i][:, gripper.ee_axis])
