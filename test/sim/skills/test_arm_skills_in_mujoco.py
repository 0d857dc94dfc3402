"""The skills that move a held object, with the CPU engine and physics; a whole task twice with one seed. No ROS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import Context, Skill, Token
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot, ToolFrame
from sim_bridge.mujoco.simulation import CONTROL_S
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.params.parsing import parameters_from_yaml
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN
from skill_server.task.model import Entry
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from skill_server.task.run import run_task
from skill_server.task.scope import Ports
from support.cells.simulated_cell import UNSUPERVISED, SimulatedCell
from support.paths import ROOT

CATALOG = load_catalog(BUILTIN, ())


class Bench:
    """A simulated cell that runs skills by name, as ``run_skill`` does."""

    def __init__(self, robot: Robot, engine: Any, scene: str) -> None:
        self.robot = robot
        self.cell = SimulatedCell(robot, engine, scene, 0)
        self.held: dict[str, Any] = {}

    def run(self, name: str, text: str) -> ExecutionResult:
        skill = CATALOG.find(name)
        return self.do(skill, parameters_from_yaml(skill, text, "", name), Token())

    def do(
        self, skill: Skill[Any], params: Any, token: Token, report: Any = lambda _progress: None
    ) -> ExecutionResult:
        cell = self.cell
        rng = np.random.default_rng(params.seed)
        ports = (cell, cell, cell, cell, cell)
        context = Context(self.robot, cell.spec, *ports, token, rng, params.seed, self.held, report)
        context.supervision = UNSUPERVISED
        return run_skill(skill, params, context)

    def good(self, name: str, text: str) -> None:
        run = self.run(name, text)
        assert run.outcome.ok, (name, run)

    def pose(self, name: str) -> Pose:
        return self.cell.snapshot().states[name].world_T_object


def test_arm_alone(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "tabletop")
    bench.good("goto__pose", "{position: [0.45, 0.1, 0.4], euler: [180, 0, 0], max_noise_m: 0.01}")
    bench.good("goto_pose", "{position: [0.5, -0.1, 0.45], filter_z_dir: [downward, 150]}")
    bench.good("goto_pose", "{position: [0.45, 0.0, 0.4], interp_nums: 3}")
    bench.good("move", "{delta_trans: [[0, 0, 0.05], [0, 0.1, 0.05]]}")
    bench.good("joint_ctrl", "{ctrl_list: [[fr3_joint7, -20, delta], [0, 10, abs]]}")
    bench.good("heuristic__skill", "{mode: rel_ee, value: [0.0, -0.05, 0.02]}")
    bench.good(
        "track",
        "{objects: [table], way_points_num: 2, way_points_trans: {min: [-0.1, -0.2, 0.35], max: [0, 0.2, 0.45]}}",
    )
    bench.good("gripper__action", "{gripper_state: -1}")
    bench.good("wait", "{wait_steps: 15}")
    bench.good("home", "{gripper_state: 1}")


def test_with_an_object_in_the_hand(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "tabletop")
    bench.good("pick", "{objects: [cube]}")
    bench.good("scan", "{objects: [cube]}")
    bench.good("goto_pose", "{position: [0.5, -0.1, 0.3], position_constraint: object}")
    assert bench.pose("cube").translation_m == pytest.approx([0.5, -0.1, 0.3], abs=0.015)
    bench.good(
        "rotate__obj",
        "{objects: [cube], rotate_obj_euler_delta: [[0, 0, 30], [0, 0, 40]], trans_offset: [0, 0, 0.05]}",
    )
    joint = "[6, 15, delta]"
    bench.good(
        "rotate_obj",
        f"{{object: cube, rotate_obj_euler_delta: [[0, 0, 5], [0, 0, 5]], ctrl_list: [{joint}]}}",
    )
    bench.good("approach__rotate", "{objects: [cube, bin], distance: 0.0, approach_axis: +x, z_offset: 0.0}")
    assert bench.pose("cube").translation_m[:2] == pytest.approx(
        bench.pose("bin").translation_m[:2], abs=0.02
    )
    bench.good("move", "{objects: [cube, bin], delta_trans: [[0, 0, -0.1]]}")
    bench.good("gripper_action", "{gripper_state: 1}")
    assert not bench.held
    assert bench.pose("cube").translation_m[:2] == pytest.approx(
        bench.pose("bin").translation_m[:2], abs=0.11
    )


def test_what_is_held_and_a_tool_frame_of_the_robot_follow_curves(robot: Robot, engine: Any) -> None:
    camera = ToolFrame("fr3_link8", Pose.of((0.06, 0.0, 0.03)))
    bench = Bench(replace(robot, tool_frames={"camera": camera}), engine, "tabletop")
    bench.good("pick", "{objects: [cube]}")
    corner = "{position: [0.5, -0.1, 0.3], blend_radius: 0.05}"
    bench.good(
        "goto_pose",
        f"{{position: [0.5, -0.25, 0.3], frame: world, tool: cube, motion: lin, waypoints: [{corner}]}}",
    )
    assert bench.pose("cube").translation_m == pytest.approx([0.5, -0.25, 0.3], abs=0.015)
    bench.good("goto_pose", "{position: [0.0, 0.0, 0.35], frame: bin, tool: camera}")
    q = bench.cell.snapshot().joints.position
    poses = link_poses(robot, q)
    seen = bench.cell.world_T_base() @ poses["fr3_link8"] @ camera.link_T_tool
    wanted = bench.pose("bin").apply((0.0, 0.0, 0.35))
    assert seen.translation_m == pytest.approx(wanted, abs=0.006)
    bench.good("goto_pose", "{position: [0.5, -0.1, 0.3], tool: cube, frame: world, gripper_state: 1}")


def test_ways_to_pick(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "tabletop")
    bench.good("fail_pick", "{objects: [cube]}")
    assert bench.pose("cube").translation_m[2] == pytest.approx(0.0225, abs=0.005)
    beside = (
        "adjust_trans_offset: [0, 0, 0.004], adjust_ori: [x, x, max], pre_grasp_offset_manual: [-0.03, 0, 0]"
    )
    bench.good("manualpick", f"{{objects: [cube], {beside}}}")
    bench.good("dexplace", "{objects: [cube, bin]}")
    bench.good("home", "")
    top = "[0, 0, 0.145, 0, 1, 0, 0]"
    bench.good("dexpick", f"{{object: can, pick_poses: [{top}]}}")


@pytest.mark.parametrize("seed", range(4))
def test_a_grasp_turned_by_hand_keeps_its_fingers_out_of_the_object(
    robot: Robot, engine: Any, seed: int
) -> None:
    bench = Bench(robot, engine, "tabletop")
    bench.cell = SimulatedCell(robot, engine, "tabletop", seed)
    bench.good("manualpick", "{objects: [cube], adjust_ori: [x, x, max]}")


def test_flipping(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "tabletop")
    bench.good("pick", "{objects: [cube]}")
    before = bench.pose("cube").rotation.matrix()[2]
    assert before == pytest.approx([0, 0, 1], abs=0.05)
    bench.good("flip", "{objects: [cube, table]}")
    assert bench.pose("cube").rotation.matrix()[2] == pytest.approx([0, 1, 0], abs=0.1)


@pytest.mark.parametrize("speed", [0.06, 0.12])
def test_picking_from_a_belt(robot: Robot, engine: Any, speed: float) -> None:
    bench = Bench(robot, engine, "belt")
    bench.cell.sim.world.belts.run("belt", BeltSpec((0.0, speed, 0.0)))
    bench.cell.sim.advance(round(0.5 / CONTROL_S))
    bench.good("dynamicpick", "{objects: [parcel]}")
    assert bench.pose("parcel").translation_m[2] > 0.08


def test_a_parcel_that_is_too_fast_is_refused_before_anything_moves(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "belt")
    bench.cell.sim.world.belts.run("belt", BeltSpec((0.0, 1.5, 0.0)))
    bench.cell.sim.world.data.joint("parcel").qvel[1] = 1.5
    run = bench.run("dynamicpick", "{objects: [parcel]}")
    assert run.outcome.code is Code.NO_CANDIDATE, run
    assert run.outcome.field_name == "pick_range"


FROM_THE_SIDE = "[{ee_axis: z, direction: downward, min_angle_deg: 60, max_angle_deg: 100}]"


def test_pouring(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "pouring")
    bench.good("pick", f"{{object: cup, orientation_filters: {FROM_THE_SIDE}}}")
    few = "objects: [cup, bowl], particles: ball_, particle_num_th_min: 4, height: 0.03"
    kept = bench.run("pour__water__succ", f"{{{few}, tilt_deg: 60}}")
    assert kept.outcome.code is Code.NOT_IN_PLACE
    assert "0 of 5 'ball_' are in 'bowl', 5 still in 'cup'" in kept.outcome.message, (
        "the cup is over the bowl"
    )
    run = bench.run("pour__water__succ", f"{{{few}, tilt_deg: 150}}")
    assert run.outcome.ok, run
    world = bench.cell.snapshot()
    for i in range(1, 6):
        assert world.states[f"ball_{i}"].world_T_object.translation_m[2] < 0.06


def test_a_task_with_one_seed_is_the_same_episode(robot: Robot, engine: Any) -> None:
    text = (ROOT / "config/tasks/tidy.yaml").read_text()
    ends = []
    for _ in range(2):
        bench = Bench(robot, engine, "tabletop")
        task = read_task(text, "tidy.yaml", Site(CATALOG, robot, bench.cell.snapshot()))

        def do(entry: Entry, token: Token, report: Any, bench: Bench = bench) -> ExecutionResult:
            return bench.do(entry.skill, entry.params, token, report)

        ports = Ports(do, bench.cell, lambda _arm: "")
        ended = run_task(task, {}, ports, Token(), lambda _progress: None)
        assert ended.outcome.ok, ended
        world = bench.cell.snapshot()
        poses = [world.states[name].world_T_object.matrix() for name in sorted(world.states)]
        ends.append((np.array(poses), np.array(list(world.joints.position.values())), world.stamp_s))
    for first, second in zip(*ends, strict=True):
        assert np.array_equal(first, second)
