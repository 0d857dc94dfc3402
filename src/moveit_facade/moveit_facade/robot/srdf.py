"""The SRDF of a robot: groups, end effectors, named states and pairs without a collision check."""

from __future__ import annotations

from xml.etree import ElementTree

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot

from .groups import gripper_links, mimics_of


def srdf_of(robot: Robot) -> str:
    """Return the SRDF as text.

    Each arm is a group with a chain from its base link to the link of its tool centre point, and each gripper is a
    group and an end effector. The states are ``home`` of arms, and ``open``, ``close`` and ``home`` of grippers. The
    reason of a pair without a check is ``Adjacent`` for neighbours in the tree, else ``Never``: not in reach of each
    other, or in contact by construction.

    Args:
        robot: The robot.
    """
    root = ElementTree.Element("robot", name=robot.name)
    _add(
        root,
        "virtual_joint",
        name="virtual_joint",
        type="fixed",
        parent_frame="world",
        child_link=robot.root_link,
    )
    for arm in robot.arms.values():
        _add(_add(root, "group", name=arm.name), "chain", base_link=arm.base_link, tip_link=arm.tcp_link)
    for arm in robot.arms.values():
        if arm.gripper is not None and arm.gripper.joint:
            _add_gripper_group(root, robot, arm, arm.gripper)
    for arm in robot.arms.values():
        _add_state(root, arm.name, "home", dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True)))
        if arm.gripper is not None and arm.gripper.joint:
            _add_gripper_states(root, robot, arm.gripper)
    for arm in robot.arms.values():
        if arm.gripper is not None and arm.gripper.joint:
            name = arm.gripper.name
            _add(
                root,
                "end_effector",
                name=f"{name}_eef",
                parent_link=arm.ee_link,
                group=name,
                parent_group=arm.name,
            )
    _add_passive_joints(root, robot)
    _add_pairs(root, robot)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _add_gripper_group(root: ElementTree.Element, robot: Robot, arm: ArmSpec, gripper: GripperSpec) -> None:
    group = _add(root, "group", name=gripper.name)
    for link in (arm.ee_link, *gripper_links(robot, arm)):
        _add(group, "link", name=link)
    for joint in (gripper.joint, *mimics_of(robot, gripper.joint)):
        _add(group, "joint", name=joint)


def _add_gripper_states(root: ElementTree.Element, robot: Robot, gripper: GripperSpec) -> None:
    widths = {"open": gripper.max_width_m, "close": gripper.min_width_m, "home": gripper.home_width_m}
    for state, width_m in widths.items():
        position = gripper.position(width_m)
        following = mimics_of(robot, gripper.joint).items()
        others = {name: factor * position + offset for name, (factor, offset) in following}
        _add_state(root, gripper.name, state, {gripper.joint: position, **others})


def _add_state(root: ElementTree.Element, group: str, name: str, positions: dict[str, float]) -> None:
    state = _add(root, "group_state", name=name, group=group)
    for joint, position in positions.items():
        _add(state, "joint", name=joint, value=f"{position:.9g}")


def _add_passive_joints(root: ElementTree.Element, robot: Robot) -> None:
    """Add the joints that no group commands: joint_states need not have them."""
    driven = {name for arm in robot.arms.values() for name in arm.joint_names}
    tools = [arm.gripper.joint for arm in robot.arms.values() if arm.gripper is not None]
    for joint in robot.joints.values():
        is_moved = joint.type is not JointKind.FIXED and joint.name not in (*driven, *tools)
        is_group_member = joint.mimic is not None and joint.mimic.joint in tools
        if is_moved and not is_group_member:
            _add(root, "passive_joint", name=joint.name)


def _add_pairs(root: ElementTree.Element, robot: Robot) -> None:
    neighbours = {frozenset((joint.parent, joint.child)) for joint in robot.joints.values()}
    for a, b in sorted(robot.ignored_pairs):
        reason = "Adjacent" if frozenset((a, b)) in neighbours else "Never"
        _add(root, "disable_collisions", link1=a, link2=b, reason=reason)
