"""What makers publish is taken as it is: continuous joints, xacros with arguments, one jaw, foreign elements."""

from __future__ import annotations

import math
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from handiwork_cli.cli import main
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.mesh_paths import package_folders
from handiwork_core.robot.robot import Robot
from handiwork_core.robot.urdf import UrdfModel, read_urdf
from handiwork_core.robot_files.loader import expand, load_robot
from handiwork_core.scene.mesh_file import surface_mesh
from robot_description.import_robot.gripper_facts import rising
from robot_description.import_robot.gripper_frames import AddedFrame, with_own_frames
from robot_description.import_robot.gripper_survey import measure_gripper
from robot_description.import_robot.new_robot_arms import points_of
from robot_description.import_robot.output_files.portable_urdf import PortableUrdf
from robot_description.import_robot.survey import find_arms
from robot_description.solids.link_solids import link_solids
from support.paths import DATA

BENCH = DATA / "robots" / "bench_arm" / "bench_arm.urdf"
BOX = '<collision><origin xyz="{0}"/><geometry><box size="{1}"/></geometry></collision>'


def link(name: str, *boxes: tuple[str, str]) -> str:
    return f'<link name="{name}">{"".join(BOX.format(*box) for box in boxes)}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>' if kind == "revolute" else ""
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{limit}{more}</joint>'


# The hand points down its -z; the fixed jaw is at -y, and the moving one turns about x.
JAW_ARM = "".join(
    [
        '<robot name="jaw">',
        link("base"),
        *(link(f"l{i}") for i in range(1, 5)),
        link("hand", ("0 0 -0.02", "0.04 0.04 0.04"), ("0 -0.01 -0.07", "0.02 0.005 0.06")),
        link("moving_jaw", ("0 0 -0.04", "0.02 0.005 0.08")),
        link("gripper_frame_link"),
        *(joint(f"j{i}", f"l{i - 1}" if i > 1 else "base", f"l{i}") for i in range(1, 5)),
        joint("wrist_roll", "l4", "hand"),
        '<joint name="gripper" type="revolute"><origin xyz="0 0.005 -0.02"/><parent link="hand"/>'
        '<child link="moving_jaw"/><axis xyz="1 0 0"/><limit lower="0" upper="1.2" velocity="1" effort="1"/></joint>',
        joint("frame", "hand", "gripper_frame_link", "fixed", '<origin xyz="0 0 -0.09"/>'),
        "</robot>",
    ]
)


def model_of(text: str) -> UrdfModel:
    return read_urdf(text, Path("it.urdf"))


def test_a_jaw_is_no_joint_of_the_arm_and_its_opening_is_measured() -> None:
    model, root = model_of(JAW_ARM), ET.fromstring(JAW_ARM)
    (arm,) = find_arms(model)
    assert arm.joints == ("j1", "j2", "j3", "j4", "wrist_roll")
    assert (arm.ee_link, arm.tcp_link) == ("hand", "gripper_frame_link")
    assert arm.gripper is not None and arm.gripper.joint == "gripper"
    robot = Robot("jaw", "base", model.links, model.joints, (), frozenset(), {}, JAW_ARM)
    links = (*arm.gripper.links, *arm.gripper.fixed_links)
    points = {
        name: points_of(link_solids(root, name, Path())) for name in links if name != "gripper_frame_link"
    }
    facts = measure_gripper(robot, arm, arm.gripper, points)
    assert facts.finger_links == ("moving_jaw", "hand")
    q, width = facts.rows[0]
    assert (q, width) == pytest.approx((0.0, 0.01), abs=0.001)  # from -0.0075 to 0.0025
    q, width = facts.rows[-1]
    # The bar's inner edge at 2 cm from its end, when it has turned by q about its joint.
    assert width == pytest.approx(0.0125 - 0.0025 * math.cos(q) + 0.06 * math.sin(q), abs=0.004)
    own, turned, frames = with_own_frames("jaw_arm", arm, facts, model.links)
    assert (own.ee_link, own.tcp_link) == ("jaw_ee", "jaw_tcp")
    hand_T_tcp = frames[0].parent_T_frame @ frames[1].parent_T_frame
    assert np.allclose(hand_T_tcp.rotation.matrix()[:, 2], (0.0, 0.0, -1.0), atol=0.01)
    assert np.allclose(np.abs(hand_T_tcp.rotation.matrix()[:, 1]), (0.0, 1.0, 0.0), atol=0.01)
    assert -0.1 < hand_T_tcp.translation_m[2] < -0.07
    assert (turned.ee_axis, turned.closing_axis) == (2, 1)


