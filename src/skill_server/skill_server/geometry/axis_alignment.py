"""Alignment of the held object with its container, as constraints on the EE's orientation."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

from .orientation_cones import Cone

ALIGNED_FIELD = "align_obj_tol_deg"


def axis_cone(
    pick_axis: Array, place_axis: Array, tol_deg: float, ee_T_object: Pose, base_R_container: Rotation
) -> Cone:
    """Constrain an axis of the held object to be near an axis of the container.

    The axes are directed: the opposite direction is not aligned.

    Args:
        pick_axis: Axis in the frame of the held object, (3,).
        place_axis: Axis in the frame of the container, (3,).
        tol_deg: Largest angle between the two, deg.
        ee_T_object: Pose of the held object in the EE frame.
        base_R_container: Rotation of the container in the arm's base.

    Returns:
        The constraint.
    """
    label = f"align_obj_tol_deg {tol_deg:g}"
    in_ee = ee_T_object.rotation.matrix() @ pick_axis
    return Cone(in_ee, base_R_container.matrix() @ place_axis, 0.0, tol_deg, label, ALIGNED_FIELD)


def plane_cone(
    pick_axis: Array,
    plane_x: Array,
    plane_y: Array,
    tol_deg: float,
    ee_T_object: Pose,
    base_R_container: Rotation,
) -> Cone:
    """Constrain an axis of the held object to be near a plane of the container.

    Args:
        pick_axis: Axis in the frame of the held object, (3,).
        plane_x: First axis of the plane in the frame of the container, (3,).
        plane_y: Second axis of the plane, (3,).
        tol_deg: Largest angle to the plane, deg.
        ee_T_object: Pose of the held object in the EE frame.
        base_R_container: Rotation of the container in the arm's base.

    Returns:
        The constraint.
    """
    label = f"align_plane_x_axis and align_plane_y_axis within {tol_deg:g} deg"
    normal = base_R_container.matrix() @ np.cross(plane_x, plane_y)
    in_ee = ee_T_object.rotation.matrix() @ pick_axis
    low, high = max(0.0, 90.0 - tol_deg), min(180.0, 90.0 + tol_deg)
    return Cone(in_ee, normal, low, high, label, "align_plane_x_axis")
