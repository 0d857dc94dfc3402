"""The judgement of a backend: a good recording passes, and each planted fault is found and named."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from handiwork_check.contract import action_rules, service_rules, topic_rules
from handiwork_check.findings import (
    CheckFinding,
    CheckVerdict,
    is_good,
    report_json,
    report_lines,
)
from handiwork_check.judge_clock import is_simulated, judge_clock
from handiwork_check.judge_contacts import judge_contacts
from handiwork_check.judge_frames import judge_frames
from handiwork_check.judge_joints import amounts, judge_motion, judge_readings
from handiwork_check.judge_tools import judge_gripper, judge_suction
from handiwork_check.judge_topics import judge_interfaces, judge_rates, judge_topics
from handiwork_check.recording import (
    ArmMotion,
    FrameMessage,
    GripperMotion,
    JointSample,
    Publisher,
    Received,
    Recording,
    SuctionTrial,
    joined,
)
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import (
    Contact,
    ObjectState,
    Shape,
    ShapeKind,
    WorldObject,
)
from handiwork_core.robot_files.loader import load_robot
from support.navigated import navigated_robot
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
assert ARM.gripper is not None
GRIPPER = ARM.gripper
RULES = topic_rules(ROBOT, is_simulated=True)
STILL = frozen((0.0, 0.0, 0.0))
HOME = {**dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True)), "fr3_finger_joint1": 0.03}


def sample(
    at_s: float, position: Mapping[str, float], speed: Mapping[str, float] | None = None
) -> JointSample:
    """Return a sample of the joints.

    Args:
        at_s: Time of arrival, s.
        position: Joint -> position, rad or m.
        speed: Joint -> velocity, rad/s or m/s; None for rest.
    """
    speeds = tuple((speed or {}).get(name, 0.0) for name in position)
    return JointSample(at_s, 40.0 + at_s, tuple(position), tuple(position.values()), speeds)


def stream(rate_hz: float, over_s: float = 3.0) -> tuple[Received, ...]:
    """Return the arrivals of messages at a constant rate.

    Args:
        rate_hz: The rate.
        over_s: Duration, s.
    """
    return tuple(Received(i / rate_hz, 40.0 + i / rate_hz) for i in range(int(over_s * rate_hz)))


def good() -> Recording:
    """Return the recording of a simulator that keeps the contract."""
    latched = {"/tf_static", "/robot_description", "/world/objects"}
    publishers = {
        rule.name: (Publisher("world", rule.type, rule.reliable, rule.name in latched),) for rule in RULES
    }
    publishers["/tf"] = (Publisher("world", RULES[2].type), Publisher("robot", RULES[2].type))
    links = tuple(("fr3/fr3_link0", f"fr3/{link}") for link in ROBOT.links if link != ROBOT.root_link)
    moving = [FrameMessage(False, 900 + i, (("world", "cube"),)) for i in range(20)]
    moving += [FrameMessage(False, 3 + i, links) for i in range(20)]
    body = WorldObject("cube", (Shape(ShapeKind.BOX, frozen((0.04,) * 3), Pose.identity()),), mass_kg=0.1)
    return Recording(
        publishers=publishers,
        services={},
        actions={rule.name: rule.type for rule in action_rules(ROBOT)},
        received={rule.name: stream(rule.rate_hz or 1.0) for rule in RULES},
        joints=tuple(sample(i / 100.0, HOME) for i in range(300)),
        frames=(FrameMessage(True, 1, (("world", f"fr3/{ROBOT.root_link}"),)), *moving),
        objects={"cube": body},
        states={"cube": ObjectState(Pose.identity(), STILL, STILL, 43.0)},
        contacts=((Contact("cube", "table", frozen((0.0, 0.0, 0.981)), STILL),),) * 10,
        system_s=1.8e9,
    )


def motion(moved: Mapping[str, float] | None = None, *, speed_share: float = 1.0) -> ArmMotion:
    """Return a motion of one second.

    Args:
        moved: Joint -> distance that it moves, rad or m; None for the requested distances.
        speed_share: Measured speed as a share of the true one.
    """
    start = sample(0.0, HOME)
    asked = amounts(ROBOT, ARM, start)
    moved = asked if moved is None else moved
    samples = []
    for i in range(101):
        there = {name: HOME[name] + moved.get(name, 0.0) * i / 100.0 for name in HOME}
        speeds = {name: amount * speed_share for name, amount in moved.items()}
        samples.append(sample(i / 100.0, there, speeds))
    return ArmMotion(ARM.name, asked, tuple(samples))


def grip(**changes: object) -> list[GripperMotion]:
    """Return the measurements of opening, closing, and closing on a cube of 40 mm."""
    motions = [
        GripperMotion(GRIPPER.name, 0.04, 0.03, 0.04, reached=True, stalled=False),
        GripperMotion(GRIPPER.name, 0.0, 0.04, 0.0, reached=True, stalled=False),
        GripperMotion(GRIPPER.name, 0.0, 0.04, 0.02, reached=False, stalled=True, object_m=0.04),
    ]
    last = 2 if changes.pop("held", False) else 1
    motions[last] = replace(motions[last], **changes)  # type: ignore[arg-type]
    return motions


def judge(recording: Recording) -> list[CheckFinding]:
    """Return all findings from a recording of topics alone.

    Args:
        recording: The recording.
    """
    return [
        *judge_topics(RULES, recording),
        *judge_rates(RULES, recording),
        *judge_interfaces("action", action_rules(ROBOT), recording.actions),
        *judge_interfaces("service", service_rules(ROBOT), recording.services),
        *judge_clock(recording),
        *judge_frames(ROBOT, recording),
        *judge_readings(ROBOT, recording),
        *judge_contacts(ROBOT, recording),
    ]


def fault(findings: Sequence[CheckFinding], check: str) -> CheckFinding:
    """Return the only fault: of this check, with a remedy, and part of the report.

    Args:
        findings: All findings.
        check: Name of the check.
    """
    faults = [finding for finding in findings if finding.is_fault]
    assert [finding.check for finding in faults] == [check]
    assert faults[0].remedy
    assert not is_good(findings)
    return faults[0]


def test_a_good_backend_passes_every_check() -> None:
    recording = good()
    findings = [
        *judge(recording),
        *judge_motion(motion()),
        *judge_gripper(GRIPPER, grip()),
        *judge_suction("cup", [air(sealed=False), seal(sealed=True, held="box")]),
    ]
    assert {finding.verdict for finding in findings} == {CheckVerdict.PASS}
    assert is_good(findings)
    assert list(report_lines(findings))[-1].endswith("the contract holds")


def test_silence_is_no_real_robot() -> None:
    found = list(judge_clock(Recording()))
    assert [finding.is_fault for finding in found] == [True]


def test_no_finding_at_all_is_no_pass() -> None:
    assert not is_good([])


def test_fault_1_a_missing_topic() -> None:
    recording = good()
    publishers = {name: found for name, found in recording.publishers.items() if name != "/world/contacts"}
    found = fault(judge(replace(recording, publishers=publishers)), "topic /world/contacts")
    assert found.verdict is CheckVerdict.MISSING
    assert "handiwork_msgs/msg/Contacts" in found.remedy


def test_fault_2_a_wrong_type() -> None:
    recording = good()
    publishers = {**recording.publishers, "/clock": (Publisher("world", "std_msgs/msg/Header"),)}
    found = fault(judge(replace(recording, publishers=publishers)), "topic /clock")
    assert found.text == "world publishes std_msgs/msg/Header"


@pytest.mark.parametrize(
    ("topic", "changes", "word"),
    [
        ("/joint_states", {"is_reliable": False}, "best effort"),
        ("/world/objects", {"is_latched": False}, "volatile"),
    ],
)
def test_fault_3_quality_of_service(topic: str, changes: dict[str, bool], word: str) -> None:
    recording = good()
    (publisher,) = recording.publishers[topic]
    changed = replace(publisher, **changes)
    publishers = {**recording.publishers, topic: (changed,)}
    assert word in fault(judge(replace(recording, publishers=publishers)), f"qos {topic}").text


def test_fault_4_too_few_messages() -> None:
    recording = good()
    slow = replace(recording, received={**recording.received, "/world/object_states": stream(20.0)})
    assert "20 Hz of 50 Hz" in fault(judge(slow), "rate /world/object_states").text


def test_a_slow_simulation_is_judged_by_its_own_time() -> None:
    recording = good()
    slow = tuple(Received(4.0 * one.received_s, one.stamp_s) for one in stream(100.0))
    assert is_good(judge(replace(recording, received={**recording.received, "/joint_states": slow})))


def test_fault_5_a_clock_that_goes_back() -> None:
    recording = good()
    ticks = stream(100.0)
    back = (*ticks[:150], *(replace(tick, stamp_s=tick.stamp_s - 0.2) for tick in ticks[150:]))
    found = fault(judge(replace(recording, received={**recording.received, "/clock": back})), "clock forward")
    assert "/clock went back from 41.490 s to 41.300 s" in found.text


def test_a_clock_that_stands_still_is_told() -> None:
    recording = good()
    frozen_clock = tuple(replace(tick, stamp_s=41.0) for tick in stream(100.0))
    faults = [
        f
        for f in judge(replace(recording, received={**recording.received, "/clock": frozen_clock}))
        if f.is_fault
    ]
    assert "clock going on" in [finding.check for finding in faults]


@pytest.mark.parametrize("wall", [True, False])
def test_only_a_real_robot_may_lack_a_clock(wall: bool) -> None:
    recording = good()
    publishers = {name: found for name, found in recording.publishers.items() if name != "/clock"}
    received = {name: found for name, found in recording.received.items() if name != "/clock"}
    system_s = recording.joints[-1].stamp_s if wall else 1.8e9
    without = replace(recording, publishers=publishers, received=received, system_s=system_s)
    assert is_simulated(without) is not wall
    assert is_good(list(judge_clock(without))) is wall


@pytest.mark.parametrize("ahead", [-3, 0, 2, 5000])
def test_fault_6_two_publishers_of_an_edge(ahead: int) -> None:
    recording = good()
    mixed: list[FrameMessage] = []
    for message in recording.frames:
        mixed.append(message)
        if message.edges == (("world", "cube"),):
            mixed.append(replace(message, number=message.number + ahead))
    publishers = {
        **recording.publishers,
        "/tf": (*recording.publishers["/tf"], Publisher("other", RULES[2].type)),
    }
    changed = replace(recording, frames=tuple(mixed), publishers=publishers)
    assert "'world' to 'cube' on /tf" in fault(judge(changed), "frames publishers").text


def test_an_edge_on_both_topics_has_two_publishers() -> None:
    recording = good()
    twice = (*recording.frames, FrameMessage(True, 1, (("world", "cube"),)))
    assert "/tf and /tf_static" in fault(judge(replace(recording, frames=twice)), "frames publishers").text


def test_fault_7_a_tree_in_two_pieces() -> None:
    recording = good()
    found = fault(judge(replace(recording, frames=recording.frames[1:])), "frames tree")
    assert "'fr3/fr3_link0'" in found.text


def test_a_frame_with_two_parents_is_told() -> None:
    recording = good()
    other = tuple(FrameMessage(False, 40 + i, (("table", "cube"),)) for i in range(5))
    assert (
        "['table', 'world']"
        in fault(judge(replace(recording, frames=recording.frames + other)), "frames tree").text
    )


def test_fault_8_joints_in_another_order() -> None:
    asked = motion().asked
    first, second = ARM.joint_names[:2]
    swapped = {**asked, first: asked[second], second: asked[first]}
    found = fault(list(judge_motion(motion(swapped))), f"joints order {ARM.name}")
    assert f"{first} was commanded" in found.text
    assert f"as {second} was commanded" in found.text


@pytest.mark.parametrize(
    ("share", "words"), [(0.0, "did not move"), (-1.0, "the other way"), (math.degrees(1.0), "in degrees")]
)
def test_a_joint_that_moves_otherwise_is_told(share: float, words: str) -> None:
    asked = motion().asked
    name = ARM.joint_names[3]
    assert (
        words
        in fault(
            list(judge_motion(motion({**asked, name: share * asked[name]}))), f"joints order {ARM.name}"
        ).text
    )


def test_fault_9_degrees() -> None:
    recording = good()
    degrees = {name: math.degrees(value) for name, value in HOME.items()}
    found = fault(
        judge(replace(recording, joints=tuple(sample(i / 100.0, degrees) for i in range(300)))),
        "joints limits",
    )
    assert "it looks like degrees" in found.text


def test_speeds_in_another_unit_are_told() -> None:
    fault(list(judge_motion(motion(speed_share=math.degrees(1.0)))), f"joints speeds {ARM.name}")


@pytest.mark.parametrize("lacking", ["fr3_joint4", "fr3_finger_joint1"])
def test_a_missing_joint_is_named(lacking: str) -> None:
    recording = good()
    fewer = {name: value for name, value in HOME.items() if name != lacking}
    assert (
        lacking
        in fault(
            judge(replace(recording, joints=(sample(0.0, fewer), sample(0.1, fewer)))), "joints names"
        ).text
    )


def test_arrays_of_other_lengths_are_told() -> None:
    recording = good()
    short = tuple(replace(one, velocity=()) for one in recording.joints)
    assert "0 velocities" in fault(judge(replace(recording, joints=short)), "joints numbers").text


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"after": 0.04}, "says reached_goal"),
        ({"reached": False, "stalled": True}, "does not say reached_goal"),
        ({"fault": "gripper_cmd did not end within 10 s"}, "did not end"),
    ],
)
def test_fault_10_a_gripper_that_lies(changes: dict[str, object], word: str) -> None:
    assert word in fault(list(judge_gripper(GRIPPER, grip(**changes))), f"gripper truth {GRIPPER.name}").text


@pytest.mark.parametrize("changes", [{"reached": True, "stalled": False}, {"after": 0.0}])
def test_fault_11_a_stall_that_is_not_told(changes: dict[str, object]) -> None:
    found = fault(list(judge_gripper(GRIPPER, grip(held=True, **changes))), f"gripper stall {GRIPPER.name}")
    assert "40 mm between the fingers" in found.text


def air(*, sealed: bool, why: str = "nothing before the cup") -> SuctionTrial:
    """Return a trial of the cup without an object.

    Args:
        sealed: Whether the cup reports a seal.
        why: Reason that it reports.
    """
    return SuctionTrial("cup", True, "", SuctionState(1.0, True, sealed, why=why))


def seal(*, sealed: bool, held: str) -> SuctionTrial:
    """Return a trial of the cup on a box.

    Args:
        sealed: Whether the cup reports a seal.
        held: Object that it reports.
    """
    return SuctionTrial("cup", True, "box", SuctionState(1.0, True, sealed, held))


@pytest.mark.parametrize(
    ("trials", "check"),
    [
        ([air(sealed=True), seal(sealed=True, held="")], "suction air cup"),
        ([air(sealed=False, why=""), seal(sealed=True, held="")], "suction air cup"),
        ([air(sealed=False), seal(sealed=False, held="")], "suction seal cup"),
        ([air(sealed=False), seal(sealed=True, held="lid")], "suction seal cup"),
        ([seal(sealed=True, held="box")], "suction air cup"),
    ],
)
def test_fault_12_a_cup_that_lies(trials: list[SuctionTrial], check: str) -> None:
    fault(list(judge_suction("cup", trials)), check)


@pytest.mark.parametrize(("share", "word"), [(-1.0, "the other way round"), (0.01, "weighs 0.98 N")])
def test_fault_13_contact_forces(share: float, word: str) -> None:
    recording = good()
    force = frozen((0.0, 0.0, share * 0.981))
    contacts = ((Contact("cube", "table", force, STILL),),) * 10
    assert word in fault(judge(replace(recording, contacts=contacts)), "contacts sign").text


def test_the_report_for_programs_has_every_finding() -> None:
    findings = judge(replace(good(), actions={}))
    report = json.loads(report_json("fr3", findings))
    assert report["good"] is False
    assert [row["check"] for row in report["findings"]] == [finding.check for finding in findings]
    assert {row["verdict"] for row in report["findings"]} == {"pass", "missing"}


def test_a_base_that_nav2_drives_needs_the_action_of_nav2_and_no_controller() -> None:
    rules = {rule.name: rule.type for rule in action_rules(navigated_robot())}
    assert rules["/navigate_to_pose"] == "nav2_msgs/action/NavigateToPose"
    assert "/base_controller/follow_joint_trajectory" not in rules


def test_joints_of_several_publishers_are_judged_together() -> None:
    arm = {name: value for name, value in HOME.items() if name != "fr3_finger_joint1"}
    finger = {"fr3_finger_joint1": 0.03}
    apart = (sample(2.8, arm), sample(2.9, finger), sample(3.0, arm))
    assert joined(apart).of("fr3_finger_joint1") == 0.03
    found = judge(replace(good(), joints=apart))
    assert not [one for one in found if one.check == "joints names" and "lacks" in one.text]
    alone = judge(replace(good(), joints=(sample(3.0, arm),)))
    assert [one for one in alone if one.check == "joints names" and "lacks" in one.text]
