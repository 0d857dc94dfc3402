"""Keys of the SimBox format with another name here, or with none; errors on the latter say what to write instead."""

from __future__ import annotations

from collections.abc import Mapping

RENAMED: Mapping[str, Mapping[str, str]] = {
    "place": {"align_obj_tol": "align_obj_tol_deg"},
    "dexplace": {"align_obj_tol": "align_obj_tol_deg"},
    "flip": {"open_wait_steps": "gripper_change_steps"},
}
"""The name here, by skill and then by key of the format."""

NULLS = frozenset(
    {
        *(
            "fixed_orientation",
            "direction_to_obj",
            "constraints",
            "place_part_prim_path",
            "post_place_vector",
        ),
        *("pre_grasp_hold_vec_weight", "pre_place_hold_vec_weight", "post_place_hold_vec_weight"),
        *("hold_vec_weight", "align_pick_obj_axis", "align_place_obj_axis", "offset_place_obj_axis"),
        *("align_obj_tol", "align_obj_axis", "align_ref_axis", "align_plane_x_axis", "align_plane_y_axis"),
        *("first_motion", "tcp_offset", "quaternion", "euler", "way_points_ori", "adjust_ori"),
    }
)
"""Keys with the same meaning when they are null and when they are absent."""

_PICKS = {"close_wait_steps": "write gripper_change_steps"}
_PLACES = {
    "place_part_prim_path": "parts of a container are its shapes; write their index as place_part",
    "place_align_axis": "it did nothing; write align_place_obj_axis",
    "pick_align_axis": "it did nothing; write align_pick_obj_axis",
    "constraint_gripper_x": "it did nothing; write orientation_filters for the hand's x axis",
    "pre_grasp_offset": "it belongs to pick; write pre_place_z_offset",
}
_PARTS = {
    "planner_setting": "part, joint and handle are described with the object; write fraction or angle, and tolerance",
    "obj_info_path": "part, joint and handle are described with the object; leave it out",
    "collision_valid": "the planner refuses forbidden contacts before a motion; leave it out",
}
_SPEED = "the joints' limits decide how long a motion takes; write max_velocity_scaling_factor"

LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "pick": _PICKS,
    "manualpick": {
        **_PICKS,
        "hold_vec_weight": "write pre_grasp_hold_vec_weight",
        "start_lr_skill": "the arms of one step begin together; leave it out",
        "update_pose_cost_metric_none": "it did nothing; leave it out",
    },
    "dynamicpick": {
        **_PICKS,
        "pivot_angle_z": "grasps close across the belt for the object as it lies; write orientation_filters",
        "pos_adjust_z": "grasps always keep clear of the belt; write constraint_axis and constraint_ratio_range",
    },
    "dexpick": {**_PICKS, "post_grasp_offset": "write post_grasp_offset_min and post_grasp_offset_max"},
    "place": _PLACES,
    "dexplace": {
        **_PLACES,
        "camera_axis_filter": "write orientation_filters, for example of the hand's z axis",
        "gripper_axis": "it did nothing; leave it out",
    },
    "flip": {
        **_PLACES,
        "gripper_axis": "the object's up_axis says how it lies; write orientation_filters for the hand",
        "ee_axis": "the ee_axis of the robot is used; leave it out",
    },
    "heuristic_skill": {"move_steps": _SPEED},
    "joint_ctrl": {"num_steps": _SPEED},
    "gripper_action": {
        "vel": "it did nothing; leave it out",
        "gripper": "write gripper_state 1 to open, -1 to close",
        "post_action": "it did nothing; write a skill of its own",
    },
    "wait": {
        "objects": "the held object is always watched; leave it out",
        "success_threshold": "waiting succeeds once its time is over; leave it out",
    },
    "rotate_obj": {
        "rotate_only": "nothing is shifted without trans_offset; leave trans_offset out",
        "gripper_state": "the gripper keeps its state; write gripper_action before or after",
        "move_offset": "write trans_offset, and first_motion move",
        "rotate_offset": "write rotate_obj_euler_delta, and first_motion rotate",
        "dummy_forward": "write its ctrl_list as the skill's own; num_steps and gripper_state have no meaning",
    },
    "track": {"T_tcp_2_ee": "it only drew axes; leave it out"},
    "move": {"invisible_object": "nothing is hidden; leave it out, or write ignore_substring"},
    "open": _PARTS,
    "close": _PARTS,
    "rotate": _PARTS,
    "artpreplan": _PARTS,
}
"""The reason why a key of the format has no meaning here, and what to write, by skill and then by key."""
