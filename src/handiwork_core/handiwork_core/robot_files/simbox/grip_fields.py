"""The gripper of a robot file: widths, TCP, axes, keypoints and depths, compared with the hand of the robot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Array, Rotation, frozen
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import (
    ArmSpec,
    GripperSpec,
    Keypoints,
    Robot,
)

from .joint_groups import JointGroups, link_of, unknown_link
from .robot_fields import SIDES, KeypointFields, RobotFields, depth_rows, json_of

AXES = "xyz"
WIDTH_SLACK_M = 0.0005
"""Largest excess of a stated width over the opening of the linkage, m; published widths are rounded."""
TCP_SLACK_M = 0.02
"""Largest distance of a stated TCP from the TCP of the robot's description, m; a larger one means another hand."""
ALONG = 1e-3


@dataclass
class GripFields:
    """Applies the gripper's fields. It adds faults to ``faults``; a fault of both arms is reported once."""

    robot: Robot
    fields: RobotFields
    faults: list[str]
    folder: Path | None

    def __post_init__(self) -> None:
        self._reported: set[str] = set()
        self._depths = self._extra_depth()

    def applied(self, side: str, arm: ArmSpec, groups: JointGroups) -> ArmSpec:
        """Return the arm with the gripper of the file.

        Args:
            side: ``left`` or ``right``.
            arm: The arm.
            groups: Reader of joint indices.
        """
        gripper = arm.gripper
        if gripper is None or gripper.suction is not None:
            self._fault("gripper_max_width", f"arm {arm.name!r} has no fingers, which the format describes")
            return arm
        self._axes(gripper)
        self._tcp(arm, gripper)
        low, high = self._widths(gripper)
        home = self._home(side, gripper, groups)
        made = replace(
            gripper,
            min_width_m=low,
            max_width_m=high,
            home_width_m=float(np.clip(gripper.home_width_m if home is None else home, low, max(low, high))),
            tcp_offset_m=_or(self.fields.tcp_offset, gripper.tcp_offset_m),
            keypoints=self._keypoints(f"{SIDES[side]}_gripper_keypoints", gripper),
            extra_depth=self._depths or gripper.extra_depth,
        )
        self._filter(f"{SIDES[side]}_filter_paths", gripper)
        return replace(arm, gripper=made)

    def _fault(self, name: str, text: str) -> None:
        if f"{name}: {text}" not in self._reported:
            self._reported.add(f"{name}: {text}")
            self.faults.append(f"{name}: {text}")

    def _axes(self, gripper: GripperSpec) -> None:
        axis, rows = self.fields.ee_axis, self.fields.R_ee_graspnet
        if axis is not None and (axis not in AXES or len(axis) != 1):
            self._fault("ee_axis", f"is {axis!r}; write x, y or z")
        elif axis is not None and AXES.index(axis) != gripper.ee_axis:
            right = AXES[gripper.ee_axis]
            self._fault("ee_axis", f"is {axis!r}; from the EE frame to the TCP it is {right!r}, write that")
        if rows is None:
            return
        try:
            Rotation.from_matrix(rows)
        except ValueError as error:
            self._fault("R_ee_graspnet", f"is no rotation: {error}")
            return
        if np.abs(np.array(rows) - gripper.R_ee_graspnet).max() > ALONG:
            want = gripper.R_ee_graspnet.tolist()
            self._fault(
                "R_ee_graspnet",
                f"is {[list(row) for row in rows]}; the hand points along {AXES[gripper.ee_axis]} and its "
                f"fingers close along {AXES[gripper.closing_axis]}, write {want}",
            )

    def _tcp(self, arm: ArmSpec, gripper: GripperSpec) -> None:
        offset = self.fields.tcp_offset
        if offset is None:
            return
        poses = link_poses(self.robot, {}, (arm.ee_link, arm.tcp_link))
        here = (poses[arm.ee_link].inverse() @ poses[arm.tcp_link]).translation_m[gripper.ee_axis]
        if abs(offset - here) > TCP_SLACK_M:
            words = f"the robot's TCP frame is {here:.4f} m from the EE frame"
            self._fault(
                "tcp_offset", f"is {offset}; {words}, write a value within {TCP_SLACK_M} m of that [m]"
            )

    def _widths(self, gripper: GripperSpec) -> tuple[float, float]:
        least, most = self._stroke(gripper)
        low = _or(self.fields.gripper_min_width, gripper.min_width_m)
        high = _or(self.fields.gripper_max_width, gripper.max_width_m)
        if self._depths:
            low, high = max(least, self._depths[0][0]), min(most, self._depths[-1][0])
        if low < 0.0 or low >= high:
            self._fault("gripper_min_width", f"is {low}, and gripper_max_width {high}; write 0 <= min < max")
        if high > most + WIDTH_SLACK_M:
            words = f"joint {gripper.joint!r} opens the fingers to {most:.4f} m"
            self._fault("gripper_max_width", f"is {high}; {words}, write that or less")
        return low, high

    def _stroke(self, gripper: GripperSpec) -> tuple[float, float]:
        joint = self.robot.joints[gripper.joint]
        ends = sorted(gripper.width(position) for position in (joint.lower, joint.upper))
        return max(0.0, ends[0]), ends[1]

    def _home(self, side: str, gripper: GripperSpec, groups: JointGroups) -> float | None:
        """Return the opening at the home of the fingers, m."""
        indices = getattr(self.fields, f"{side}_gripper_indices")
        name, home = f"{side}_gripper_home", getattr(self.fields, f"{side}_gripper_home")
        followers = [j.name for j in self.robot.joints.values() if j.mimic and j.mimic.joint == gripper.joint]
        joints = [gripper.joint, *followers]
        if indices is not None:
            groups.take(f"{side}_gripper_indices", indices)
            if self.robot.simbox is not None:
                found = groups.joints(f"{side}_gripper_indices", indices) or []
                for i, joint in enumerate(found):
                    if joint not in joints:
                        text = f"is {indices[i]}, {joint}; {gripper.name} has the joints {joints}"
                        self._fault(f"{side}_gripper_indices[{i}]", text)
                joints = found or joints
        if home is None:
            return None
        if not home or (indices is not None and len(home) != len(indices)):
            self._fault(name, f"is {list(home)}; write one position for each of {side}_gripper_indices")
            return None
        return self._opening(name, home, joints, gripper)

    def _opening(
        self, name: str, home: tuple[float, ...], joints: list[str], gripper: GripperSpec
    ) -> float | None:
        lead = self.robot.joints[gripper.joint]
        if not lead.lower - ALONG <= home[0] <= lead.upper + ALONG:
            self._fault(name, f"is {list(home)}; {lead.name} goes from {lead.lower} to {lead.upper}")
            return None
        for value, joint in zip(home[1:], joints[1:], strict=False):
            mimic = self.robot.joints[joint].mimic
            right = mimic.multiplier * home[0] + mimic.offset if mimic is not None else value
            if abs(value - right) > ALONG:
                self._fault(name, f"is {list(home)}; {joint} follows {gripper.joint}, write {right:g} for it")
        return gripper.width(home[0])

    def _keypoints(self, name: str, gripper: GripperSpec) -> Keypoints | None:
        rows: KeypointFields | None = getattr(self.fields, name)
        if rows is None:
            return gripper.keypoints
        head, tail, side = (np.array(p[:3]) for p in (rows.tool_head, rows.tool_tail, rows.tool_side))
        along, across = gripper.ee_axis, gripper.closing_axis
        if not head[along] > tail[along] or np.abs(np.delete(head - tail, along)).max() > ALONG:
            words = f"the EE axis {AXES[along]} leads from tool_tail to tool_head"
            self._fault(f"{name}.tool_head", f"is {_list(head)}, and tool_tail {_list(tail)}; {words}")
        off = side - head
        if np.abs(np.delete(off, across)).max() > ALONG or not off[across]:
            words = f"the fingers close along {AXES[across]}, move it along that axis alone"
            self._fault(f"{name}.tool_side", f"is {_list(side)}, and tool_head {_list(head)}; {words}")
        return Keypoints(frozen(head), frozen(tail), frozen(side))

    def _filter(self, name: str, gripper: GripperSpec) -> None:
        paths: tuple[str, ...] | None = getattr(self.fields, name)
        if paths is None:
            return
        found = [link_of(self.robot, path) for path in paths]
        for i, (path, link) in enumerate(zip(paths, found, strict=True)):
            if link is None:
                self._fault(f"{name}[{i}]", unknown_link(self.robot, path))
        if None not in found and set(found) != set(gripper.finger_links):
            words = f"held objects touch {list(gripper.finger_links)}"
            self._fault(name, f"means {found}; {words}, write those")

    def _extra_depth(self) -> tuple[tuple[float, float], ...]:
        given = self.fields.extra_depth_file
        if given is None:
            return ()
        try:
            if isinstance(given, str) and self.folder is None:
                remedy = "put it there, or leave the field out: grasps then go as deep as their rows say"
                raise ValueError(f"is {given!r}, which is not beside the robot file; {remedy}")
            return depth_rows(json_of(Path(self.folder or ".") / given) if isinstance(given, str) else given)
        except ValueError as error:
            self._fault("extra_depth_file", str(error))
            return ()


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _list(point: Array) -> list[float]:
    return [float(x) for x in point]
