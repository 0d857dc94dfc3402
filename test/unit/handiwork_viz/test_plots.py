"""The curves of a recording, as a picture and as a page."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from handiwork_viz.plots.page import MOST_POINTS, PlotPage, aligned
from handiwork_viz.plots.picture import draw
from handiwork_viz.plots.series import CONDITIONS, FEEDBACK, JOINTS, Curve, Curves, curves_of
from handiwork_viz.recording.bag_reader import Read


def reads() -> list[Read]:
    made = []
    for number in range(10):
        values = [0.1 * number, 0.04]
        joints = SimpleNamespace(
            name=["fr3_joint1", "fr3_finger_joint1"], position=values, velocity=values, effort=[]
        )
        made.append(Read("/joint_states", JOINTS, 5.0 + number, joints))
    error = SimpleNamespace(positions=[0.002])
    feedback = SimpleNamespace(feedback=SimpleNamespace(joint_names=["fr3_joint1"], error=error))
    made.append(Read("/feedback", FEEDBACK, 15.0, feedback))
    held = SimpleNamespace(key="object_grabbed(object=cube)", margin=0.3)
    made.append(Read("/conditions", CONDITIONS, 16.0, SimpleNamespace(conditions=[held])))
    made.append(Read("/chatter", "std_msgs/msg/String", 17.0, SimpleNamespace(data="")))
    return made


@pytest.fixture
def curves() -> Curves:
    return curves_of(reads())


def test_joints_fingers_errors_and_margins_have_a_panel_each(curves: Curves) -> None:
    assert [label for label, _ in curves.panels()] == [
        "position [rad, m]",
        "velocity [rad/s, m/s]",
        "tracking error [rad, m]",
        "gripper joint [m, rad]",
        "condition margin",
    ]
    assert curves.positions["fr3_joint1"].times_s[-1] == 9.0
    assert curves.fingers["fr3_finger_joint1"].values == [0.04] * 10
    assert curves.errors["fr3_joint1"].values == [0.002]
    assert curves.margins["object_grabbed(object=cube)"].times_s == [11.0]
    assert list(curves_of(reads(), ["fr3_joint1"]).fingers) == []


def test_a_picture_is_written(curves: Curves, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib; pip install -r requirements/plot.txt")
    assert draw(curves, tmp_path / "run.png", "run") == 5
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert draw(Curves(), tmp_path / "none.png", "none") == 0
    assert not (tmp_path / "none.png").exists()


def test_curves_with_other_times_share_one_axis() -> None:
    times_s, fast, late = aligned([Curve([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]), Curve([1.5], [7.0])])
    assert times_s.tolist() == [0.0, 1.0, 1.5, 2.0]
    assert fast.tolist() == [1.0, 2.0, 2.0, 3.0]
    assert np.isnan(late[:2]).all() and late[2:].tolist() == [7.0, 7.0]
    many = np.arange(5 * MOST_POINTS, dtype=float).tolist()
    shown_s, _ = aligned([Curve(many, many)])
    assert len(shown_s) <= MOST_POINTS + 1
    assert shown_s[-1] == many[-1]


def test_the_page_has_a_chart_for_each_panel(curves: Curves) -> None:
    pytest.importorskip("viser", reason="needs viser; pip install -r requirements/show.txt")
    page = PlotPage(curves, "run", "127.0.0.1", 0)
    try:
        assert page.port > 0
        assert len(page.charts) == 5
    finally:
        page.close()
