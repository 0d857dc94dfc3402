"""``handiwork calibrate`` on images of the simulation: it finds a transform that is hidden from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_cli.cli import main
from handiwork_core.cameras.camera import LINK_T_OPTICAL
from handiwork_core.robot.robot import Robot
from perception_bridge.table.static_frame import load_frame
from support.paths import ROBOTS
from support.records.calibration_board import record_in_process

SEED = 5
WITHIN_M, WITHIN_RAD = 0.002, np.deg2rad(0.3)


@pytest.mark.parametrize("on_hand", [True, False], ids=["eye_in_hand", "eye_to_hand"])
def test_a_hidden_transform_is_found_within_its_bounds(
    robot: Robot, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, on_hand: bool
) -> None:
    camera = record_in_process(tmp_path, ROBOTS / "fr3", SEED, on_hand=on_hand)
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
