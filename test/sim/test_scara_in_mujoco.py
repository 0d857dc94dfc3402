"""A SCARA arm, of four joints, picks and places with all defaults in the folder that ``new-robot`` writes for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.skills.new_robots import episodes

from handiwork_cli.cli import main
from handiwork_core.robot_files.loader import load_robot
from support.paths import DATA


@pytest.mark.slow
def test_a_scara_from_its_urdf_picks_and_places(tmp_path: Path) -> None:
    folder = tmp_path / "scara"
    urdf = DATA / "robots" / "scara" / "scara.urdf"
    assert main(["new-robot", str(urdf), "--out", str(folder), "--samples", "500"]) == 0
    assert load_robot(folder).arm("").joint_names == ("shoulder", "elbow", "lift", "roll")
    good, failed = episodes(folder, range(3))
    assert good == 3, failed
