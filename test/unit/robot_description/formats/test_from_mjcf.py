"""MJCF as a URDF: the same places of all bodies, limits, couplings and shapes; what a tree cannot have is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot.urdf import read_urdf
from robot_description.formats.from_mjcf import MjcfRobot, is_mjcf, read_mjcf
from robot_description.import_robot.output_files.portable_urdf import PortableUrdf
from robot_description.solids.link_solids import link_solids

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco model="arm">
  <compiler angle="radian"/>
  <asset><mesh name="wedge" vertex="0 0 0  0.1 0 0  0 0.1 0  0 0 0.2"/></asset>
  <default><geom density="500"/><joint armature="0.01"/></default>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="base" pos="0.1 0.2 0.3" quat="0.9 0.1 0.3 0.2">
      <geom type="box" size="0.05 0.06 0.07"/>
      <body name="shoulder" pos="0 0 0.1" euler="0.3 0.2 0.1">
        <joint name="pan" axis="0 0 1" pos="0.01 0.02 0.03" range="-2 2" actuatorfrcrange="-40 40"/>
        <joint name="lift" axis="0 1 0" pos="0 0 0.05" range="-1 1"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 0.2"/>
        <body name="rail" pos="0.1 0 0.2" quat="0.7 0 0.7 0">
          <joint name="slide" type="slide" axis="1 0 0" range="0 0.3"/>
          <geom type="mesh" mesh="wedge" pos="0.02 0 0" quat="0.8 0.6 0 0"/>
          <geom type="sphere" size="0.5" mass="0" contype="0" conaffinity="0"/>
          <body name="wrist" pos="0.2 0 0">
            <joint name="roll" axis="1 0 0"/>
            <geom type="ellipsoid" size="0.02 0.03 0.05"/>
            <site name="pinch" pos="0 0 0.1" quat="0.6 0.8 0 0"/>
            <site name="imu" pos="0 0 0.1"/>
            <body name="left" pos="0 0.02 0.05"><joint name="l" type="slide" axis="0 1 0" range="0 0.04"/>
              <geom type="cylinder" size="0.01 0.03"/></body>
            <body name="right" pos="0 -0.02 0.05"><joint name="r" type="slide" axis="0 -1 0" range="0 0.05"/>
              <geom type="box" size="0.01 0.01 0.03"/></body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="r" joint2="l" polycoef="0.002 1.1 0 0 0"/></equality>
  <actuator><motor joint="lift" gear="2" forcerange="-15 15"/></actuator>
</mujoco>
"""
SHARES = (0.2, 0.9, 0.4, 0.6, 0.7)
"""Where each free joint stands between its limits."""


def written(folder: Path, text: str = ARM) -> Path:
    path = folder / "my-arm.xml"
    path.write_text(text, encoding="utf-8")
    return path


def robot_of(made: MjcfRobot, path: Path) -> Robot:
    model = read_urdf(PortableUrdf(made.urdf, path).original, path, needs_inertia=True)
    return Robot("arm", model.links[0], model.links, model.joints, (), frozenset(), {}, made.urdf)


