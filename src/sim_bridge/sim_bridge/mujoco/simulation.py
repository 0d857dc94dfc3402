"""World and controllers together, advanced step by step. No ROS, no threads."""

from __future__ import annotations

from functools import partial

import numpy as np

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.admittance.rule import AdmittanceRule
from handiwork_core.control.joint_groups import (
    JointArrays,
    any_busy,
    arm_axes,
    gripper_axes,
)
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_core.safety.supervisor import SafetySupervisor
from handiwork_core.scene.loader import Scene
from sim_bridge.mujoco.cup_slip import CupSlip
from sim_bridge.mujoco.world import MujocoWorld
from sim_bridge.mujoco.world_model import STEP_S

STEPS_PER_CONTROL = 2
"""The number of physics steps in a control period: controllers run at 500 Hz."""

CONTROL_S = STEPS_PER_CONTROL * STEP_S


class Simulation:
    """Robot, scene and controllers.

    A mobile base follows trajectories as an arm does, and is among the arms.

    Attributes:
        robot: The robot.
        declared: The scene as it was read, to which a reset returns.
        world: The simulated world.
        arms: Arms by the names in the robot's YAML.
        grippers: Grippers by the names in the robot's YAML.
        safety: Supervises the controllers' references before they are commanded.

    Args:
        robot: The robot.
        scene: The objects, and the pose of the robot.
        safety: Limits; None for the defaults.
        sleeps: Bodies at rest are not computed until one that moves touches them.
        slip: How objects slide under the lips of suction cups; None: not at all.
    """

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        safety: SafetyConfig | None = None,
        *,
        sleeps: bool = False,
        slip: CupSlip | None = None,
    ) -> None:
        self.robot = robot
        self.declared = scene
        self.world = MujocoWorld(robot, scene, sleeps=sleeps, slip=slip)
        start = self.world.joints().position
        self.arms = arm_axes(robot, self.world.joint_names, start)
        for name, arm in robot.arms.items():
            controller = self.arms[name].controller
            controller.measure_force = partial(self.force, name)
            joints, measure = controller.limits, partial(self.wrench, name)
            controller.admittance = AdmittanceRule(
                ArmKinematics(robot, arm), measure, joints.velocity, joints.acceleration
            )
        self.grippers = gripper_axes(robot, self.world.joint_names, start)
        limits = safety or SafetyConfig()
        self.safety = SafetySupervisor(
            robot, self.world.joint_names, self.arms, self.grippers, start, limits, scene.world_T_base
        )
        self.apply_forces()

    @property
    def busy(self) -> bool:
        """True while any controller works, the safety layer stops the arms, or a cup is on."""
        works = any_busy(self.arms, self.grippers) or self.safety.is_active
        return works or any(cup.on for cup in self.world.cups.values())

    def joints(self) -> JointArrays:
        """Return the measured joints in the order of ``world.joint_names``, as copies."""
        return self.world.joints()

    def measured(self, arm: str) -> Array:
        """Return the measured joint positions of an arm, (dof,), rad or m.

        Args:
            arm: Name of the arm.
        """
        return self.world.joints().position[self.arms[arm].indices]

    def force(self, arm: str) -> Array:
        """Return the force of the surroundings on an arm's tool in its EE frame, (3,), N; see ``ForceSensor``.

        Args:
            arm: Name of the arm.
        """
        return self.world.force_sensors[arm].wrench()[0]

    def wrench(self, arm: str) -> Array:
        """Return the wrench of the surroundings on an arm's tool in its EE frame, (6,), N and Nm.

        Args:
            arm: Name of the arm.
        """
        return np.concatenate(self.world.force_sensors[arm].wrench())

    def advance(self, steps: int) -> None:
        """Advance by control periods of ``CONTROL_S``; busy controllers run at the start of each.

        Args:
            steps: Number of control periods.
        """
        done = 0
        while done < steps and self.busy:
            self._control()
            self.world.step(STEPS_PER_CONTROL)
            done += 1
        if done < steps:
            self.world.step((steps - done) * STEPS_PER_CONTROL)

    def reset(self, scene: Scene, home_seed: int | None = None) -> None:
        """Start again with ``scene``: running goals are aborted, the arms are at home, the clock continues.

        Args:
            scene: The scene.
            home_seed: Seed of the arms' positions, which are drawn by ``home_std``; None for home itself.
        """
        self.world.reset(scene, home_seed)
        self._hold("the world was reset")

    def continue_from(self, before: Simulation) -> None:
        """Continue with the time, the objects and the joints of another simulation; other joints stay at home.

        Args:
            before: A simulation of the same scene, whose robot may be another one with the same joints in its arms.
        """
        self.declared = before.declared
        self.world.continue_from(before.world)
        self._hold("the robot was exchanged")

    def _hold(self, reason: str) -> None:
        """Hold the joints where they are measured; running goals end with a reason."""
        position = self.world.joints().position
        for arm in self.arms.values():
            arm.controller.hold(position[arm.indices], reason)
        for gripper in self.grippers.values():
            gripper.controller.hold(float(position[gripper.indices[0]]))
        self.safety.reset(position, self.world.time_s)
        self.apply_forces()

    def _control(self) -> None:
        joints, safety = self.world.joints(), self.safety
        commanded = [arm for arm in self.arms.values() if arm.controller.busy]
        if not safety.commands_all:
            for arm in commanded:
                q, qd = joints.position[arm.indices], joints.velocity[arm.indices]
                arm.controller.update(q, qd, CONTROL_S)
        if commanded or safety.is_active:
            safety.control(joints, self.world.arm_forces(), CONTROL_S)
        for arm in self.arms.values() if safety.commands_all else commanded:
            self.world.command(arm.indices, safety.command[arm.indices], safety.rate[arm.indices])
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

    def apply_forces(self) -> None:
        """Set the force limits of all fingers' servos to those of their controllers."""
        for gripper in self.grippers.values():
            self.world.limit_force(gripper.indices, gripper.forces())
