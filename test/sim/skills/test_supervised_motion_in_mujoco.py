"""A wall is put before a moving arm, with real physics and the real engine: the arm brakes and touches nothing."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import PathRest, SceneQuery
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.supervision import SUPERVISED
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from sim_bridge.mujoco.spawning import Resource, read_object, with_object
from skill_server.execution.run import run_skill
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from support.cells.simulated_cell import SimulatedCell

WALL = "{static: true, shapes: [{type: box, size: [0.5, 0.02, 0.5]}]}"
BLOCK = "{static: true, shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}"
RIGHT, LEFT = (0.45, -0.35, 0.35), (0.45, 0.35, 0.35)


class WatchedCell(SimulatedCell):
    """Brakes as the controller does, lets checks end before it goes on, and records the bodies that touch the robot."""

    def start_watch(self, text: str, place: tuple[float, float, float]) -> None:
        self.text, self.place, self.version = text, place, 1
        self.force_n, self.brakes, self.put_s, self.brake_s = 0.0, 0, -1.0, -1.0

    def snapshot(self) -> World:
        self.newest = replace(super().snapshot(), version=getattr(self, "version", 1))
        return self.newest

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: Any
    ) -> Any:
        self.engine.update_world(self.newest)
        return self.engine.validate(arm, trajectory, scene, np.zeros(0), rest)

    def follow(self, trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        controller = self.sim.arms[self.spec.name].controller
        goal = TrajectoryGoal(trajectory.joint_names, trajectory.t_s, trajectory.q, trajectory.qd)
        controller.start(goal, self.sim.measured(self.spec.name))
        is_braking = False
        while controller.busy:
            self.sim.advance(5)
            self._note_touches()
            if self.put_s < 0.0 and self.text and controller.path_s > 0.3 * trajectory.duration_s:
                self._put()
            if not is_braking and should_stop():
                is_braking, self.brake_s = True, self.now_s()
                self.brakes += 1
                controller.stop(Ending.CANCELED, "stopped")
            for thread in threading.enumerate():
                if thread.name == "path-check":
                    thread.join(20.0)
        result = controller.result
        assert result is not None
        if result.ending is Ending.CANCELED:
            return Outcome(Code.CANCELED, "stopped")
        return OK if result.ending is Ending.SUCCEEDED else Outcome(Code.PATH_TOLERANCE, str(result))

    def _put(self) -> None:
        item = read_object(Resource("", self.text), "wall", Path(__file__).parent, DataRoots(()))
        item = replace(item, world_T_object=Pose.of(self.place))
        self.sim.world.change(with_object(self.sim.world.scene, item))
        self.objects = {**self.objects, "wall": item.body}
        self.version, self.put_s = 2, self.now_s()

    def _note_touches(self) -> None:
        for touch in self.sim.world.contacts():
            bodies = {touch.a, touch.b}
            if "wall" in bodies and any(body.startswith("fr3/") for body in bodies):
                self.force_n = max(self.force_n, float(np.linalg.norm(touch.force_on_a_n)))


def swept(robot: Any, engine: Any, text: str, place: tuple[float, float, float], *, is_on: bool) -> Any:
    """Go from one side to the other while an object is put at ``place``; return the cell and the outcome."""
    cell = WatchedCell(robot, engine, "tabletop", 0)
    cell.start_watch("", place)
    context = cell.context(0)
    assert run_skill(GotoPose(), GotoPoseParams(position=RIGHT), context).outcome.ok
    cell.start_watch(text, place)
    context = cell.context(0)
    context.supervision = replace(SUPERVISED, is_on=is_on)
    way = GotoPoseParams(position=LEFT, max_velocity_scaling_factor=0.3)
    outcome = run_skill(GotoPose(), way, context).outcome
    assert cell.put_s > 0.0, outcome
    return cell, outcome


@pytest.mark.parametrize("is_on", [False, True])
def test_a_wall_put_across_the_way_is_touched_only_without_supervision(
    robot: Any, engine: Any, is_on: bool
) -> None:
    cell, outcome = swept(robot, engine, WALL, (0.45, 0.06, 0.25), is_on=is_on)
    if not is_on:
        # Then only the safety layer is left, which notices the wall by the contact.
        assert "presses with" in outcome.message, outcome
        return
    assert cell.force_n == 0.0
    assert cell.brakes >= 1
    assert cell.brake_s - cell.put_s < 0.1, "in time of the world"
    assert outcome.code in (Code.OK, Code.PATH_BLOCKED), outcome


def test_a_goal_that_gets_blocked_on_the_way_names_what_blocks_it(robot: Any, engine: Any) -> None:
    cell, outcome = swept(robot, engine, BLOCK, LEFT, is_on=True)
    assert cell.force_n == 0.0
    assert outcome.code is Code.PATH_BLOCKED, outcome
    assert outcome.blocking is not None and "wall" in outcome.blocking
    assert outcome.stage and "the arm braked" in outcome.message


def test_a_block_far_away_stops_nothing(robot: Any, engine: Any) -> None:
    cell, outcome = swept(robot, engine, BLOCK, (1.5, 1.2, 0.3), is_on=True)
    assert outcome.ok, outcome
    assert cell.brakes == 0
