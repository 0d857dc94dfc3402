"""A calibration board before a simulated camera, recorded as `handiwork calibrate record` does.

MuJoCo chooses its OpenGL library at its import, so a process that has simulated without pictures cannot draw: call
``record_in_process``.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from handiwork_core.cameras.camera import (
    LINK_T_OPTICAL,
    Camera,
    CameraNoise,
    DepthEncoding,
    Intrinsics,
)
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from perception_bridge.calibration.board import BoardSpec
from perception_bridge.calibration.recording import (
    CameraSpec,
    LookSpec,
    RecordingSpec,
    write_recording,
)
from sim_bridge.cameras.decals import Decal
from sim_bridge.cameras.images import noisy_color
from sim_bridge.cameras.renderer import SceneRenderer, choose_library

BOARD = BoardSpec()
WIDTH_M, HEIGHT_M = BOARD.size_m
PLATE = WorldObject("board", (Shape(ShapeKind.BOX, frozen((WIDTH_M, HEIGHT_M, 0.004)), Pose.identity()),))
PLATE_T_BOARD = Pose.of((-WIDTH_M / 2, HEIGHT_M / 2, 0.002), Rotation.from_rpy(np.pi, 0.0, 0.0))
LOOKS = 15


def hidden_camera(robot: Robot, on_hand: bool, rng: np.random.Generator) -> Camera:
    """Return a camera whose place nobody but the renderer knows."""
    if on_hand:
        pose = Pose.of((0.07, 0.0, 0.04) + rng.normal(0.0, 0.01, 3), Rotation.from_rpy(0.0, -1.4, 0.0))
    else:
        pose = Pose.of((1.25, 0.5, 0.75) + rng.normal(0.0, 0.05, 3), Rotation.from_rpy(0.0, 0.25, -2.5))
    turned = pose @ Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(*rng.normal(0.0, 0.05, 3)))
    pinhole = Intrinsics(640, 480, (520.0, 518.0), (322.0, 238.0))
    link = robot.arm("").ee_link if on_hand else ""
    noise = CameraNoise(intensity=2.0)
    return Camera("hidden", link, turned, pinhole, 5.0, (0.05, 5.0), noise, DepthEncoding.METRES)


def record(folder: Path, robot: Robot, camera: Camera, on_hand: bool, rng: np.random.Generator) -> None:
    """Move the arm about its home, and record what the camera sees of the board."""
    arm = robot.arm("")

    def hand(joints: dict[str, float]) -> Pose:
        return link_poses(robot, joints, (arm.ee_link,))[arm.ee_link]

    home = dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True))
    carrier = hand(home) if on_hand else Pose.identity()
    world_T_camera = carrier @ camera.parent_T_camera @ LINK_T_OPTICAL
    # The middle of the image at home; the plate faces the camera there.
    facing = Rotation.from_rpy(np.pi, 0.0, 0.1)
    if on_hand:
        world_T_plate = world_T_camera @ Pose.of((0.0, 0.0, 0.40), facing)
    else:
        before = hand(home).translation_m - world_T_camera.translation_m
        there = world_T_camera.inverse().apply(world_T_camera.translation_m + 0.8 * before)
        world_T_plate = world_T_camera @ Pose.of(there, facing)
    hand_T_plate = hand(home).inverse() @ world_T_plate
    renderer = _renderer(robot, camera)
    looks, images = list[LookSpec](), {}
    for i in range(LOOKS):
        joints = {name: value + float(rng.normal(0.0, 0.15)) for name, value in home.items()}
        plate = world_T_plate if on_hand else hand(joints) @ hand_T_plate
        renderer.place(joints, {"board": plate})
        color = renderer.draw(camera, color=True, depth=False).color
        assert color is not None
        gray = noisy_color(color, camera.noise, rng).mean(axis=2).round().astype(np.uint8)
        images[f"{i}.png"] = gray
        looks.append(LookSpec(f"{i}.png", joints))
    renderer.close()
    k: Sequence[float] = camera.intrinsics.matrix().ravel().tolist()
    spec = CameraSpec(640, 480, tuple(k), "plumb_bob", (0.0,) * 5)
    write_recording(folder, RecordingSpec("fr3", "hidden_optical_frame", spec, tuple(looks)), images)


def _renderer(robot: Robot, camera: Camera) -> SceneRenderer:
    middle = Pose.of((0.0, 0.0, 0.002))
    decal = Decal(middle, BOARD.size_m, BOARD.draw(64))
    made = SceneRenderer(
        choose_library(os.environ), robot, Pose.identity(), (camera,), {}, {"board": [decal]}
    )
    made.show((PLATE,))
    return made


def record_in_process(folder: Path, robot_dir: Path, seed: int, *, on_hand: bool) -> Camera:
    """Record in a new process, and return the camera whose place is hidden.

    Args:
        folder: Where the recording is written.
        robot_dir: Folder of the robot.
        seed: Seed of the camera, the joints and the noise.
        on_hand: Whether the camera is on the hand.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(_record, folder, robot_dir, seed, on_hand).result()
    return hidden_camera(load_robot(robot_dir), on_hand, np.random.default_rng(seed))


def _record(folder: Path, robot_dir: Path, seed: int, on_hand: bool) -> None:
    rng, robot = np.random.default_rng(seed), load_robot(robot_dir)
    record(folder, robot, hidden_camera(robot, on_hand, rng), on_hand, rng)
