"""Episodes from a recording: what was commanded at each time, whose goal it was, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest

from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.episode import Episode, EpisodeError
from handiwork_data.recordings import cut
from handiwork_data.recordings.cut import CutSettings, episodes_of
from handiwork_data.recordings.tracks import tracks_of
from handiwork_viz.recording.bag_reader import Read
from support.paths import ROBOTS, ROOT

ROBOT, SCENE = load_robot(ROBOTS / "fr3"), load_scene(ROOT / "config/scenes/tabletop.yaml")
(ARM,) = ROBOT.arms.values()
assert ARM.gripper is not None
FINGER = ARM.gripper.joint
SKILL, PATH = "pick", f"{ARM.name}_controller/follow_joint_trajectory"
HAND = "fr3_gripper_controller/gripper_cmd"


def stamp(time_s: float) -> Message:
    return Message(sec=int(time_s), nanosec=round((time_s - int(time_s)) * 1e9))


def key(number: int) -> Message:
    return Message(uuid=bytes([number] * 16))


def joints(time_s: float, value: float) -> Read:
    names = [*ARM.joint_names, FINGER]
    rows = Message(position=[value] * len(names), velocity=[0.0] * len(names), effort=[0.0] * len(names))
    message = Message(header=Message(stamp=stamp(time_s)), name=names, **vars(rows))
    return Read("/joint_states", "sensor_msgs/msg/JointState", time_s, message)


def sent(action: str, number: int, goal: Any) -> Message:
    return Message(topic=f"/{action}/_action/send_goal/_service_event",
                   message=Message(request=[Message(goal_id=key(number), goal=goal)], response=[]))  # fmt: skip


def status(action: str, number: int, value: int) -> Message:
    info = Message(goal_id=key(number), stamp=stamp(0.0))
    return Message(
        topic=f"/{action}/_action/status",
        message=Message(status_list=[Message(goal_info=info, status=value)]),
    )


def trajectory() -> Message:
    points = [Message(positions=[p] * 7, time_from_start=stamp(t)) for p, t in ((0.0, 0.0), (1.0, 1.0))]
    return Message(trajectory=Message(joint_names=list(ARM.joint_names), points=points))


def progress(number: int, time_s: float, passed_s: float) -> Message:
    feedback = Message(header=Message(stamp=stamp(time_s)), desired=Message(time_from_start=stamp(passed_s)))
    return Message(topic=f"/{PATH}/_action/feedback", message=Message(goal_id=key(number), feedback=feedback))


def ended(action: str, number: int, name: str, text: str) -> Message:
    outcome = Message(name=name, message=text, stage="grasp")
    result = Message(result=Message(result=Message(outcome=outcome)))
    request = Message(goal_id=key(number))
    return Message(topic=f"/{action}/_action/get_result/_service_event",
                   message=Message(request=[request], response=[result]))  # fmt: skip


def recording(events: dict[float, list[Message]], end_s: float = 4.0) -> list[Read]:
    """Return joint states at 50 Hz with the events after that of their time."""
    found: list[Read] = []
    for step in range(int(end_s * 50) + 1):
        time_s = step / 50
        found.append(joints(time_s, 0.1))
        found += [Read(one.topic, "", time_s, one.message) for one in events.get(time_s, [])]
    return found


def episodes(monkeypatch: pytest.MonkeyPatch, messages: Iterable[Read], success: str = "") -> list[Episode]:
    monkeypatch.setattr(cut, "read_messages", lambda *_a, **_k: iter(messages))
    return episodes_of(ROOT, CutSettings(ROBOT, SCENE, 25, "", success, "0.1.0", "x"))


PICK = {
    1.0: [sent(SKILL, 1, Message(arm=ARM.name, object="cube")), status(SKILL, 1, 2)],
    1.2: [sent(HAND, 3, Message(command=Message(name=[FINGER], position=[0.04])))],
    1.4: [sent(PATH, 2, trajectory())],
    1.6: [progress(2, 1.6, 0.1)],
    2.6: [progress(2, 2.6, 0.6)],
    3.0: [ended(SKILL, 1, "OK", "picked"), status(SKILL, 1, 4)],
}


def test_a_goal_becomes_an_episode_with_what_was_commanded_at_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (made,) = episodes(monkeypatch, recording(PICK))
    meta, columns = made.meta, made.columns
    assert (meta.instruction, meta.success, meta.verdict, meta.duration_s) == (
        "pick cube",
        True,
        "picked",
        2.0,
    )
    assert len(columns["time"]) == 51
    asked = columns["joint_command"][:, 0]
    # Before the trajectory the measured joints; then at half the speed, as the controller says.
    assert asked[0] == 0.1
    assert np.allclose(asked[[15, 20, 25, 35, 40]], [0.1, 0.2, 0.3, 0.5, 0.6])
    fingers = columns["joint_command"][:, meta.joints.index(FINGER)]
    assert (fingers[0], fingers[5]) == (0.1, 0.04)
    assert ARM.gripper is not None
    assert columns["gripper_command"][10, 0] == pytest.approx(ARM.gripper.width(0.04))
    assert columns["object_pose"].shape == (51, 0, 7)


def test_a_goal_that_failed_is_labelled_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    events = {**PICK, 3.0: [ended(SKILL, 1, "NO_IK", "out of reach"), status(SKILL, 1, 6)]}
    (made,) = episodes(monkeypatch, recording(events))
    assert (made.meta.success, made.meta.code, made.meta.failed_stage) == (False, "NO_IK", "grasp")


def test_a_condition_can_decide_instead_of_the_skill(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Message(topic="/conditions", message=Message(
        conditions=[Message(key="in_bin", value=1, margin=-0.2, reason="it lies beside it")]))  # fmt: skip
    events = {**PICK, 2.0: [seen]}
    (made,) = episodes(monkeypatch, recording(events), "in_bin")
    assert (made.meta.ok, made.meta.success, made.meta.verdict) == (True, False, "it lies beside it")
    assert made.columns["condition_value"][[0, 30], 0].tolist() == [0, 1]
    with pytest.raises(EpisodeError, match="has no condition 'on_table'"):
        episodes(monkeypatch, recording(events), "on_table")


def test_skills_within_a_task_are_no_episodes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    events = {**PICK, 0.5: [sent("run_task", 9, Message(source="tidy.yaml")), status("run_task", 9, 2)],
              3.5: [status("run_task", 9, 4)]}  # fmt: skip
    (made,) = episodes(monkeypatch, recording(events))
    assert (made.meta.task, made.meta.duration_s) == ("run_task", 3.0)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EpisodeError, match="has no goal of a skill or a task that began and ended"):
        episodes(monkeypatch, recording({}))
    with pytest.raises(EpisodeError, match="the recording has no topic joint_states"):
        tracks_of([])
    with pytest.raises(EpisodeError, match=r"went back from 4.00 to 0.00 s"):
        tracks_of([*recording({}), *recording({})])
