"""``handiwork new-robot``: its output loads, covers the robot, and can be planned with."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from handiwork_cli.cli import main
from handiwork_core.contracts.planning import PlanRequest, PoseGoals, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine
from robot_description.formats.curobo_config import CuroboUse, curobo_config
from support.paths import DATA

pytestmark = pytest.mark.slow

URDF = DATA / "robots" / "bench_arm" / "bench_arm.urdf"
ARM = ["turn", "lift", "bend", "roll", "pitch", "yaw"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "bench_arm"
    assert main(["new-robot", str(URDF), "--out", str(folder), "--samples", "1000"]) == 0
    return folder


@pytest.fixture(scope="module")
def robot(folder: Path) -> Robot:
    return load_robot(folder)


def test_arm_and_gripper_are_those_of_the_urdf(robot: Robot) -> None:
    arm = robot.arm("bench_arm")
    assert list(arm.joint_names) == ARM
    assert (arm.base_link, arm.ee_link, arm.tcp_link) == ("base", "palm", "palm_tcp")
    gripper = arm.gripper
    assert gripper is not None
    assert (gripper.joint, gripper.ee_axis, gripper.closing_axis) == ("left_slide", 2, 1)
    assert gripper.finger_links == ("left_finger", "right_finger")
    assert gripper.width_per_joint == pytest.approx(2.0, abs=1e-3)
    assert gripper.max_width_m == pytest.approx(0.09, abs=1e-3)
    assert gripper.tcp_offset_m == pytest.approx(0.11)
    assert np.allclose(gripper.R_ee_graspnet @ (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert np.allclose(np.abs(gripper.R_ee_graspnet @ (0.0, 1.0, 0.0)), (0.0, 1.0, 0.0))


def test_every_link_with_a_shape_has_spheres(robot: Robot) -> None:
    shaped = {
        "base",
        "shoulder",
        "elbow",
        "forearm",
        "wrist_1",
        "wrist_2",
        "palm",
        "left_finger",
        "right_finger",
    }
    assert {item.link for item in robot.spheres} == shaped


def test_pairs_that_can_meet_stay_checked(robot: Robot) -> None:
    assert ("base", "palm") not in robot.ignored_pairs
    assert ("elbow", "palm") not in robot.ignored_pairs
    assert ("base", "shoulder") in robot.ignored_pairs


def test_the_cpu_engine_plans_with_it(robot: Robot) -> None:
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    home = np.array(robot.arm("").home_q)
    goal = home + (0.8, -0.3, 0.4, 0.2, -0.2, 0.3)
    request = PlanRequest("", home, PoseGoals((forward(robot, "", goal),)), SceneQuery())
    result = engine.plan(request, lambda: False)
    assert result.code is Code.OK, result.message
    assert result.trajectory is not None
    reached = forward(robot, "", result.trajectory.q[-1])
    assert reached.almost_equal(forward(robot, "", goal), within_m=0.002, within_rad=0.01)
    assert engine.validate("", result.trajectory, SceneQuery(), home).code is Code.OK


def test_the_report_tells_coverage_and_what_is_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = URDF.read_text(encoding="utf-8")
    short = tmp_path / "short.urdf"
    shutil.copy(URDF.parent / "elbow.obj", tmp_path)
    without_tcp = text[: text.index('  <joint name="tcp"')].replace('<link name="palm_tcp">\n  </link>', "")
    doubtful = without_tcp.replace('ixx="0.05" iyy="0.05"', 'ixx="0.05" iyy="0.2"')
    short.write_text(doubtful + "</robot>", encoding="utf-8")
    assert main(["new-robot", str(short), "--out", str(tmp_path / "out"), "--samples", "300"]) == 0
    printed = capsys.readouterr().out
    assert "assumed: arms.short_arm: short_tcp added" in printed
    assert "doubtful: link base: inertia with principal moments 0.05, 0.05, 0.2 kg*m^2 breaks" in printed
    assert "assumed: limits of turn, lift" in printed
    gripper = load_robot(tmp_path / "out").arm("").gripper
    assert gripper is not None
    assert gripper.tcp_offset_m == pytest.approx(0.11, abs=0.002)  # 10 mm behind the fingertips
    row = next(line.split() for line in printed.splitlines() if line.startswith("elbow"))
    assert int(row[1]) > 5
    assert float(row[2]) < 20.0


def test_a_folder_that_is_taken_is_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "robot.yaml").read_text(encoding="utf-8")
    assert main(["new-robot", str(URDF), "--out", str(folder)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (folder / "robot.yaml").read_text(encoding="utf-8") == before


def test_a_robot_without_an_arm_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    (tmp_path / "crate.urdf").write_text(f'<robot name="crate"><link name="a">{box}</link></robot>')
    assert main(["new-robot", str(tmp_path / "crate.urdf"), "--out", str(tmp_path / "out")]) == 2
    assert "no chain of four joints" in capsys.readouterr().err


def test_a_radius_without_a_cup_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-robot", str(URDF), "--cup-radius", "20", "--out", str(tmp_path / "out")]) == 2
    assert "--cup-radius: there is no cup; name its link by --suction" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_curobo_file_of_the_robot_gives_the_robot_back(robot: Robot, tmp_path: Path) -> None:
    made = curobo_config(robot, URDF, CuroboUse(("bench_arm",)))
    (tmp_path / "bench.yml").write_text(yaml.safe_dump(made), encoding="utf-8")
    words = ["--from-curobo", str(tmp_path / "bench.yml"), "--name", "bench_arm", "--samples", "50"]
    assert main(["new-robot", *words, "--out", str(tmp_path / "out")]) == 0
    again = load_robot(tmp_path / "out")
    ours, theirs = robot.arm(""), again.arm("")
    assert theirs.home_q.tolist() == ours.home_q.tolist()
    assert theirs.joint_names == ours.joint_names
    assert again.ignored_pairs == robot.ignored_pairs
    assert len(again.spheres) == len(robot.spheres)
    spheres = {item.link: item for item in again.spheres}
    for a in robot.spheres:
        b = spheres[a.link]
        assert np.allclose(a.centers, b.centers, atol=1e-9)
        assert np.allclose(a.radii, b.radii, atol=1e-5)
    for name in ARM:
        assert again.joints[name].acceleration == robot.joints[name].acceleration
        assert again.joints[name].jerk == robot.joints[name].jerk


XRDF = """
format: xrdf
format_version: 1.0
modifiers:
- set_base_frame: base
- add_frame: {frame_name: camera, parent_frame_name: palm}
default_joint_positions: {turn: 0.1, lift: 0.2, bend: -0.3}
cspace:
  joint_names: [turn, lift, bend, roll, pitch, yaw]
  acceleration_limits: [1, 2, 3, 4, 5, 6]
  jerk_limits: [10, 20, 30, 40, 50, 60]
