"""What the fingers of each arm hold: the tracker takes its pose from the hand until they let go."""

from __future__ import annotations

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from perception_bridge.robot.hand import HandWatch
from perception_bridge.tracking.tracker import Tracker


class HeldObjects:
    """Carries the objects between fingers along with the hands.

    Args:
        robot: The robot.
        tracker: Knows the objects, and receives the poses of those that are held.
    """

    def __init__(self, robot: Robot, tracker: Tracker) -> None:
        self._robot, self._tracker = robot, tracker
        tools = [(arm, arm.gripper) for arm in robot.arms.values() if arm.gripper is not None]
        self._watches = [HandWatch(arm, tool) for arm, tool in tools if tool.suction is None]

    def take(self, joints: JointState, world_T_root: Pose) -> list[str]:
        """Take measured joints.

        Args:
            joints: The joints.
            world_T_root: Pose of the robot's root link.

        Returns:
            A sentence for each object that was grasped or let go.
        """
        remarks = list[str]()
        for watch in self._watches:
            self._carry(watch, joints, world_T_root, remarks)
        return remarks

    def _carry(self, watch: HandWatch, joints: JointState, world_T_root: Pose, remarks: list[str]) -> None:
        arm, tracker, stamp_s = watch.arm, self._tracker, joints.stamp_s
        links = link_poses(self._robot, dict(joints.position), (arm.ee_link, arm.tcp_link))
        world_T_ee, world_T_tcp = world_T_root @ links[arm.ee_link], world_T_root @ links[arm.tcp_link]
        held = watch.object
        if held and not tracker.is_held(held):  # it was seen elsewhere
            watch.drop()
        bodies = {item.name: item for item in tracker.objects()}
        poses = {name: state.world_T_object for name, state in tracker.states(stamp_s).items()}
        free = {
            n: (bodies[n], pose) for n, pose in poses.items() if n == watch.object or not tracker.is_held(n)
        }
        if released := watch.take(stamp_s, joints.position, world_T_ee, world_T_tcp, free):
            tracker.release(released)
            remarks.append(f"{arm.name} has let {released!r} go; its pose is that of detections again")
        if watch.object:
            if not tracker.is_held(watch.object):
                remarks.append(f"{arm.name} holds {watch.object!r}; its pose is that of the hand")
            tracker.carry(watch.object, world_T_ee @ watch.ee_T_object, stamp_s)
