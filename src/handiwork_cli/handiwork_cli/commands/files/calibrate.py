"""``handiwork calibrate``: prints a board, records looks at it, and finds where a camera is (hand-eye calibration)."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from perception_bridge.calibration.board import BoardSpec
from perception_bridge.calibration.hand_eye import Mount, Solution, solve
from perception_bridge.calibration.recording import (
    FILE,
    FrameSpec,
    LookSpec,
    RecordingSpec,
    find_looks,
    frame_pose,
    read_recording,
    transform_text,
    write_recording,
)

if TYPE_CHECKING:
    from perception_bridge.ros.look_recorder import LookRecorder

DOUBTFUL = 3.0
"""A look whose error is so many times that of the median is named."""
INCH_M = 0.0254


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("calibrate", help="find where a camera is, by looks at a printed board")
    steps = parser.add_subparsers(dest="step", required=True)
    board = steps.add_parser("board", help="write the ChArUco board as a PNG file for the printer")
    board.add_argument("-o", "--out", type=Path, required=True, help="PNG file to write")
    board.add_argument("--dpi", type=int, default=300, help="dots per inch of the print")
    board.set_defaults(run=run_board)
    record = steps.add_parser("record", help="take looks: images with the joints of their time")
    record.add_argument("folder", type=Path, help="folder of the looks; an existing one is continued")
    record.add_argument(
        "--camera", required=True, help="topics of the camera, such as cameras/overview/color"
    )
    record.add_argument("--robot", default="fr3", help="name or folder of a robot")
    record.add_argument("--arm", default="", help="of a robot with several")
    record.add_argument("--frame", default="", help="frame of the result; default: that of the images")
    record.add_argument("--sim-time", action="store_true", help="the time comes from /clock")
    record.set_defaults(run=run_record)
    result = steps.add_parser("solve", help="find the camera by the looks, and write its static transform")
    result.add_argument("folder", type=Path, help="folder of the looks")
    result.add_argument("--mount", choices=[one.value for one in Mount], required=True)
    result.add_argument("-o", "--out", type=Path, required=True, help="YAML file to write")
    result.set_defaults(run=run_solve)
    for step in (board, record, result):
        spec = BoardSpec()
        step.add_argument("--columns", type=int, default=spec.columns, help="squares of the board")
        step.add_argument("--rows", type=int, default=spec.rows)
        step.add_argument("--square", type=float, default=spec.square, help="edge of a square as printed [m]")
        step.add_argument("--marker", type=float, default=spec.marker, help="edge of a marker as printed [m]")


def run_board(options: argparse.Namespace) -> int:
    """Write the board.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the file was written.
    """
    import cv2

    try:
        board = _board(options)
        square_px = round(board.square / INCH_M * options.dpi)
        if not 10 <= square_px <= 2000:
            raise ValueError(f"--dpi {options.dpi} makes squares of {square_px} pixels; give 10 to 2000")
        picture = np.pad(board.draw(square_px), square_px // 2, constant_values=255)
        ok, data = cv2.imencode(".png", picture)
        assert ok
        options.out.write_bytes(data.tobytes())
    except (ValueError, OSError) as error:
        print(f"handiwork calibrate: {error}", file=sys.stderr)
        return 2
    width, height = board.size_m
    print(f"{options.out}: print it at {options.dpi} dpi without scaling, on something stiff")
    print(
        f"the squares take {1e3 * width:.0f} x {1e3 * height:.0f} mm; measure one, and give --square if it differs"
    )
    return 0


def run_record(options: argparse.Namespace) -> int:
    """Take looks until the user ends.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when looks were taken.

    Raises:
        ConfigError: The robot is not known, or the folder has looks of another camera.
    """
    from handiwork_cli.processes.ros_environment import with_ros_defaults

    os.environ.update(with_ros_defaults(os.environ))
    import rclpy
    from rclpy.parameter import Parameter

    from perception_bridge.ros.look_recorder import LookRecorder

    robot = load_robot(robot_folder(options.robot))
    rclpy.init()
    node = rclpy.create_node(
        "handiwork_calibrate", parameter_overrides=[Parameter("use_sim_time", value=options.sim_time)]
    )
    try:
        recorder = LookRecorder(node, options.camera)
        spec = _begun(options, recorder)
        return _record(options, recorder, spec, robot)
    except ConfigError:
        raise  # the command line says it
    except ValueError as error:
        print(f"handiwork calibrate: {error}", file=sys.stderr)
        return 1
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _begun(options: argparse.Namespace, recorder: LookRecorder) -> RecordingSpec:
    """Return the recording that is continued, or an empty one."""
    camera, optical = recorder.camera(), recorder.optical_frame()
    frame = options.frame or optical
    place = FrameSpec()
    if frame != optical:
        pose = recorder.frame_T_optical(frame, optical)
        place = FrameSpec(tuple(pose.translation_m.tolist()), tuple(pose.rotation.wxyz.tolist()))
    fresh = RecordingSpec(options.robot, frame, camera, (), options.arm, place)
    if not (options.folder / FILE).is_file():
        return fresh
    old = read_recording(options.folder)
    if replace(old, looks=()) != fresh:
        text = "has looks of another camera, robot or frame; give a new folder"
        raise ConfigError(str(options.folder), [text])
    return old


def _record(
    options: argparse.Namespace,
    recorder: LookRecorder,
    spec: RecordingSpec,
    robot: Robot,
) -> int:
    from perception_bridge.calibration.board import BoardFinder

    finder = BoardFinder(_board(options))
    print("move the arm, let it rest, press Enter for a look; q and Enter ends")
    while (word := _asked(f"{len(spec.looks)} looks> ")) is not None and word != "q":
        try:
            gray, joints = recorder.take()
            view = finder.find(gray, spec.camera.pinhole())
        except ValueError as error:
            print(f"not taken: {error}")
            continue
        name = f"look_{len(spec.looks):03d}.png"
        own = {key: joints[key] for key in robot.arm(options.arm).joint_names}
        spec = replace(spec, looks=(*spec.looks, LookSpec(name, own)))
        write_recording(options.folder, spec, {name: gray})
        far = float(np.linalg.norm(view.camera_T_board.translation_m))
        print(f"taken: {len(view.points)} corners, {far:.2f} m away, error {view.error_px:.2f} pixels")
    print(f"{options.folder / FILE}: {len(spec.looks)} looks")
    return 0 if spec.looks else 1


def _asked(prompt: str) -> str | None:
    try:
        return input(prompt).strip()
    except EOFError:
        return None


def run_solve(options: argparse.Namespace) -> int:
    """Find the camera, print the results of all solvers and of all looks, and write the transform.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the file was written.

    Raises:
        ConfigError: The folder is faulty, or the robot is not known.
    """
    spec, mount = read_recording(options.folder), Mount(options.mount)
    robot = load_robot(robot_folder(spec.robot))
    try:
        looks, faults = find_looks(options.folder, spec, robot, _board(options))
        for fault in faults:
            print(f"left out: {fault}")
        found = solve([look for _, look in looks], mount, spec.camera.pinhole())
    except ConfigError:
        raise  # the command line says it
    except ValueError as error:
        print(f"handiwork calibrate: {error}", file=sys.stderr)
        return 1
    best = found[0]
    _print(found, [name for name, _ in looks])
    link = robot.arm(spec.arm).ee_link if mount is Mount.ON_HAND else robot.root_link
    comments = [
        f"Pose of a camera by `handiwork calibrate solve`, {mount.value}, {len(looks)} looks.",
        f"Error {best.error_px:.2f} pixels; the board varies by {1e3 * best.spread_m:.2f} mm and "
        f"{np.rad2deg(best.spread_rad):.3f} degrees.",
    ]
    pose = best.parent_T_camera @ frame_pose(spec)
    try:
        options.out.write_text(
            transform_text(f"{robot.name}/{link}", spec.frame, pose, comments), encoding="utf-8"
        )
    except OSError as error:
        print(f"handiwork calibrate: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {spec.frame} in {robot.name}/{link}")
    return 0


def _print(found: list[Solution], images: list[str]) -> None:
    print(f"{'solver':<12}{'error':>10}{'board varies by':>24}{'from the result':>22}")
    for one in found:
        off_m, off_rad = one.parent_T_camera.distance_to(found[0].parent_T_camera)
        varies = f"{1e3 * one.spread_m:>12.2f} mm {np.rad2deg(one.spread_rad):>5.3f} deg"
        beside = f"{1e3 * off_m:>11.2f} mm {np.rad2deg(off_rad):>5.3f} deg"
        print(f"{one.solver:<12}{one.error_px:>7.2f} px{varies}{beside}")
    median = float(np.median(found[0].look_px))
    for name, error in zip(images, found[0].look_px, strict=True):
        doubt = "  doubtful: take it out of looks.yaml" if error > DOUBTFUL * median else ""
        print(f"{name:<24}{error:>7.2f} px{doubt}")


def _board(options: argparse.Namespace) -> BoardSpec:
    return BoardSpec(options.columns, options.rows, options.square, options.marker)
