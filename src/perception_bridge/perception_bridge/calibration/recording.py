"""A folder of looks: ``looks.yaml`` with the camera and the joints of each look, and the images beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import yaml

from handiwork_core.config.dataclass_loader import ConfigError, load
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from perception_bridge.calibration.board import BoardFinder, BoardSpec, Gray
from perception_bridge.calibration.hand_eye import Look
from perception_bridge.tags.pinhole import Pinhole

FILE = "looks.yaml"


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """The calibration of the images, as in sensor_msgs/CameraInfo."""

    width: int
    height: int
    k: tuple[float, ...]
    distortion_model: str = "plumb_bob"
    d: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.k) != 9:
            raise ValueError(f"k: has {len(self.k)} numbers; write the 9 of the camera matrix, row by row")
        self.pinhole()

    def pinhole(self) -> Pinhole:
        """Return the camera as a value."""
        return Pinhole.of(self.width, self.height, self.k, self.distortion_model, self.d)


@dataclass(frozen=True, slots=True)
class FrameSpec:
    """A pose, m and quaternion."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion_wxyz: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class LookSpec:
    """One look as written.

    Attributes:
        image: File beside ``looks.yaml``.
        joints: Joint positions of the robot by name, rad or m.
    """

    image: str
    joints: dict[str, float]


@dataclass(frozen=True, slots=True)
class RecordingSpec:
    """The whole file.

    Attributes:
        robot: Name or folder of the robot.
        arm: Its arm; empty for the only one.
        frame: The frame whose pose is wanted: that of the images, or one that is fixed to it.
        camera: Calibration of the images.
        looks: The looks.
        frame_T_optical: Pose of the images' frame in ``frame``.
    """

    robot: str
    frame: str
    camera: CameraSpec
    looks: tuple[LookSpec, ...]
    arm: str = ""
    frame_T_optical: FrameSpec = FrameSpec()


def read_recording(folder: Path) -> RecordingSpec:
    """Read a folder of looks.

    Args:
        folder: The folder.

    Raises:
        ConfigError: Its file is missing or faulty.
    """
    return load(RecordingSpec, folder / FILE)


def write_recording(folder: Path, spec: RecordingSpec, images: Mapping[str, Gray]) -> None:
    """Write a folder of looks, or further images of one.

    Args:
        folder: The folder.
        spec: All looks.
        images: New images by file name.

    Raises:
        OSError: It cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, gray in images.items():
        ok, data = cv2.imencode(".png", gray)
        assert ok
        (folder / name).write_bytes(data.tobytes())
    place = spec.frame_T_optical
    text = {
        "robot": spec.robot,
        "arm": spec.arm,
        "frame": spec.frame,
        "frame_T_optical": {"position": [*place.position], "quaternion_wxyz": [*place.quaternion_wxyz]},
        "camera": {
            "width": spec.camera.width,
            "height": spec.camera.height,
            "k": [*spec.camera.k],
            "distortion_model": spec.camera.distortion_model,
            "d": [*spec.camera.d],
        },
        "looks": [{"image": one.image, "joints": dict(one.joints)} for one in spec.looks],
    }
    new = folder / f"{FILE}.new"
    new.write_text(yaml.safe_dump(text, sort_keys=False), encoding="utf-8")
    new.replace(folder / FILE)


def find_looks(
    folder: Path, spec: RecordingSpec, robot: Robot, board: BoardSpec
) -> tuple[list[tuple[str, Look]], list[str]]:
    """Find the board in the images of a folder.

    Args:
        folder: The folder.
        spec: Its file.
        robot: The robot.
        board: The board.

    Returns:
        Looks with the names of their images; and a sentence for each image that does not count.

    Raises:
        ConfigError: An image is missing, or the robot is another one.
    """
    finder, camera, found, faults = BoardFinder(board), spec.camera.pinhole(), [], []
    hand = robot.arm(spec.arm).ee_link
    for i, one in enumerate(spec.looks):
        if missing := [name for name in robot.arm(spec.arm).joint_names if name not in one.joints]:
            text = f"looks[{i}].joints: has no {missing[0]}; give all joints of {robot.name!r}"
            raise ConfigError(str(folder / FILE), [text])
        gray = _read_image(folder / one.image)
        if gray is None:
            raise ConfigError(
                str(folder / FILE), [f"looks[{i}].image: {one.image} is no image that can be read"]
            )
        if gray.shape != (camera.height, camera.width):
            size = f"{gray.shape[1]} x {gray.shape[0]}, and the camera {camera.width} x {camera.height}"
            raise ConfigError(str(folder / FILE), [f"looks[{i}].image: {one.image} is {size} pixels"])
        try:
            view = finder.find(gray, camera)
        except ValueError as error:
            faults.append(f"{one.image}: {error}")
        else:
            found.append((one.image, Look(link_poses(robot, one.joints, (hand,))[hand], view)))
    return found, faults


def _read_image(path: Path) -> Gray | None:
    """Return an image in grey; None for what is missing, or is none."""
    data = np.frombuffer(path.read_bytes(), np.uint8) if path.is_file() else np.zeros(0, np.uint8)
    gray = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if len(data) else None
    return None if gray is None else np.asarray(gray, np.uint8)


def frame_pose(spec: RecordingSpec) -> Pose:
    """Return the pose of the wanted frame in the optical frame.

    Args:
        spec: The recording.
    """
    place = spec.frame_T_optical
    return Pose.of(place.position, Rotation.from_wxyz(place.quaternion_wxyz)).inverse()


def transform_text(parent: str, child: str, pose: Pose, comments: Sequence[str]) -> str:
    """Return the file of a static transform.

    Args:
        parent: The parent frame.
        child: The child frame.
        pose: Pose of the child in the parent.
        comments: Lines at its beginning.
    """
    data = {
        "parent_frame": parent,
        "child_frame": child,
        "position": [round(float(x), 6) for x in pose.translation_m],
        "quaternion_wxyz": [round(float(x), 8) for x in pose.rotation.wxyz],
    }
    head = "".join(f"# {line}\n" for line in comments)
    return head + yaml.safe_dump(data, sort_keys=False, default_flow_style=None)
