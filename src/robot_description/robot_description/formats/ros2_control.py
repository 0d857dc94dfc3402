"""A robot's ros2_control configuration: its controllers with tolerances, and the hardware of its URDF.

``python -m robot_description.formats.ros2_control robots/fr3 --rate 1000`` writes ``robots/fr3/ros2_control.yaml``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

import yaml

from handiwork_core.model.controller_profile import DEFAULT_PROFILE, ControllerProfile
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import GripperAction, GripperSpec, Joint, Robot
from handiwork_core.robot_files.loader import load_robot

FILE = "ros2_control.yaml"
HEADER = """\
# Controllers of {name} for ros2_control; `python -m robot_description.formats.ros2_control` wrote it from robot.yaml.
# A tolerance of zero disables its check, so none is zero. Arms are commanded by safety_node, which serves the actions
# that the skills call; a gripper's action is named after its controller.
"""
STOPPED_VELOCITY = 0.01
MONITOR_HZ = 20.0
STALL_VELOCITY, STALL_S = 0.001, 0.3
GRIP_TOLERANCE_M = 0.001
"""Tolerance of the opening, m."""
COMMAND = "/gripper_cmd"
"""The action of a gripper controller, below its name."""
SINGLE = "position_controllers/GripperActionController"
"""The controller that serves ``GripperCommand``."""
MAX_EFFORT = "set_gripper_max_effort"
"""Command interface for the force of a goal: without it the goal's effort would not be applied."""

Settings = dict[str, object]


def controllers(robot: Robot, rate_hz: int) -> dict[str, Settings]:
    """Return the whole file as data: the manager first, then the parameters of each controller.

    Args:
        robot: The robot.
        rate_hz: Update rate of the controllers, Hz.

    Returns:
        Parameters by node name.
    """
    kinds = {"joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster"}
    made: dict[str, Settings] = {}
    for arm in robot.arms.values():
        kinds[arm.hardware_controller] = "joint_trajectory_controller/JointTrajectoryController"
        made[arm.hardware_controller] = _trajectory(robot, arm.joint_names, arm.controller_profile)
    for gripper in _fingers(robot):
        if not gripper.action_name.endswith(COMMAND):
            continue  # a node of the driver serves it, and no controller
        name = gripper.action_name.removesuffix(COMMAND)
        is_single = gripper.action_type is GripperAction.SINGLE
        kinds[name] = SINGLE if is_single else "parallel_gripper_action_controller/GripperActionController"
        made[name] = _single(gripper) if is_single else _gripper(gripper)
    if (base := robot.commanded_base) is not None:
        kinds[base.hardware_controller] = "joint_trajectory_controller/JointTrajectoryController"
        made[base.hardware_controller] = _trajectory(robot, base.joint_names, base.controller_profile)
    if robot.posture:
        name = f"{robot.name}_posture_controller"
        kinds[name] = "joint_trajectory_controller/JointTrajectoryController"
        made[name] = _trajectory(robot, tuple(robot.posture), DEFAULT_PROFILE)
    manager: Settings = {"update_rate": rate_hz, **{name: {"type": kind} for name, kind in kinds.items()}}
    return {"controller_manager": _node(manager), **{name: _node(item) for name, item in made.items()}}


def controllers_text(robot: Robot, rate_hz: int) -> str:
    """Return the text of the file.

    Args:
        robot: The robot.
        rate_hz: Update rate of the controllers, Hz.
    """
    data = controllers(robot, rate_hz)
    return HEADER.format(name=robot.name) + yaml.safe_dump(
        data, sort_keys=False, default_flow_style=None, width=118
    )


def with_hardware(robot: Robot, plugin: str, parameters: Mapping[str, str]) -> str:
    """Return the URDF with a ``ros2_control`` element: the command and state interfaces of each joint.

    Args:
        robot: The robot.
        plugin: Name of the hardware plugin.
        parameters: Parameters of the plugin by name.
    """
    lines = [f'<ros2_control name={quoteattr(robot.name)} type="system">', "<hardware>"]
    lines += [f"<plugin>{plugin}</plugin>"]
    lines += [f"<param name={quoteattr(name)}>{value}</param>" for name, value in parameters.items()]
    lines += ["</hardware>", *_joints(robot), "</ros2_control>"]
    return robot.urdf.replace("</robot>", "\n".join(lines) + "</robot>")


