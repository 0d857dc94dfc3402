"""A picture of a robot's frames: the EE and the TCP seen from a head, and the TCP seen from the hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image as Pictures
from PIL import ImageDraw

from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_viz.film.camera import SUN, Camera, Sun
from handiwork_viz.film.drawing import draw
from handiwork_viz.film.solids import (
    BodyTriangles,
    Color,
    joined,
    link_solids,
    solid_of,
)

PANEL_PX = (300, 260)
LONG = 0.22
"""Length of the arrows seen from the head, as a share of the robot's size."""
AXIS_COLORS: tuple[Color, ...] = ((0.86, 0.12, 0.12), (0.13, 0.62, 0.18), (0.14, 0.30, 0.88))
FROM_HEAD = np.array([0.75, -0.75, 0.55])
"""Direction from the robot to the head; the distance grows with the size of the robot."""


def draw_robot(robot: Robot, robot_dir: Path, arm: ArmSpec) -> Pictures.Image:
    """Draw three panels: EE from the head, TCP from the head, TCP from the hand; x is red, y green, z blue.

    Args:
        robot: The robot, with its joints at home.
        robot_dir: Folder of its description, with the meshes.
        arm: The arm whose frames are drawn.
    """
    poses = link_poses(robot, {})
    links = [solid.moved(poses[name]) for name, solid in link_solids(robot, robot_dir).items()]
    body = joined(links)
    ee, tcp = poses[arm.ee_link], poses[arm.tcp_link]
    points = body.corners.reshape(-1, 3)
    length, head = LONG * float(np.ptp(points, axis=0).max()), head_camera(points)
    panels = (
        ("EE head", axes_solid(ee, length), head),
        ("TCP head", axes_solid(tcp, length), head),
        ("TCP hand", axes_solid(tcp, 0.08), _from_hand(ee, tcp)),
    )
    width, height = PANEL_PX
    picture = Pictures.new("RGB", (len(panels) * width, height))
    for i, (words, axes, camera) in enumerate(panels):
        picture.paste(_panel(body, axes, camera, words), (i * width, 0))
    return picture


def write_picture(picture: Pictures.Image, path: Path) -> None:
    """Write a small PNG: 256 colours are enough.

    Args:
        picture: The picture.
        path: The file; its folder is made.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    few = picture.quantize(method=Pictures.Quantize.FASTOCTREE, dither=Pictures.Dither.NONE)
    few.save(path, optimize=True)


def axes_solid(pose: Pose, length_m: float) -> BodyTriangles:
    """Return three arrows from a frame's origin along its axes.

    Args:
        pose: Pose of the frame.
        length_m: Length of the arrows, m.
    """
    arrows = []
    turns = (
        Rotation.from_rpy(0.0, np.pi / 2.0, 0.0),
        Rotation.from_rpy(-np.pi / 2.0, 0.0, 0.0),
        Rotation.identity(),
    )
    for turn, color in zip(turns, AXIS_COLORS, strict=True):
        shaft = _rod(0.028 * length_m, length_m, 0.5 * length_m)
        tip = _rod(0.06 * length_m, 0.16 * length_m, length_m)
        placed = Pose.of((0.0, 0.0, 0.0), turn)
        arrows += [solid_of(shape, color, 0.0005).moved(placed) for shape in (shaft, tip)]
    return joined(arrows).moved(pose)


def _rod(radius: float, length: float, z: float) -> Shape:
    return Shape(ShapeKind.CYLINDER, frozen([radius, length]), Pose.of((0.0, 0.0, z)))


def head_camera(points: Array) -> Camera:
    """Return a camera that sees all points, from the front and above.

    Args:
        points: Points, (n, 3), m.
    """
    size = float(np.ptp(points, axis=0).max())
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return Camera(frozen(middle + FROM_HEAD / np.linalg.norm(FROM_HEAD) * 2.9 * size), frozen(middle))


def _from_hand(ee: Pose, tcp: Pose) -> Camera:
    """Return a camera behind the hand and beside it, as a camera on the wrist."""
    away = tcp.translation_m - ee.translation_m
    ahead = away / np.linalg.norm(away) if np.linalg.norm(away) > 1e-6 else ee.rotation.matrix()[:, 2]
    beside = np.cross(ahead, (0.0, 0.0, 1.0))
    # A level hand is seen from above, a hanging one from its side.
    aside = np.array([0.8, -0.6, 0.0]) if np.linalg.norm(beside) < 0.4 else 0.4 * beside + (0.0, 0.0, 0.9)
    eye = tcp.translation_m - 0.30 * ahead + 0.34 * aside
    return Camera(frozen(eye), frozen(tcp.translation_m - 0.02 * ahead), 34.0)


def _panel(body: BodyTriangles, axes: BodyTriangles, camera: Camera, words: str) -> Pictures.Image:
    sun = Sun(SUN.direction, frozen(camera.target))
    ground = float(body.corners[..., 2].min())
    image = draw({}, joined([body, axes]), ground, PANEL_PX, camera=camera, sun=sun)[0]
    panel = Pictures.fromarray(image)
    ImageDraw.Draw(panel).text((10, 8), words, fill=(40, 42, 48))
    return panel
