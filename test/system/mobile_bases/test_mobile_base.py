"""The task of the mobile FR3 in the running stack: it drives, and frames and conditions follow."""

from __future__ import annotations

import pytest

from handiwork_core.model.outcome import Code
from handiwork_ros.ports.frames import FrameBuffer, UnknownFrame
from support.paths import ROOT
from support.stack.rig import Rig, wait_for

LAUNCH_ARGUMENTS = {"robot": "fr3_mobile", "scene": "mobile", "real_time_factor": "5"}
TASK = ROOT / "config/tasks/fetch.yaml"


def stands_at(frames: FrameBuffer, place: tuple[float, float, float]) -> bool:
    try:
        world_T_base = frames.lookup("world", "fr3_mobile/fr3_link0")
    except UnknownFrame:
        return False
    return world_T_base.translation_m == pytest.approx(place, abs=0.02)


def test_the_cube_is_fetched_from_where_the_arm_cannot_reach(rig: Rig) -> None:
    frames = FrameBuffer(rig.client.node)
    report = rig.client.run_task(TASK.read_text(encoding="utf-8"), source=TASK.name)
    assert report.ok, report.outcome
    inside, reason = rig.stack.settled("object_in_container", "{object: cube, container: bin}", 60.0)
    assert inside, reason
    wait_for("the frame of the arm's base", lambda: stands_at(frames, (0.8, 1.26, 0.401)))
    blocked = rig.client.run("mobile_translate", {"target": [1.0, 0.0]})
    assert blocked.outcome.code is Code.PATH_BLOCKED, blocked.outcome
    rig.joints.assert_rests()
