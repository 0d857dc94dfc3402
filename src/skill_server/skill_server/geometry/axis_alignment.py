"""Alignment of the held object with its container, as constraints on the EE's orientation."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

from .orientation_cones import Cone

ALIGNED_FIELD = "align_obj_tol_deg"


def axis_cone(
    pick_axis: Array, place_axis: Array, tol_deg: float, ee_T_object: Pose, base_R_container: Rotation
) -> Cone:
    """The held object's ``pick_axis`` (3,) within ``tol_deg`` of the container's ``place_axis`` (3,).

    Each in its own frame; directed, so the opposite direction is not aligned.
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
    """The held object's ``pick_axis`` (3,) within ``tol_deg`` of the plane of two axes (3,) of the container."""
    label = f"align_plane_x_axis and align_plane_y_axis within {tol_deg:g} deg"
    normal = base_R_container.matrix() @ np.cross(plane_x, plane_y)
    in_ee = ee_T_object.rotation.matrix() @ pick_axis
    low, high = max(0.0, 90.0 - tol_deg), min(180.0, 90.0 + tol_deg)
    return Cone(in_ee, normal, low, high, label, "align_plane_x_axis")
