"""Both arms of one robot in the running stack: at the same time, as obstacles of each other, and one stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.two_arms.arm_gap import ArmGap
from handiwork_msgs.action import Place
from handiwork_msgs.srv import ResetWorld
from sensor_msgs.msg import JointState

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.stack.stack import Stack
from handiwork_core.model.outcome import Code
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.actions.task_report import EntryState, TaskFeedback
from handiwork_ros.clients.skill_goals import skill_goal
from handiwork_ros.rclpy_support.qos import LATEST
from support.cells.dual_fr3 import write_dual_fr3
from support.paths import ROOT
from support.stack.rig import ContactRecord, send_until, wait_for

# Motions last longer than plans, also on a busy machine, so that both arms move at once.
TASK = """
skills:
- dual_fr3:
  - left:
    - {name: pick, object: left_cube, max_velocity_scaling_factor: 0.3}
    - {name: place, container: %s, y_ratio_range: [0.65, 0.75], max_velocity_scaling_factor: 0.3}
    - {name: home}
    right:
    - {name: pick, object: right_cube, max_velocity_scaling_factor: 0.3}
    - {name: place, container: %s, y_ratio_range: [0.25, 0.35], max_velocity_scaling_factor: 0.3}
    - {name: home}
"""
HANDOVER = """
skills:
- dual_fr3:
  - left: [{name: handover, object: left_cube, search_time: 120.0, allowed_planning_time: 60.0}]
  - left: [{name: home, allowed_planning_time: 60.0}]
  - right: [{name: home, allowed_planning_time: 60.0}, {name: gripper_action, gripper_state: -1, object: left_cube}]