tool_frames: [palm]
collision: {geometry: balls, buffer_distance: {elbow: 0.01}}
self_collision:
  geometry: balls
  buffer_distance: {base: 0.05}
  ignore: {base: [palm], elbow: [wrist_1, nothing]}
geometry:
  balls:
    spheres:
      base: [{center: [0, 0, 0.06], radius: 0.1}]
      elbow: [{center: [0, 0, 0.1], radius: 0.05}, {center: [0, 0, 0], radius: -0.02}]
      wrist_1: [{center: [0, 0, 0.03], radius: 0.05}]
      palm: [{center: [0, 0, 0.03], radius: 0.05}]
      camera: [{center: [0, 0, 0], radius: 0.05}]
"""


def test_an_xrdf_file_gives_spheres_pairs_limits_and_home(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bench.xrdf").write_text(XRDF, encoding="utf-8")
    words = ["--from-xrdf", str(tmp_path / "bench.xrdf"), "--urdf", str(URDF), "--out", str(tmp_path / "out")]
    assert main(["new-robot", *words, "--samples", "50"]) == 0
    robot, printed = load_robot(tmp_path / "out"), capsys.readouterr().out
    assert [item.link for item in robot.spheres] == ["base", "elbow", "wrist_1", "palm"]
    assert robot.spheres[1].radii.tolist() == [0.06]
    assert robot.arm("").home_q.tolist() == [0.1, 0.2, -0.3, 0.0, 0.0, 0.0]
    assert [robot.joints[name].jerk for name in ARM] == [10, 20, 30, 40, 50, 60]
    assert robot.ignored_pairs == {("base", "palm"), ("elbow", "wrist_1")}
    missing = [line for line in printed.splitlines() if line.startswith("missing: ")]
    left_out = (
        "modifier add_frame",
        "self_collision.buffer_distance",
        "spheres.camera: no such link",
        "1 without a",
    )
    for words in left_out:
        assert sum(words in line for line in missing) == 1, missing


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format: xrdf", "format: urdf", ["format: is 'urdf'"]),
        ("[1, 2, 3, 4, 5, 6]", "[1, 2]", ["cspace.acceleration_limits", "write 6 numbers"]),
        ("radius: 0.1}", "radius: wide}", ["spheres.base[0]", "radius in metres"]),
        ("geometry: balls, b", "geometry: cubes, b", ["collision.geometry: 'cubes' has no spheres"]),
        ("tool_frames: [palm]", "tool_frames: [plam]", ["tool frames: 'plam' is not in the URDF", "'palm'"]),
        (
            "[turn, lift, bend, roll",
            "[trun, lift, bend, roll",
            ["joints: 'trun' is not in the URDF", "'turn'"],
        ),
    ],
)
def test_a_fault_of_an_xrdf_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, words: list[str]
) -> None:
    assert old in XRDF
    (tmp_path / "bench.xrdf").write_text(XRDF.replace(old, new, 1), encoding="utf-8")
    out = tmp_path / "out"
    assert (
        main(
            ["new-robot", "--from-xrdf", str(tmp_path / "bench.xrdf"), "--urdf", str(URDF), "--out", str(out)]
        )
        == 2
    )
    printed = capsys.readouterr().err
    assert all(word in printed for word in words), printed
    assert not out.exists()
