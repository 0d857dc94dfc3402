"""World and controllers together, advanced step by step. No ROS, no threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.robot import Joint, Robot
from handiwork_core.scene import Scene
from sim_bridge.finger_drives import FingerDrive, finger_drives
from sim_bridge.gripper_controller import GripperController
from sim_bridge.mujoco_world import Indices, MujocoWorld
from sim_bridge.trajectory_controller import TrajectoryController
from sim_bridge.trajectory_goal import JointLimits
from sim_bridge.world_model import STEP_S

STEPS_PER_CONTROL = 2
"""Controllers run at 500 Hz."""

CONTROL_S = STEPS_PER_CONTROL * STEP_S


class ArmAxis:
    """An arm's controller and where its joints are."""

    def __init__(self, controller: TrajectoryController, indices: Indices) -> None:
        self.controller, self.indices = controller, indices


class GripperAxis:
    """A gripper's controller and where its joints are, the leading one first; each follows it by its own law."""

    def __init__(
        self,
        controller: GripperController,
        indices: Indices,
        joints: Sequence[Joint],
        drives: Sequence[FingerDrive],
    ) -> None:
        self.controller, self.indices = controller, indices
        self._per_grip = np.array([drive.force_per_grip for drive in drives])
        laws = [(1.0, 0.0) if j.mimic is None else (j.mimic.multiplier, j.mimic.offset) for j in joints]
        self._multiplier, self._offset = np.array(laws).T

    def positions(self, lead: float) -> Array:
        """Positions of all joints (n,) when the leading one is at ``lead``."""
        return np.asarray(self._multiplier * lead + self._offset)

    def forces(self) -> Array:
        """Greatest forces (n,) of the servos [N or Nm] at the controller's grip."""
        return self._per_grip * self.controller.force_n


class Simulation:
    """Robot, scene and controllers; ``arms`` and ``grippers`` go by the names in the robot's YAML.

    A mobile base follows trajectories as an arm does, and is among them.
    """

    def __init__(self, robot: Robot, scene: Scene) -> None:
        self.robot = robot
        self.declared = scene
        self.world = MujocoWorld(robot, scene)
        self.arms: dict[str, ArmAxis] = {}
        self.grippers: dict[str, GripperAxis] = {}
        start = self.world.joints().position
        if robot.base is not None:
            indices = self.world.indices(robot.base.joint_names)
            driver = TrajectoryController(JointLimits.of(robot, robot.base), start[indices])
            self.arms[robot.base.name] = ArmAxis(driver, indices)
        for arm in robot.arms.values():
            indices = self.world.indices(arm.joint_names)
            controller = TrajectoryController(JointLimits.of(robot, arm), start[indices])
            self.arms[arm.name] = ArmAxis(controller, indices)
            if arm.gripper is not None and arm.gripper.suction is None:
                drives = finger_drives(robot, arm.gripper)
                names = [drive.joint for drive in drives]
                fingers = self.world.indices(names)
                limit = robot.joints[arm.gripper.joint].velocity
                gripper = GripperController(arm.gripper, limit, float(start[fingers[0]]))
                self.grippers[arm.gripper.name] = GripperAxis(
                    gripper, fingers, [robot.joints[name] for name in names], drives
                )
        self._apply_forces()

    @property
    def busy(self) -> bool:
        """True while any controller works."""
        arms = any(arm.controller.busy for arm in self.arms.values())
        sucking = any(cup.on for cup in self.world.cups.values())
        return arms or sucking or any(gripper.controller.busy for gripper in self.grippers.values())

    def measured(self, arm: str) -> Array:
        """Joint positions (dof,) of an arm."""
        return self.world.joints().position[self.arms[arm].indices]

    def advance(self, steps: int) -> None:
        """Run so many control periods of ``CONTROL_S``; busy controllers act at the start of each."""
        done = 0
        while done < steps and self.busy:
            self._control()
            self.world.step(STEPS_PER_CONTROL)
            done += 1
        if done < steps:
            self.world.step((steps - done) * STEPS_PER_CONTROL)

    def reset(self, scene: Scene) -> None:
        """Start over with ``scene``: running goals are aborted, the arm is at home, the clock goes on."""
        self.world.reset(scene)
        position = self.world.joints().position
        for arm in self.arms.values():
            arm.controller.hold(position[arm.indices], "the world was reset")
        for gripper in self.grippers.values():
            gripper.controller.hold(float(position[gripper.indices[0]]))
        self._apply_forces()

    def _control(self) -> None:
        joints = self.world.joints()
        for arm in self.arms.values():
            if arm.controller.busy:
                q, qd = joints.position[arm.indices], joints.velocity[arm.indices]
                reference = arm.controller.update(q, qd, CONTROL_S)
                self.world.command(arm.indices, reference.position, reference.velocity)
        for gripper in self.grippers.values():
            if gripper.controller.busy:
                lead = gripper.indices[0]
                target = gripper.controller.update(
                    float(joints.position[lead]), float(joints.velocity[lead]), CONTROL_S
                )
                still = np.zeros(len(gripper.indices))
                self.world.command(gripper.indices, gripper.positions(target), still)
                self.world.limit_force(gripper.indices, gripper.forces())

        for cup in self.world.cups.values():
            if cup.on:
                cup.update(CONTROL_S)

    def _apply_forces(self) -> None:
        for gripper in self.grippers.values():
            self.world.limit_force(gripper.indices, gripper.forces())
