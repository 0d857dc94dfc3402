"""``handiwork calibrate`` on images of the simulation: it finds a transform that is hidden from it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from handiwork_cli.cli import main
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
from perception_bridge.calibration.board import BoardSpec
from perception_bridge.calibration.recording import (
    CameraSpec,
    LookSpec,
    RecordingSpec,
    write_recording,
)
from perception_bridge.table.static_frame import load_frame
from sim_bridge.cameras.decals import Decal
from sim_bridge.cameras.images import noisy_color
from sim_bridge.cameras.renderer import SceneRenderer, choose_library

BOARD = BoardSpec()
WIDTH_M, HEIGHT_M = BOARD.size_m
PLATE = WorldObject("board", (Shape(ShapeKind.BOX, frozen((WIDTH_M, HEIGHT_M, 0.004)), Pose.identity()),))
PLATE_T_BOARD = Pose.of((-WIDTH_M / 2, HEIGHT_M / 2, 0.002), Rotation.from_rpy(np.pi, 0.0, 0.0))
LOOKS, SEED = 15, 5
WITHIN_M, WITHIN_RAD = 0.002, np.deg2rad(0.3)


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


@pytest.mark.parametrize("on_hand", [True, False], ids=["eye_in_hand", "eye_to_hand"])
def test_a_hidden_transform_is_found_within_its_bounds(
    robot: Robot, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, on_hand: bool
) -> None:
    rng = np.random.default_rng(SEED)
    camera = hidden_camera(robot, on_hand, rng)
    record(tmp_path, robot, camera, on_hand, rng)
    mount, out = "eye_in_hand" if on_hand else "eye_to_hand", tmp_path / "camera.yaml"
    code = main(["calibrate", "solve", str(tmp_path), "--mount", mount, "-o", str(out)])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    found = load_frame(out)
    assert found.parent_frame == f"fr3/{robot.arm('').ee_link if on_hand else robot.root_link}"
    assert found.child_frame == "hidden_optical_frame"
    distance_m, angle_rad = found.pose().distance_to(camera.parent_T_camera @ LINK_T_OPTICAL)
    assert distance_m < WITHIN_M, printed.out
    assert angle_rad < WITHIN_RAD, printed.out
    assert all(solver in printed.out for solver in ("refined", "Tsai", "Daniilidis", "Shah"))
