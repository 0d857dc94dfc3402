"""A simulated cell whose objects are moved while the arm follows a motion."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from sim_bridge.mujoco.simulation import CONTROL_S
from support.cells.simulated_cell import SimulatedCell

STEPS = 5


class NudgedCell(SimulatedCell):
    """Brakes as the controller does, and calls ``act`` once in the motion ``number``, after a share of its time."""

    def __init__(self, robot: Robot, engine: Any, scene_name: str, seed: int) -> None:
        super().__init__(robot, engine, scene_name, seed)
        self.followed, self.number, self.share = 0, 0, 0.5
        self.act: Callable[[], None] = lambda: None

    def on_motion(self, number: int, share: float, act: Callable[[], None]) -> None:
        """Call ``act`` in a motion, counted from now on."""
        self.followed, self.number, self.share, self.act = 0, number, share, act

    def follow(self, trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        controller = self.sim.arms[self.spec.name].controller
        goal = TrajectoryGoal(trajectory.joint_names, trajectory.t_s, trajectory.q, trajectory.qd)
        controller.start(goal, self.sim.measured(self.spec.name))
        self.followed += 1
        is_due, is_braking = self.followed == self.number, False
        while controller.busy:
            self.sim.advance(STEPS)
            if is_due and controller.path_s > self.share * trajectory.duration_s:
                is_due = False
                self.act()
            if not is_braking and should_stop():
                is_braking = True
                controller.stop(Ending.CANCELED, "stopped")
            # This simulation and this engine have one thread only.
            for thread in threading.enumerate():
                if thread.name.startswith("choice-ahead"):
                    thread.join(60.0)
        result = controller.result
        assert result is not None
        if result.ending is Ending.CANCELED:
            return Outcome(Code.CANCELED, "stopped")
        return OK if result.ending is Ending.SUCCEEDED else Outcome(Code.PATH_TOLERANCE, str(result))

    def put(self, name: str, by: tuple[float, float, float], turn_rad: float = 0.0) -> None:
        """Put an object elsewhere, at rest."""
        pose = self.sim.world.object_states()[name].world_T_object
        turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), turn_rad)
        self.sim.world.set_object_pose(name, Pose.of(pose.translation_m + by, turn @ pose.rotation))

    def push(self, name: str, velocity: tuple[float, float, float]) -> None:
        """Give an object a velocity."""
        pose = self.sim.world.object_states()[name].world_T_object
        self.sim.world.set_object_state(name, pose, np.array(velocity), np.zeros(3))

    def ride(self, name: str, place: tuple[float, float, float], speed: float) -> None:
        """Put an object onto the belt of the scene, which carries it along y."""
        self.sim.world.set_object_pose(name, Pose.of(place))
        self.sim.world.belts.run("belt", BeltSpec((0.0, speed, 0.0)))
        self.sim.advance(int(0.4 / CONTROL_S))