def test_an_own_frame_is_where_the_urdf_gets_it() -> None:
    model = model_of(JAW_ARM)
    (arm,) = find_arms(model)
    assert arm.gripper is not None
    portable = PortableUrdf(JAW_ARM, Path("it.urdf"))
    pose = Pose.of((0.1, 0.2, 0.3), Rotation.from_rpy(0.3, -0.4, 2.0))
    portable.add([AddedFrame("own", "hand", pose)])
    after = model_of(portable.text)
    robot = Robot("jaw", "base", after.links, after.joints, (), frozenset(), {}, portable.text)
    poses = link_poses(robot, {})
    assert (poses["hand"].inverse() @ poses["own"]).almost_equal(pose, within_m=1e-7, within_rad=1e-6)


def test_continuous_joints_get_two_turns_and_a_named_speed() -> None:
    text = JAW_ARM.replace(joint("j1", "base", "l1"), joint("j1", "base", "l1", "continuous"))
    assert "continuous" in text
    portable = PortableUrdf(text, Path("it.urdf"))
    j1 = model_of(portable.text).joints["j1"]
    assert (j1.lower, j1.upper, j1.velocity) == pytest.approx((-2.0 * math.pi, 2.0 * math.pi, 1.0))
    assert portable.assumed == [
        "joint j1: is continuous; it is planned within two turns, -2 pi to 2 pi, at 1 rad/s because the URDF has "
        "no velocity"
    ]


def test_elements_of_other_programs_and_absent_visuals_are_left_out() -> None:
    visual = '<visual><geometry><mesh filename="nowhere.dae"/></geometry></visual>'
    text = JAW_ARM.replace('<link name="base">', f'<link name="base">{visual}')
    text = text.replace("</robot>", "<gazebo/><transmission/><ros2_control/></robot>")
    portable = PortableUrdf(text, Path("it.urdf"))
    assert not any(word in portable.text for word in ("gazebo", "transmission", "ros2_control", "visual"))
    assert portable.doubtful == ["link base: its visual mesh 'nowhere.dae' is not there and was left out"]


def test_collision_meshes_in_collada_become_stl_which_simulators_read(tmp_path: Path) -> None:
    points = "0 0 0 100 0 0 0 100 0 0 0 100"
    (tmp_path / "part.dae").write_text(
        f"""<COLLADA><library_geometries><geometry id="g"><mesh>
        <source id="p"><float_array id="a">{points}</float_array></source>
        <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
        <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
        </mesh></geometry></library_geometries></COLLADA>"""
    )
    shape = '<geometry><mesh filename="part.dae" scale="0.001 0.001 0.001"/></geometry>'
    both = f"<visual>{shape}</visual><collision>{shape}</collision>"
    text = JAW_ARM.replace('<link name="base">', f'<link name="base">{both}')
    portable = PortableUrdf(text, tmp_path / "it.urdf")
    (tmp_path / "out").mkdir()
    portable.write(tmp_path / "out", "it.urdf")
    base = next(link for link in ET.fromstring(portable.text).findall("link") if link.get("name") == "base")
    seen, met = (base.find(f"{kind}/geometry/mesh") for kind in ("visual", "collision"))
    assert seen is not None and met is not None
    assert (seen.get("filename"), met.get("filename")) == ("meshes/part.dae", "meshes/part.stl")
    assert met.get("scale") == "0.001 0.001 0.001"
    assert (tmp_path / "out/meshes/part.dae").read_bytes() == (tmp_path / "part.dae").read_bytes()
    vertices, triangles = surface_mesh(tmp_path / "out/meshes/part.stl")
    assert len(triangles) == 4
    np.testing.assert_allclose(vertices.max(axis=0), 100.0)


def test_a_bump_of_the_shapes_is_levelled_and_a_gripper_that_turns_back_is_not() -> None:
    widths = rising(np.array([0.0, 0.01, 0.0093, 0.02]))
    assert widths is not None and (np.diff(widths.round(5)) > 0.0).all()
    assert rising(np.array([0.0, 0.01, 0.002, 0.02])) is None
    falling = rising(np.array([0.02, 0.0, 0.0]))
    assert falling is not None and (np.diff(falling.round(5)) < 0.0).all()


@pytest.mark.parametrize("word", ["tool_frame", "gripper_frame_link", "hand_tcp", "tool_center"])
def test_makers_names_of_the_tcp_are_known(word: str) -> None:
    (arm,) = find_arms(model_of(JAW_ARM.replace("gripper_frame_link", word)))
    assert arm.tcp_link == word


