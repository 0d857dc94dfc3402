"""Judges a placed object in the settled world: released, at rest, and at the place that the success mode asks for."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.skill import Context
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.thresholds import PLACED_REST_MPS
from handiwork_core.model.world import World
from handiwork_core.scene.bounds import world_aabb
from skill_server.geometry.solids import object_box
from skill_server.state import gripper_state
from skill_server.state.motion_limits import process_valid

from . import success_modes
from .candidates import container_part
from .params import PlaceParams
from .success_modes import Judged, Placed


def judge(params: PlaceParams, name: str, after: World, context: Context) -> Outcome:
    """Judge a placed object.

    Args:
        params: Parameters of Place.
        name: Name of the object.
        after: Settled world.
        context: Context of the run.

    Returns:
        OK, or NOT_IN_PLACE with the numbers.
    """
    for found in (_released(name, after, context), _at_rest(params, name, after, context)):
        if not found.ok:
            return found
    container = container_part(after.objects[params.container], params.place_part)
    pose, container_pose = after.states[name].world_T_object, after.states[params.container].world_T_object
    # Undersides by the exact bounds: the box of a tilted cylinder has corners below it.
    below = float(world_aabb(container, container_pose)[0][2] - world_aabb(after.objects[name], pose)[0][2])
    placed = Placed(
        object_box(after.objects[name]).moved(pose),
        pose.translation_m,
        object_box(container).moved(container_pose),
    )
    judged = by_mode(params, placed, context.release_height_m)
    relation = {"left": "left of", "right": "right of"}.get(params.success_mode, "in")
    what, where = repr(name), f"{relation} {params.container!r} by {params.success_mode}: {judged.words}"
    if not judged.good:
        return Outcome(Code.NOT_IN_PLACE, f"{what} is not {where}")
    if params.success_mode in ("xybbox", "left", "right") and below > params.below_tolerance:
        fell = f"fell {below * 1e3:.0f} mm below it, below_tolerance {params.below_tolerance * 1e3:g} mm"
        return Outcome(Code.NOT_IN_PLACE, f"{what} is not {where}; {fell}")
    placed_where = f"{relation}to" if relation == "in" else relation
    return Outcome(Code.OK, f"placed {what} {placed_where} {params.container!r}: {judged.words}")


def by_mode(params: PlaceParams, placed: Placed, release_height_m: float) -> Judged:
    """Judge boxes by the success mode alone.

    Args:
        params: Parameters with the mode and its constants.
        placed: Boxes of object and container.
        release_height_m: Height of the object's origin before the release, m.

    Returns:
        The judgement.
    """
    right, th = np.array(params.right_axis), params.success_th
    mode = params.success_mode
    if mode == "3diou":
        return success_modes.overlapping(placed, th)
    if mode == "height":
        return success_modes.fallen(float(placed.origin[2]), release_height_m, params.height_drop)
    if mode in ("left", "right"):
        return success_modes.beside(placed, right if mode == "right" else -right, params.threshold)
    if mode == "flower":
        return success_modes.standing_in(placed, th)
    if mode == "cup":
        return success_modes.raised_in(placed, th, params.cup_rise)
    return success_modes.inside_sides(placed, params.xybbox_margin)


def _released(name: str, after: World, context: Context) -> Outcome:
    gripper = context.arm_spec.gripper
    assert gripper is not None
    fingers = gripper_state.touching_fingers(after, context.robot, gripper, name)
    if not fingers:
        return OK
    text = f"{sorted(fingers)[0]} still touches {name!r}; choose a longer post_place_vector"
    return Outcome(Code.NOT_IN_PLACE, text)


def _at_rest(params: PlaceParams, name: str, after: World, context: Context) -> Outcome:
    # A container that moves, as on a belt, carries what is at rest in it.
    carried = after.states[params.container].world_v_object
    speed = float(np.linalg.norm(after.states[name].world_v_object - carried))
    if speed > PLACED_REST_MPS:
        return Outcome(
            Code.NOT_IN_PLACE, f"{name!r} still moves at {speed:.2f} m/s against {params.container!r}"
        )
    return process_valid(context, after, name, Code.NOT_IN_PLACE) if params.process_valid else OK