def _joints(robot: Robot) -> Iterator[str]:
    grips = {gripper.joint for gripper in _fingers(robot)}
    elsewhere = robot.base.joint_names if robot.base is not None and robot.commanded_base is None else ()
    for joint in robot.joints.values():
        if joint.type is JointKind.FIXED or joint.name in elsewhere:
            continue
        commands = [] if joint.mimic else ["position", *([MAX_EFFORT] if joint.name in grips else [])]
        yield f"<joint name={quoteattr(joint.name)}>"
        yield from (f'<command_interface name="{name}"/>' for name in commands)
        yield from (_state(robot, joint, name) for name in ("position", "velocity"))
        yield "</joint>"


def _state(robot: Robot, joint: Joint, name: str) -> str:
    if name != "position" or joint.mimic:
        return f'<state_interface name="{name}"/>'
    start = joint_position(robot, joint.name, {})
    return f'<state_interface name="position"><param name="initial_value">{start:g}</param></state_interface>'


def _fingers(robot: Robot) -> tuple[GripperSpec, ...]:
    """Return the grippers that have joints; a suction cup is switched by its own driver."""
    tools = (arm.gripper for arm in robot.arms.values() if arm.gripper is not None)
    return tuple(tool for tool in tools if tool.suction is None)


def _node(parameters: Settings) -> Settings:
    return {"ros__parameters": parameters}


def _trajectory(robot: Robot, joints: tuple[str, ...], profile: ControllerProfile) -> Settings:
    limits = {name: _tolerances(robot.joints[name], profile) for name in joints}
    return {
        "joints": list(joints),
        "command_interfaces": ["position"],
        "state_interfaces": ["position", "velocity"],
        "action_monitor_rate": MONITOR_HZ,
        "allow_partial_joints_goal": False,
        "allow_nonzero_velocity_at_trajectory_end": False,
        # Trajectories replace one another many times a second: each continues from the last command.
        "open_loop_control": True,
        "constraints": {
            "stopped_velocity_tolerance": STOPPED_VELOCITY,
            "goal_time": profile.goal_time,
            "decelerate_on_cancel": all("max_deceleration_on_cancel" in item for item in limits.values()),
            **limits,
        },
    }


def _tolerances(joint: Joint, profile: ControllerProfile) -> dict[str, float]:
    """Return the tolerances of a joint, with its deceleration if that is known."""
    known = {"max_deceleration_on_cancel": joint.acceleration} if joint.acceleration > 0.0 else {}
    return {"trajectory": profile.path_tolerance, "goal": profile.goal_tolerance, **known}


def _gripper(gripper: GripperSpec) -> Settings:
    rate = abs(gripper.mean_width_rate)
    return {
        "joint": gripper.joint,
        "action_monitor_rate": MONITOR_HZ,
        "goal_tolerance": round(GRIP_TOLERANCE_M / rate, 6),
        "max_effort_interface": f"{gripper.joint}/{MAX_EFFORT}",
        "allow_stalling": True,
        "stall_velocity_threshold": STALL_VELOCITY,
        "stall_timeout": STALL_S,
    }


def _single(gripper: GripperSpec) -> Settings:
    kept = {name: value for name, value in _gripper(gripper).items() if name != "max_effort_interface"}
    return {**kept, "max_effort": gripper.max_force_n}


def main() -> None:
    """Write the file beside ``robot.yaml``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("robot_dir", type=Path)
    parser.add_argument("--rate", type=int, default=250, help="update rate of the controllers [Hz]")
    args = parser.parse_args()
    robot = load_robot(args.robot_dir)
    (args.robot_dir / FILE).write_text(controllers_text(robot, args.rate), encoding="utf-8")


if __name__ == "__main__":
    main()