def test_a_xacro_takes_arguments_defaults_and_packages_near_it(tmp_path: Path) -> None:
    package = tmp_path / "a_clone"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>maker_description</name></package>")
    (package / "urdf" / "part.xacro").write_text('<robot><link name="part"/></robot>')
    file = package / "urdf" / "it.urdf.xacro"
    file.write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)"><xacro:arg name="name" default="it"/>'
        '<xacro:include filename="$(find maker_description)/urdf/part.xacro"/></robot>'
    )
    assert package_folders("maker_description", file.parent) == [package.resolve()]
    assert 'name="it"' in expand(file) and 'link name="part"' in expand(file)
    assert 'name="mine"' in expand(file, {"name": "mine"})
    with pytest.raises(ConfigError, match="argument 'title' is not declared; there are name"):
        expand(file, {"title": "mine"})
    file.write_text(file.read_text().replace("maker_description", "away_description"))
    with pytest.raises(ConfigError) as caught:
        expand(file)
    assert str(caught.value).count("away_description") == 1
    assert "ValueError" not in str(caught.value)


@pytest.mark.slow
def test_a_new_robot_loads_from_another_place(tmp_path: Path) -> None:
    source = tmp_path / "maker"
    shutil.copytree(BENCH.parent, source)
    (source / "LICENSE").write_text("as it is")
    out, moved = tmp_path / "out", tmp_path / "elsewhere" / "bench_arm"
    assert main(["new-robot", str(source / BENCH.name), "--out", str(out), "--samples", "200"]) == 0
    shutil.rmtree(source)
    shutil.move(out, moved)
    assert load_robot(moved).arm("").gripper is not None
    assert (moved / "LICENSE").read_text() == "as it is"
    assert sorted(path.name for path in moved.iterdir()) == [
        "LICENSE", "bench_arm.urdf", "meshes", "robot.yaml", "spheres.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (('filename="elbow.obj"', 'filename="away.obj"'), "mesh 'away.obj' is not there"),
        (('<mass value="3"/>', '<mass value="0"/>'), "link shoulder: moves and has no mass"),
        (("revolute", "floating"), "type 'floating' is not supported"),
        (("<limit ", "<none "), "has no limit; add lower, upper, velocity and effort"),
        (('<child link="elbow"/>', '<child link="shoulder"/>'), "is the child of 2 joints"),
        (
            ('size="0.07 0.07 0.07"', 'size="70 70 70"'),
            "collision shapes are 70 m wide, as if in millimetres",
        ),
        (
            ("elbow.obj", 'elbow.obj" scale="1000 1000 1000'),
            "link elbow: its collision shapes are 260 m wide",
        ),
        (("elbow.obj", 'elbow.obj" scale="1e-6 1e-6 1e-6'), "mm wide, as if scaled twice; correct its size"),
        (("elbow.obj", 'elbow.obj" scale="big'), "mesh scale is 'big'; write three finite numbers"),
        (("elbow.obj", 'elbow.obj" scale="nan 1 1'), "mesh scale is 'nan 1 1'; write three finite numbers"),
        (("elbow.obj", 'elbow.obj" scale="0 1 1'), "mesh scale is '0 1 1'; write three numbers other than 0"),
        (
            ('size="0.07 0.07 0.07"', 'size="0.07 -1 0.07"'),
            "box size is '0.07 -1 0.07'; write 3 lengths above 0",
        ),
        (('radius="0.04" length="0.2"', 'radius="0.04"'), "cylinder length is ''; write a length above 0"),
        (('lower="-2.9" upper="2.9" ', ""), "joint turn: moves from 0 to 0 only; write its lower and upper"),
        (
            ('xyz="0.16 -0.12 0.035"', 'xyz="160 -120 35"'),
            "joint bend: its origin is 203 m from its parent's",
        ),
        (
            ('<mimic joint="left_slide"/>', ""),
            "link palm: carries 2 joints that move by themselves, left_slide",
        ),
        (('<mimic joint="left_slide"/>', '<mimic joint="right_slide"/>'), "which is a mimic itself"),
        (('<mimic joint="left_slide"/>', '<mimic joint="bend"/>'), "joint right_slide: follows bend of arm"),
        (('<parent link="world_mount"/>', '<parent link="palm"/>'), "form a cycle; break it at one joint"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], sentence: str
) -> None:
    shutil.copytree(BENCH.parent, tmp_path / "maker")
    file, out = tmp_path / "maker" / BENCH.name, tmp_path / "out"
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    assert main(["new-robot", str(file), "--out", str(out)]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if " s: " not in line]
    assert sentence in "\n".join(lines), lines
    assert lines[0].startswith(f"handiwork new-robot: {file}: ")
    assert all(line.startswith("  - ") for line in lines[1:])
    assert lines[0].count(" | ") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["maker"]
