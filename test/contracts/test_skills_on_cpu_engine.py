"""Pick and place on the CPU engine in the tabletop scene, without physics: choice, plans and validation."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_cli.cli import main
from handiwork_core.contracts.planning import (
    CandidatesRequest,
    PathRest,
    PlanRequest,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context, Skill, Token
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    World,
)
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.motion.heuristic_skill import HeuristicSkill, HeuristicSkillParams
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.paths import ROBOTS, ROOT

ZERO = np.zeros(3)


class Cell:
    """World, clock, arm and gripper at once: motions are exact, a closing hand takes the cube."""

    def __init__(self, robot: Robot, engine: Any, seed: int) -> None:
        self.robot, self.engine, self.spec = robot, engine, robot.arm("")
        scene = load_scene(ROOT / "config/scenes/tabletop.yaml")
        items = scene.randomized(seed).objects
        self.base = scene.world_T_base
        self.objects = {item.body.name: item.body for item in items}
        self.poses = {item.body.name: item.world_T_object for item in items}
        self.q: Array = np.array(self.spec.home_q)
        self.width, self.time, self.held = 0.08, 1.0, False
        self.hand_T_cube = Pose.identity()

    def now_s(self) -> float:
        return self.time

    def sleep(self, seconds: float, *, should_stop: Any) -> None:
        self.time += seconds

    def world_T_base(self) -> Pose:
        return self.base

    def hand(self) -> Pose:
        return self.base @ forward(self.robot, self.spec.name, self.q)

    def snapshot(self) -> World:
        assert self.spec.gripper is not None
        fingers = self.spec.gripper.finger_links if self.held else ()
        contacts = tuple(Contact(f"{self.robot.name}/{link}", "cube", ZERO, ZERO) for link in fingers)
        position = dict(zip(self.spec.joint_names, self.q.tolist(), strict=True))
        position[self.spec.gripper.joint] = self.width / self.spec.gripper.width_per_joint
        states = {name: ObjectState(pose, ZERO, ZERO, self.time) for name, pose in self.poses.items()}
        return World(self.time, 1, self.objects, states, contacts, self.time, JointState(self.time, position))

    def plan(self, request: PlanRequest, *, should_stop: Any) -> Any:
        self.engine.update_world(self.snapshot())
        return self.engine.plan(request, should_stop)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> Any:
        self.engine.update_world(self.snapshot())
        return self.engine.check_candidates(request, should_stop)

    def validate(self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: Any) -> Any:
        return self.engine.validate(arm, trajectory, scene, self.q)

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: Any
    ) -> Any:
        self.engine.update_world(self.snapshot())
        return self.engine.validate(arm, trajectory, scene, self.q, rest)

    def follow(self, trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        self.time += trajectory.duration_s
        self.q = np.array(trajectory.q[-1])
        if self.held:
            self.poses["cube"] = self.hand() @ self.hand_T_cube
        return OK

    def stop(self) -> Outcome:
        return OK

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: Any) -> Outcome:
        closing = width_m < self.width
        tcp = self.hand().apply((0.0, 0.0, 0.1034))
        near = float(np.linalg.norm(tcp - self.poses["cube"].translation_m)) < 0.02
        self.width = 0.045 if closing and near else width_m
        if closing and near:
            self.held, self.hand_T_cube = True, self.hand().inverse() @ self.poses["cube"]
        elif not closing:
            self.held = False
        return OK


def context(cell: Cell, seed: int) -> Context:
    rng = np.random.default_rng(seed)
    return Context(cell.robot, cell.spec, cell, cell, cell, cell, cell, Token(), rng, seed, {})


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Any:
    made = CpuEngine(
        robot, load_scene(ROOT / "config/scenes/tabletop.yaml").world_T_base, lambda _part, _what: None
    )
    yield made
    made.close()


@pytest.mark.parametrize("seed", range(6))
def test_pick_and_place(robot: Robot, engine: Any, seed: int) -> None:
    cell = Cell(robot, engine, seed)
    chosen = context(cell, seed)
    run = run_skill(Pick(), PickParams(object="cube", seed=seed), chosen)
    assert run.outcome.ok, run
    run = run_skill(Place(), PlaceParams(container="bin", seed=seed), replace(chosen, planning_time_s=0.0))
    assert run.outcome.ok, run


def written_skill(folder: Path) -> tuple[Skill[Any], Any]:
    """Return the skill that ``handiwork new-skill`` writes, which goes over the cube, and its parameters."""
    assert main(["new-skill", "leave", "--into", str(folder)]) == 0
    path = folder / "skill_leave/skill_leave/leave.py"
    spec = importlib.util.spec_from_file_location("skill_leave_in_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    skill = module.Leave()
    return skill, skill.params_type(object="cube", height=0.1)


LEAVING: dict[str, Callable[[Path], tuple[Skill[Any], Any]]] = {
    "home": lambda _folder: (Home(), HomeParams()),
    "goto_pose": lambda _folder: (GotoPose(), GotoPoseParams(position=(0.45, 0.0, 0.45))),
    "heuristic_skill": lambda _folder: (HeuristicSkill(), HeuristicSkillParams(mode="home")),
    "new-skill": written_skill,
}


@pytest.mark.parametrize("name", LEAVING)
def test_an_arm_in_contact_leaves_what_its_goal_ignores(
    name: str, robot: Robot, engine: Any, tmp_path: Path
) -> None:
    skill, params = LEAVING[name](tmp_path)
    cell = Cell(robot, engine, 0)
    start = np.array(cell.spec.home_q)
    start[0] += 0.6
    cell.q = start.copy()
    cell.poses["cube"] = cell.hand()
    refused = run_skill(skill, params, context(cell, 0)).outcome
    assert refused.code in (Code.START_IN_COLLISION, Code.NO_CANDIDATE), refused
    assert np.array_equal(cell.q, start)
    left = run_skill(skill, replace(params, ignore_substring=("cub",)), context(cell, 0)).outcome
    assert left.ok, left
