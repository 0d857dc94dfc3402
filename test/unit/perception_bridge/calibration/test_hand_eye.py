"""Hand-eye calibration on drawn boards: hidden poses are found, and looks that cannot tell are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from handiwork_cli.cli import main
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from perception_bridge.calibration.board import BoardFinder, BoardSpec
from perception_bridge.calibration.hand_eye import Look, Mount, solve
from perception_bridge.calibration.recording import (
    FILE,
    CameraSpec,
    LookSpec,
    RecordingSpec,
    read_recording,
    write_recording,
)
from perception_bridge.tags.pinhole import Pinhole

K = np.array([[520.0, 0.0, 319.5], [0.0, 520.0, 239.5], [0.0, 0.0, 1.0]])
CAMERA = Pinhole.of(640, 480, K.ravel().tolist(), "plumb_bob", [0.0] * 5)
BOARD = BoardSpec()
HIDDEN = {
    Mount.ON_HAND: Pose.of((0.05, 0.01, 0.03), Rotation.from_rpy(0.1, 0.05, 1.6)),
    Mount.FIXED: Pose.of((1.2, 0.3, 0.8), Rotation.from_rpy(-2.4, 0.1, 1.2)),
}
OTHER_T_BOARD = Pose.of((0.4, 0.02, 0.1), Rotation.from_rpy(0.1, 0.2, 0.3))


def drawn(camera_T_board: Pose) -> NDArray[np.uint8]:
    """Return an image of the board."""
    width, height = BOARD.size_m
    picture = BOARD.draw(80)
    points = camera_T_board.apply(
        np.array([(0, 0, 0), (width, 0, 0), (width, height, 0), (0, height, 0)], float)
    )
    pixels = (points @ K.T)[:, :2] / points[:, 2:]
    x, y = picture.shape[1] - 0.5, picture.shape[0] - 0.5
    warp, _ = cv2.findHomography(np.array([(-0.5, -0.5), (x, -0.5), (x, y), (-0.5, y)]), pixels)
    image = cv2.warpPerspective(picture, warp, (640, 480), flags=cv2.INTER_AREA, borderValue=200)
    return np.asarray(cv2.GaussianBlur(image, (3, 3), 0.7), np.uint8)


def views(count: int, seed: int = 0, turn_rad: float = 0.35) -> list[Pose]:
    """Return poses of the board in the camera, in which it fills much of the image."""
    rng = np.random.default_rng(seed)
    return [
        Pose.of(
            (rng.uniform(-0.13, -0.08), rng.uniform(-0.1, -0.06), rng.uniform(0.4, 0.55)),
            Rotation.from_rpy(*rng.normal(0.0, turn_rad, 3)),
        )
        for _ in range(count)
    ]


def looks(mount: Mount, poses: Sequence[Pose]) -> list[Look]:
    """Return looks of a camera whose pose is ``HIDDEN``."""
    finder, made = BoardFinder(BOARD), []
    for camera_T_board in poses:
        if mount is Mount.ON_HAND:
            hand = OTHER_T_BOARD @ camera_T_board.inverse() @ HIDDEN[mount].inverse()
        else:
            hand = HIDDEN[mount] @ camera_T_board @ OTHER_T_BOARD.inverse()
        made.append(Look(hand, finder.find(drawn(camera_T_board), CAMERA)))
    return made


@pytest.mark.parametrize("mount", list(Mount), ids=lambda one: one.value)
def test_the_refined_pose_is_the_hidden_one(mount: Mount) -> None:
    found = solve(looks(mount, views(12)), mount, CAMERA)
    assert found[0].solver == "refined"
    assert {"Tsai", "Park", "Horaud", "Andreff", "Daniilidis", "Shah", "Li"} <= {one.solver for one in found}
    distance_m, angle_rad = found[0].parent_T_camera.distance_to(HIDDEN[mount])
    assert distance_m < 0.001
    assert angle_rad < np.deg2rad(0.1)
    board_m, board_rad = found[0].other_T_board.distance_to(OTHER_T_BOARD)
    assert board_m < 0.001
    assert board_rad < np.deg2rad(0.1)
    assert found[0].error_px < 0.5


def test_a_look_with_wrong_joints_stands_out() -> None:
    made = looks(Mount.ON_HAND, views(12))
    slipped = made[4].root_T_hand @ Pose.of((0.02, 0.0, 0.0))
    made[4] = replace(made[4], root_T_hand=slipped)
    best = solve(made, Mount.ON_HAND, CAMERA)[0]
    assert int(np.argmax(best.look_px)) == 4
    assert best.look_px[4] > 3.0 * np.median(best.look_px)


def test_looks_that_cannot_tell_are_refused() -> None:
    with pytest.raises(ValueError, match="5 looks at the board are too few"):
        solve(looks(Mount.ON_HAND, views(5)), Mount.ON_HAND, CAMERA)
    with pytest.raises(ValueError, match="did not turn enough"):
        solve(looks(Mount.ON_HAND, views(8, turn_rad=0.01)), Mount.ON_HAND, CAMERA)
    about_z = [
        Pose.of((-0.1, -0.08, 0.5), Rotation.from_axis_angle((0.0, 0.0, 1.0), 0.1 * i)) for i in range(8)
    ]
    with pytest.raises(ValueError, match="turned about one axis only"):
        solve(looks(Mount.ON_HAND, about_z), Mount.ON_HAND, CAMERA)


def test_an_image_without_the_board_is_named() -> None:
    with pytest.raises(ValueError, match="0 corners of the board are seen"):
        BoardFinder(BOARD).find(np.full((480, 640), 128, np.uint8), CAMERA)


@pytest.mark.parametrize(
    ("values", "words"), [({"columns": 2}, "2 x 5 squares"), ({"marker": 0.04}, "marker smaller")]
)
def test_a_board_that_cannot_be_is_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(BOARD, **values)


def recording(folder: Path, count: int = 2) -> None:
    camera = CameraSpec(640, 480, tuple(K.ravel().tolist()), "plumb_bob", (0.0,) * 5)
    joints = {f"fr3_joint{i}": 0.1 * i for i in range(1, 8)}
    made = tuple(LookSpec(f"{i}.png", joints) for i in range(count))
    images = {one.image: drawn(pose) for one, pose in zip(made, views(count), strict=True)}
    write_recording(folder, RecordingSpec("fr3", "optical", camera, made), images)


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    recording(tmp_path)
    read = read_recording(tmp_path)
    assert read.frame == "optical"
    assert [one.image for one in read.looks] == ["0.png", "1.png"]
    assert read.camera.pinhole().matrix == pytest.approx(K)


def test_the_command_refuses_in_words_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording(tmp_path)
    words = ["calibrate", "solve", str(tmp_path), "--mount", "eye_to_hand", "-o", str(tmp_path / "out.yaml")]
    assert main(words) == 1
    assert "2 looks at the board are too few" in capsys.readouterr().err
    (tmp_path / "1.png").unlink()
    assert main(words) == 2
    assert "1.png is no image that can be read" in capsys.readouterr().err
    assert main(["calibrate", "solve", str(tmp_path / "none"), *words[3:]]) == 2
    assert not (tmp_path / "out.yaml").exists()


def test_a_recording_without_a_camera_matrix_is_refused(tmp_path: Path) -> None:
    recording(tmp_path)
    data = yaml.safe_load((tmp_path / FILE).read_text(encoding="utf-8"))
    data["camera"]["k"] = [1.0, 2.0]
    (tmp_path / FILE).write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(ConfigError, match="has 2 numbers"):
        read_recording(tmp_path)


def test_the_printed_board_is_the_one_that_is_found(tmp_path: Path) -> None:
    path = tmp_path / "board.png"
    assert main(["calibrate", "board", "-o", str(path), "--dpi", "100"]) == 0
    gray = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    assert gray is not None
    view = BoardFinder(BOARD).find(np.asarray(gray, np.uint8), CAMERA)
    assert len(view.points) == (BOARD.columns - 1) * (BOARD.rows - 1)
