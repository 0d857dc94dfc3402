"""The controllers of a cell as a skill uses them: trajectories of an arm or a base, fingers, and suction cups."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.planning import ShouldStop, never_stop
from handiwork_core.contracts.ports import Gripper
from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.suction import SEAL_S, force_refused, no_seal
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, GripperSpec
from sim_bridge.mujoco.simulation import CONTROL_S

from .cell import LockStepCell


@dataclass(frozen=True)
class TrajectoryPort:
    """The trajectory controller of an arm, or of a mobile base.

    Attributes:
        cell: The cell.
        name: Name of the arm or of the base.
    """

    cell: LockStepCell
    name: str

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``.

        Args:
            trajectory: The motion.
            should_stop: Ends the motion when it turns true.
        """
        controller = self.cell.sim.arms[self.name].controller
        try:
            controller.start(TrajectoryGoal.of(trajectory), self.cell.sim.measured(self.name))
        except GoalRefused as refusal:
            return refusal.outcome
        # The goal's own end: an arm that yields to a wrench is busy also when its path is over.
        while (result := controller.result) is None:
            if should_stop():
                controller.stop(Ending.CANCELED, "stopped")
            self.cell.tick()
        if result.ending is Ending.SUCCEEDED:
            return OK
        if result.ending is Ending.CANCELED:
            return Outcome(Code.CANCELED, result.message)
        code = Code.CONTACT if result.code is ErrorCode.CONTACT else Code.PATH_TOLERANCE
        return Outcome(code, result.message)

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        self.cell.sim.arms[self.name].controller.hold(self.cell.sim.measured(self.name), "stopped")
        self.cell.sleep(0.3, should_stop=never_stop)
        return OK


@dataclass(frozen=True)
class FingersPort:
    """A gripper with fingers.

    Attributes:
        cell: The cell.
        gripper: The gripper.
    """

    cell: LockStepCell
    gripper: GripperSpec

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper.move``.

        Args:
            width_m: Opening, m.
            force_n: Force of the fingers, N; 0: that of the robot's file.
            should_stop: Ends the wait when it turns true.
        """
        axis = self.cell.sim.grippers[self.gripper.name]
        here = float(self.cell.sim.world.joints().position[axis.indices[0]])
        axis.controller.start(GripperGoal(self.gripper.position(width_m), force_n), here)
        while axis.controller.busy:
            if should_stop():
                return Outcome(Code.CANCELED, "stopped while the fingers moved")
            self.cell.tick()
        return OK


@dataclass(frozen=True)
class CupPort:
    """A suction cup.

    Attributes:
        cell: The cell.
        gripper: The gripper whose ``suction`` it is.
    """

    cell: LockStepCell
    gripper: GripperSpec

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """Switch the suction, as ``SuctionClient.move`` does over ROS.

        Args:
            width_m: The gripper's smallest width or less sucks, and fails without a seal; every other width releases.
                m.
            force_n: A cup has no fingers, so that each force above 0 is refused, N.
            should_stop: Ends the wait for a seal when it turns true.
        """
        if force_n != 0.0:
            return force_refused(self.gripper.name, force_n)
        cup = self.cell.sim.world.cups[self.gripper.name]
        cup.switch(on=width_m <= self.gripper.min_width_m)
        self.cell.forget_snapshot()
        if not cup.on:
            return OK
        cup.update(CONTROL_S)
        until_s = self.cell.now_s() + SEAL_S
        while not (state := cup.state(self.cell.now_s())).sealed:
            is_stopped = should_stop()
            if is_stopped or self.cell.now_s() > until_s:
                cup.switch(on=False)
                self.cell.forget_snapshot()
                return (
                    Outcome(Code.CANCELED, "stopped before there was a seal")
                    if is_stopped
                    else no_seal(state)
                )
            self.cell.tick()
        return OK


@dataclass(frozen=True)
class NoGripper:
    """The tool of an arm without one.

    Attributes:
        arm: Name of the arm.
    """

    arm: str

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """Refuse the goal; see ``Gripper.move``.

        Args:
            width_m: Not used.
            force_n: Not used.
            should_stop: Not used.
        """
        del width_m, force_n, should_stop
        return Outcome(Code.BAD_GOAL, f"arm {self.arm!r} has no gripper; choose an arm with one")


def tool_port(cell: LockStepCell, arm: ArmSpec) -> Gripper:
    """Return the port of an arm's tool.

    Args:
        cell: The cell.
        arm: The arm.
    """
    if arm.gripper is None:
        return NoGripper(arm.name)
    return FingersPort(cell, arm.gripper) if arm.gripper.suction is None else CupPort(cell, arm.gripper)
