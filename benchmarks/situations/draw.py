"""Pictures of the situations, drawn by the project's own rasteriser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image as Pictures

from conditionals_node.scoring.situations import Situation, load_situations
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_viz.film.camera import SUN, Camera, Sun
from handiwork_viz.film.drawing import draw as draw_bodies
from handiwork_viz.film.palette import color_of
from handiwork_viz.film.rasterizer import Image
from handiwork_viz.film.solids import BodyTriangles, joined, link_solids, solid_of

from .views import asked, best_camera, opened

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "test" / "data" / "situations" / "pictures"
SIZE_PX = (320, 240)
QUALITY = 55
"""Of the WebP files: they are small enough to be part of the repository."""
HIDDEN = (0.93, 0.93, 0.95)
"""The colour of an object that the judge does not see."""
TILE_M = 0.05


def file_of(situation: Situation) -> str:
    """Return the name of the picture of a situation.

    Args:
        situation: The situation.
    """
    return f"{situation.key.replace(' ', '-').replace(chr(39), '')}.webp"


def draw(robot: Robot, only: str = "") -> int:
    """Draw all situations.

    Args:
        robot: The robot beside the table.
        only: Beginning of the keys that are drawn.

    Returns:
        The size of all pictures, bytes.
    """
    PICTURES.mkdir(parents=True, exist_ok=True)
    links = link_solids(robot, ROOT / "src/robot_description/robots" / robot.name)
    for situation in load_situations():
        if situation.key.startswith(only):
            image = picture(robot, links, situation)
            Pictures.fromarray(image).save(PICTURES / file_of(situation), quality=QUALITY, method=6)
    wanted = {file_of(situation) for situation in load_situations()}
    for path in PICTURES.iterdir():
        if path.name not in wanted:
            path.unlink()
    return sum(path.stat().st_size for path in PICTURES.iterdir())


def picture(robot: Robot, links: dict[str, BodyTriangles], situation: Situation) -> Image:
    """Return the picture of a situation, (h, w, 3), sRGB.

    Args:
        robot: The robot.
        links: Surfaces of its links.
        situation: The situation.
    """
    bodies, camera = arranged(robot, links, situation)
    solid = joined(list(bodies.values()))
    sun = Sun(SUN.direction, frozen(camera.target))
    return draw_bodies({}, solid, -0.6, SIZE_PX, camera=camera, sun=sun)[0]


def arranged(
    robot: Robot, links: dict[str, BodyTriangles], situation: Situation
) -> tuple[dict[str, BodyTriangles], Camera]:
    """Return the surfaces of a picture by name, and a camera that sees the things that are asked about.

    Args:
        robot: The robot.
        links: Surfaces of its links.
        situation: The situation.
    """
    bodies, points, with_hand = surfaces(robot, links, situation)
    names = asked(situation)
    camera = best_camera(bodies, names, points, with_hand)
    return opened(bodies, names, camera), camera


def surfaces(
    robot: Robot, links: dict[str, BodyTriangles], situation: Situation
) -> tuple[dict[str, BodyTriangles], Array, bool]:
    """Return the surfaces of a situation by name, the corners of its things (n, 3) [m], and whether a hand is there.

    Args:
        robot: The robot.
        links: Surfaces of its links.
        situation: The situation.
    """
    world, bodies = situation.complete, dict[str, BodyTriangles]()
    for name, item in world.objects.items():
        color = color_of(name, item.is_static) if name in situation.world.states else HIDDEN
        solids = joined([solid_of(shape, color, 0.003) for shape in item.shapes])
        bodies[name] = solids.moved(world.states[name].world_T_object)
    points = np.concatenate([body.corners.reshape(-1, 3) for name, body in bodies.items() if name != "table"])
    hand = hand_of(robot, links, world)
    bodies["top of the table"] = table_top()
    if hand is not None:
        bodies["hand"] = hand
    return bodies, points, hand is not None


def table_top() -> BodyTriangles:
    """Return the top of the table as tiles: the rasteriser leaves out triangles that begin behind the camera."""
    x, y = np.meshgrid(0.2 + TILE_M * np.arange(16), -0.6 + TILE_M * np.arange(24))
    low = np.stack([x.ravel(), y.ravel(), np.full(x.size, 1e-5)], axis=-1)
    right, ahead = np.array([TILE_M, 0.0, 0.0]), np.array([0.0, TILE_M, 0.0])
    halves = [(low, low + right, low + right + ahead), (low, low + right + ahead, low + ahead)]
    corners = np.concatenate([np.stack(half, axis=1) for half in halves])
    color = np.array(color_of("table", is_static=True)) ** 2.2
    up = np.broadcast_to([0.0, 0.0, 1.0], corners.shape)
    return BodyTriangles(corners, up, np.tile(color, (len(corners), 1)))


def hand_of(robot: Robot, links: dict[str, BodyTriangles], world: World) -> BodyTriangles | None:
    """Return the hand and its fingers where they touch a thing or are over one; None where the arm is at home.

    Args:
        robot: The robot.
        links: Surfaces of its links.
        world: The situation, whose ``joints`` have all joints of the robot.
    """
    if len(world.joints.position) < 3:
        return None
    poses = link_poses(robot, dict(world.joints.position))
    arm = robot.arm("")
    shown = [
        name for name in links if name == arm.ee_link or (arm.gripper and name in arm.gripper.finger_links)
    ]
    placed = [links[name].moved(Pose.identity() @ poses[name]) for name in shown]
    return joined(placed)
