"""The files have the same content after reading as before, and the robots and motions are those of the files."""

from __future__ import annotations

import json
import lzma

import numpy as np
import pytest
from benchmarks.mbm.problems import SCENES, load_problems
from benchmarks.mbm.referee import Referee
from benchmarks.mbm.sphere_robot import DATA, MOTION, load_sphere_robot
from benchmarks.mbm.urdf_text import roll_pitch_yaw, write_srdf
from scipy.linalg import expm

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.urdf import read_urdf


def raw(robot: str) -> dict:
    """Return the content of a robot's file.

    Args:
        robot: Name of the robot.
    """
    return json.loads(lzma.decompress((DATA / f"{robot}.json.xz").read_bytes()))


@pytest.mark.parametrize(("robot", "count"), [("panda", 349), ("ur5", 347)])
def test_every_scene_type_and_all_valid_problems_load(robot, count):
    problems = load_problems(robot)
    assert len(problems) == count
    assert tuple(dict.fromkeys(p.scene for p in problems)) == SCENES
    assert [p.id for p in load_problems(robot, per_scene=2)] == [
        p.id for scene in SCENES for p in load_problems(robot, [scene], per_scene=2)
    ]


@pytest.mark.parametrize("robot", MOTION)
def test_bodies_stand_where_the_file_puts_them(robot):
    written = {item["id"]: item for items in raw(robot)["scenes"].values() for item in items}
    for problem in load_problems(robot, per_scene=3):
        item, seen = written[problem.id], set()
        for group, bodies in item["obstacles"].items():
            for name, body in bodies.items():
                seen.add(name)
                (shape,) = problem.world.objects[name].shapes
                size = body.get("dims") or [
                    body["radius"],
                    *([body["height"]] if group == "cylinder" else []),
                ]
                np.testing.assert_array_equal(shape.size, size)
                place = problem.world.states[name].world_T_object @ shape.object_T_shape
                np.testing.assert_allclose(place.translation_m, body["pose"][:3], atol=1e-15)
                assert abs(place.rotation.wxyz @ body["pose"][3:]) == pytest.approx(1.0, abs=1e-9)
        assert seen == set(problem.world.objects)
        np.testing.assert_array_equal(problem.start, item["start"])
        np.testing.assert_array_equal(problem.goals, item["goal_configs"])


@pytest.mark.parametrize("robot", MOTION)
def test_clearances_agree_with_those_of_another_program(robot):
    loaded = load_sphere_robot(robot)
    referee = Referee(loaded.robot, loaded.world_T_root)
    for problem in load_problems(robot, per_scene=8):
        for name, q in (("start", problem.start[None]), ("goal", problem.goals)):
            expected = [problem.clearance[f"{name}_world"], problem.clearance[f"{name}_self"]]
            np.testing.assert_allclose(
                referee.clearance(q, problem.world), expected, atol=6e-6
            )  # the file's digits


@pytest.mark.parametrize("robot", MOTION)
def test_forward_kinematics_equals_a_product_of_exponentials(robot):
    content = json.loads((DATA / f"{robot}_robot.json").read_text())
    loaded, rng = load_sphere_robot(robot), np.random.default_rng(0)
    zero, twists, up = zero_poses(content), [], {f["name"]: f["parent"] for f in content["frames"]}
    for frame in content["frames"]:
        if frame["joint"] >= 0:
            axis = zero[frame["name"]][:3, :3] @ frame["axis"]
            twist = np.zeros((4, 4))
            twist[:3, :3] = [[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]]
            twist[:3, 3] = -twist[:3, :3] @ zero[frame["name"]][:3, 3]
            twists.append((frame["joint"], twist))
    assert up[MOTION[robot].ee_link]
    for q in rng.uniform(-3.0, 3.0, (20, len(content["joint_names"]))):
        expected = np.eye(4)
        for joint, twist in twists:
            expected = expected @ expm(twist * q[joint])
        expected = expected @ zero[MOTION[robot].ee_link]
        actual = (loaded.world_T_base @ forward(loaded.robot, "", q)).matrix()
        np.testing.assert_allclose(actual, expected, atol=1e-9)


def zero_poses(content: dict) -> dict[str, np.ndarray]:
    """Return the frames' poses at zero joint positions, (4, 4) each, by name.

    Args:
        content: Content of a robot's file.
    """
    poses = {"": np.eye(4)}
    for frame in content["frames"]:
        poses[frame["name"]] = poses[frame["parent"]] @ np.vstack([frame["T"], [0.0, 0.0, 0.0, 1.0]])
    return poses


@pytest.mark.parametrize("robot", MOTION)
def test_goals_stand_at_their_poses(robot):
    loaded = load_sphere_robot(robot)
    referee = Referee(loaded.robot, loaded.world_T_root)
    for problem in load_problems(robot, per_scene=3):
        assert referee.reaches(problem.goals[0], problem.world_T_ee)
        assert not referee.reaches(problem.goals[0] + 0.02, problem.world_T_ee)


def test_the_ur5_stands_on_its_pedestal():
    base = load_sphere_robot("ur5").world_T_base
    np.testing.assert_allclose(base.translation_m, [0.0, 0.0, 0.9144])
    assert base.rotation.angle_to(Rotation.identity()) == pytest.approx(1.57, abs=1e-6)


def test_pairs_to_check_are_those_of_the_file(sphere_robot):
    robot = sphere_robot.robot
    content = json.loads((DATA / f"{robot.name}_robot.json").read_text())
    links = [s.link for s in robot.spheres]
    checked = {frozenset((a, b)) for a in links for b in links if a < b and (a, b) not in robot.ignored_pairs}
    assert checked == {frozenset(pair) for pair in content["self_pairs"]}
    assert sum(len(s.radii) for s in robot.spheres) == len(content["spheres"])


def test_a_urdf_of_the_robot_reads_back_as_the_same_robot(sphere_robot, tmp_path):
    robot = sphere_robot.robot
    model = read_urdf(robot.urdf, tmp_path / "robot.urdf")
    assert model.links[0] == robot.root_link
    for name, joint in robot.joints.items():
        again = model.joints[name]
        np.testing.assert_allclose(again.parent_T_joint.matrix(), joint.parent_T_joint.matrix(), atol=1e-9)
        assert (again.lower, again.upper, again.velocity) == (joint.lower, joint.upper, joint.velocity)
    assert robot.urdf.count("<sphere") == sum(len(s.radii) for s in robot.spheres)
    assert write_srdf(robot).count("<disable_collisions") == len(robot.ignored_pairs)


@pytest.mark.parametrize("pitch", [0.3, np.pi / 2, -np.pi / 2])
def test_roll_pitch_yaw_is_the_opposite_of_from_rpy(pitch):
    turn = Rotation.from_rpy(0.4, pitch, -1.1)
    again = Rotation.from_rpy(*roll_pitch_yaw(Pose.of((0.0, 0.0, 0.0), turn)))
    np.testing.assert_allclose(again.matrix(), turn.matrix(), atol=1e-7)


def test_strange_names_are_refused_with_those_that_there_are():
    with pytest.raises(KeyError, match="cage"):
        load_problems("panda", ["attic"])
    with pytest.raises(KeyError, match="ur5"):
        load_sphere_robot("ur6")