"""
LEFT = {"container": "tray", "y_ratio_range": [0.65, 0.75]}
RIGHT = {"container": "tray", "y_ratio_range": [0.25, 0.35]}


class Pair:
    """The running stack, every measured configuration, and every contact."""

    def __init__(self, stack: Stack, folder: Path) -> None:
        self.stack, self.client = stack, stack.client
        self.gap = ArmGap(load_robot(folder), "left_arm", "right_arm")
        self.samples: list[dict[str, float]] = []
        self.speeds: list[dict[str, float]] = []
        self.contacts = ContactRecord(stack.client.node)
        stack.client.node.create_subscription(JointState, "joint_states", self._heard, LATEST)

    def _heard(self, message: JointState) -> None:
        self.samples.append(dict(zip(message.name, message.position, strict=True)))
        self.speeds.append(dict(zip(message.name, message.velocity, strict=True)))

    def reset(self) -> None:
        answer = self.stack.call(ResetWorld, "sim/reset", ResetWorld.Request())
        assert answer.outcome.code == answer.outcome.OK, answer.outcome.message
        self.samples.clear()
        self.speeds.clear()
        self.contacts.clear()

    def moving(self) -> list[set[str]]:
        """Return the sides that move, for each measurement so far."""
        return [
            {name.split("_")[0] for name, v in speeds.items() if "finger" not in name and abs(v) > 0.05}
            for speeds in list(self.speeds)
        ]

    def assert_apart(self) -> None:
        """Check that the arms kept the distance of the referee, and that neither touched the object of the other."""
        nearest = min((self.gap.at(q) for q in list(self.samples)[::4]), key=lambda gap: gap.distance_m)
        assert nearest.distance_m > 0.002, nearest
        for side, other in (("left", "right"), ("right", "left")):
            touched = self.contacts.of(f"{side}_cube")
            assert not any(f"/{other}_" in body for body in touched), touched


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = write_dual_fr3(tmp_path_factory.mktemp("robots") / "dual_fr3")
    robots = (share_of("robot_description") / "robots").resolve()
    scenes = (share_of("handiwork_bringup") / "config" / "scenes").resolve()
    arguments = {
        "robot": os.path.relpath(folder, robots),
        "scene": os.path.relpath(ROOT / "test" / "data" / "scenes" / "two_arms", scenes),
        "conditions": "conditions_two_arms",
        "real_time_factor": "2",
    }
    with Stack(arguments) as stack:
        stack.wait_active()
        yield Pair(stack, folder)


@pytest.fixture
def pair(running: Pair) -> Pair:
    running.reset()
    return running


def test_both_arms_pick_and_place_at_once_and_never_touch(pair: Pair) -> None:
    seen: list[TaskFeedback] = []
    report = pair.client.run_task(
        TASK % ("left_tray", "right_tray"), source="two_trays.yaml", on_feedback=seen.append
    )
    assert report.ok, report.outcome
    assert [e.state for e in report.entries] == [EntryState.SUCCEEDED] * 6
    assert {e.arm for e in report.entries} == {"left_arm", "right_arm"}
    assert {"left", "right"} in pair.moving(), [(f.arm, f.progress.stage) for f in seen]
    pair.assert_apart()


def test_of_two_arms_that_want_the_same_tray_one_waits_and_both_end_well(pair: Pair) -> None:
    seen: list[TaskFeedback] = []
    report = pair.client.run_task(TASK % ("tray", "tray"), source="one_tray.yaml", on_feedback=seen.append)
    assert report.ok, report.outcome
    waits = {f.progress.stage for f in seen if f.progress.stage.startswith("waiting for ")}
    assert any("in the way (dual_fr3/" in stage for stage in waits), waits
    pair.assert_apart()


def test_a_task_hands_a_cube_to_the_other_arm_which_takes_it_home(pair: Pair) -> None:
    report = pair.client.run_task(HANDOVER, source="handover.yaml")
    assert report.ok, report.outcome
    assert [(e.arm, e.skill, e.state) for e in report.entries] == [
        ("left_arm", "handover", EntryState.SUCCEEDED),
        ("left_arm", "home", EntryState.SUCCEEDED),
        ("right_arm", "home", EntryState.SUCCEEDED),
        ("right_arm", "gripper_action", EntryState.SUCCEEDED),
    ]
    assert {"left", "right"} <= set().union(*pair.moving())


def test_a_handover_has_both_arms(pair: Pair) -> None:
    slow = {"object": "left_cube", "max_velocity_scaling_factor": 0.1}
    handed = send_until(pair.client.send, skill_goal("handover", slow, "left_arm"), "pick: approach")
    busy = pair.client.run("home", arm="right_arm")
    assert busy.outcome.code is Code.BUSY and "right_arm is busy with 'handover'" in busy.message
    handed.cancel()
    assert handed.result(60.0).outcome.code is Code.CANCELED
    assert pair.client.run("home", arm="right_arm").ok


def test_a_goal_names_its_arm_and_a_cancel_of_one_leaves_the_other(pair: Pair) -> None:
    nameless = pair.client.send(Place.Goal(container="tray")).result(60.0)
    assert (nameless.outcome.code, nameless.outcome.field_name) == (Code.BAD_GOAL, "arm")
    assert "left_arm" in nameless.message and "right_arm" in nameless.message
    slow = {"object": "left_cube", "max_velocity_scaling_factor": 0.1}
    left = send_until(pair.client.send, skill_goal("pick", slow, "left_arm"), "approach")
    right = send_until(
        pair.client.send, skill_goal("pick", {"object": "right_cube"}, "right_arm"), "approach"
    )
    busy = pair.client.run("home", arm="left_arm")
    assert busy.outcome.code is Code.BUSY and "left_arm is busy with 'pick'" in busy.message
    wait_for("both arms on their ways", lambda: {"left", "right"} == pair.moving()[-1])
    left.cancel()
    ended = left.result(60.0)
    assert ended.outcome.code is Code.CANCELED and not right.done
    assert ended.stopped_ee is not None and ended.stopped_ee.translation_m[1] > 0.0
    picked = right.result(60.0)
    assert picked.ok and picked.held_object == "right_cube", picked.outcome
    assert picked.stopped_ee is not None and picked.stopped_ee.translation_m[1] < 0.0


def test_an_arm_is_previewed_while_the_other_works(pair: Pair) -> None:
    slow = {"object": "right_cube", "max_velocity_scaling_factor": 0.1}
    right = send_until(pair.client.send, skill_goal("pick", slow, "right_arm"), "approach")
    report = pair.client.pick("left_cube", arm="left_arm", plan_only=True)
    assert report.ok, report.outcome
    assert report.plan is not None
    assert (report.plan.arm, right.done) == ("left_arm", False)
    assert {"left"} & set().union(*pair.moving()) == set()
    right.cancel()
    assert right.result(20.0).outcome.code is Code.CANCELED
    picked = pair.client.execute(report.plan)
    assert (picked.ok, picked.planning_time_s, picked.held_object) == (True, 0.0, "left_cube"), picked.outcome
    pair.assert_apart()


def test_an_arm_that_stands_in_the_way_and_has_nothing_to_do_is_named(pair: Pair) -> None:
    assert pair.client.run("pick", {"object": "right_cube"}, arm="right_arm").ok
    assert pair.client.run("place", RIGHT, arm="right_arm").ok
    stages: list[str] = []
    picked = pair.client.run("pick", {"object": "left_cube"}, arm="left_arm")
    assert picked.ok, picked.outcome
    report = pair.client.run(
        "place", LEFT, arm="left_arm", on_feedback=lambda progress: stages.append(progress.stage)
    )
    assert report.outcome.code is Code.ARM_IN_THE_WAY, report.outcome
    assert "right_arm stands in the way" in report.message and "home" in report.message
    assert any(stage.startswith("waiting for right_arm") for stage in stages)
    assert pair.client.run("home", arm="right_arm").ok
    assert pair.client.run("place", LEFT, arm="left_arm").ok
    pair.assert_apart()