def test_all_bodies_are_where_mujoco_has_them(tmp_path: Path) -> None:
    path = written(tmp_path)
    robot = robot_of(read_mjcf(path, tmp_path), path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    free = ("pan", "lift", "slide", "roll", "l")
    q = {n: (s - 0.5) * 2.0 if n != "l" else 0.04 * s for n, s in zip(free, SHARES, strict=True)}
    for name, value in {**q, "r": 0.002 + 1.1 * q["l"]}.items():
        data.joint(name).qpos[0] = value
    mujoco.mj_kinematics(model, data)
    poses = link_poses(robot, q)
    places = {
        name: (data.body(name).xpos, data.body(name).xmat)
        for name in ("shoulder", "rail", "wrist", "left", "right")
    }
    places["pinch"] = (data.site("pinch").xpos, data.site("pinch").xmat)
    for link, (position, matrix) in places.items():
        wanted = Pose.of(position, Rotation.from_matrix(matrix.reshape(3, 3)))
        assert poses[link].almost_equal(wanted, within_m=1e-8, within_rad=1e-6), link
    assert "imu" not in robot.links


def test_limits_forces_and_couplings_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path)
    made = read_mjcf(path, tmp_path)
    joints = robot_of(made, path).joints
    assert (joints["pan"].lower, joints["pan"].upper, joints["pan"].effort) == (-2.0, 2.0, 40.0)
    assert joints["lift"].effort == 30.0
    assert joints["roll"].upper == pytest.approx(2.0 * np.pi)
    mimic = joints["r"].mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("l", 1.1, 0.002)
    assert any("velocity of pan, lift" in text for text in made.assumed)
    assert any(text.startswith("effort of") and "pan" not in text.split(":")[0] for text in made.assumed)


def test_shapes_have_the_volume_that_mujoco_weighs(tmp_path: Path) -> None:
    path = written(tmp_path)
    import xml.etree.ElementTree as ET

    root = ET.fromstring(read_mjcf(path, tmp_path).urdf)
    rng = np.random.default_rng(0)
    model = mujoco.MjModel.from_xml_path(str(path))
    for link in ("base", "rail", "wrist"):
        solids = link_solids(root, link, tmp_path)
        assert len(solids) == 1, link  # the sphere without contacts is no obstacle
        points = rng.uniform(-0.15, 0.25, (40_000, 3))
        share = float((solids[0].distance(points) < 0.0).mean())
        mass = 500.0 * share * 0.4**3
        assert mass == pytest.approx(float(model.body(link).mass[0]), rel=0.15, abs=0.01), link
    assert len(link_solids(root, "shoulder", tmp_path)) == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '<joint name="roll" axis="1 0 0"/>',
            '<joint name="roll" type="ball"/>',
            "joint roll: is a ball joint",
        ),
        (
            ' type="slide" axis="1 0 0" range="0 0.3"',
            ' type="slide" axis="1 0 0"',
            "joint slide: slides without a range",
        ),
        ("0.002 1.1 0 0 0", "0.002 1.1 3 0 0", "equality of joint r: only q = a + b"),
        ('mesh="wedge"', 'mesh="wegde"', "MuJoCo cannot compile it"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in ARM
    with pytest.raises(ConfigError) as caught:
        read_mjcf(written(tmp_path, ARM.replace(old, new)), tmp_path)
    assert words in str(caught.value)
    assert "; " in str(caught.value)


def test_a_loop_is_left_out_in_words(tmp_path: Path) -> None:
    loop = '<equality><connect body1="left" body2="right" anchor="0 0 0"/>'
    made = read_mjcf(written(tmp_path, ARM.replace("<equality>", loop)), tmp_path)
    assert made.doubtful == ["equality 0: connect is left out: it closes a loop, which a URDF cannot have"]


def test_mjcf_is_known_by_its_top_element(tmp_path: Path) -> None:
    assert is_mjcf(written(tmp_path))
    (tmp_path / "robot.xml").write_text("<robot name='r'/>")
    (tmp_path / "broken.xml").write_text("<mujoco")
    assert not is_mjcf(tmp_path / "robot.xml")
    assert not is_mjcf(tmp_path / "broken.xml")
    assert not is_mjcf(tmp_path / "nowhere.xml")


def test_a_body_whose_shapes_have_no_contacts_is_named(tmp_path: Path) -> None:
    text = ARM.replace('size="0.05 0.06 0.07"/>', 'size="0.05 0.06 0.07" contype="0" conaffinity="0"/>')
    made = read_mjcf(written(tmp_path, text), tmp_path)
    assert len(made.doubtful) == 1
    assert made.doubtful[0].startswith("body base: none of its shapes has contacts")
