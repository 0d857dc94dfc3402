"""Policies behind a websocket move the arm of the real stack until the monitor confirms, or are stopped and refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from handiwork_msgs.action import RunSkill
from sensor_msgs.msg import Image
from websockets.sync.server import ServerConnection, serve

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.robot_files.loader import load_robot
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from handiwork_policy.protocol.source import load_policy
from handiwork_policy.verdicts import result as ends
from handiwork_policy.verdicts.result import policy_result
from handiwork_ros.clients.skill_client import SkillReport
from handiwork_ros.clients.skill_goals import skill_goal
from handiwork_ros.rclpy_support.qos import LATEST
from support.paths import ROBOTS, ROOT
from support.stack.rig import Rig, wait_for

LAUNCH_ARGUMENTS = {"real_time_factor": "1"}
ARM = load_robot(ROBOTS / "fr3").arms["fr3_arm"]
GRABBED = "object_grabbed"
CHUNK = 8
RESULT_S = 240.0
NOT_MOVED = 0.004
"""A joint of an arm that was sent nothing stays within this, rad."""
SWUNG = 0.15
"""The server is silent once the first joint has gone so far, rad."""
WITHIN = 0.08
"""The brake from 0.8 rad/s goes no farther beyond the last position that was ever commanded, rad."""

Act = Callable[[dict[str, Any]], Any]


@pytest.fixture
def served() -> Iterator[Callable[[Act], str]]:
    """Serve functions as policies for the time of a test; return the address of each."""
    with ExitStack() as stack:
        yield lambda act: stack.enter_context(PolicyServer(FunctionPolicy(act))).address


def swing(observation: dict[str, Any]) -> Array:
    """Turn the first joint, steadily."""
    q = np.asarray(observation["observation/state"], dtype=np.float64)[:7]
    rows = np.repeat([q], CHUNK, axis=0)
    rows[:, 0] += 0.03 * np.arange(1, CHUNK + 1)
    return rows


def still(observation: dict[str, Any]) -> Array:
    return np.repeat([np.asarray(observation["observation/state"])[:7]], CHUNK, axis=0)


def run(rig: Rig, server: str, **keys: Any) -> SkillReport:
    return rig.client.run("run_policy", parameters(server, **keys), timeout_s=RESULT_S)


def parameters(server: str, **keys: Any) -> dict[str, Any]:
    return {"server": server, "until": GRABBED, "gripper": "none", "time_limit": 20.0, **keys}


def measured(rig: Rig, joint: int = 0) -> Array:
    """Return the positions of a joint of the arm since the records were cleared."""
    names = list(rig.client.run("wait", {"wait_steps": 1}).stopped_at)
    at = names.index(ARM.joint_names[joint])
    return np.array([sample.positions[at] for sample in rig.joints.samples])


def test_a_policy_grasps_until_the_monitor_confirms(rig: Rig, served: Callable[[Act], str]) -> None:
    policy = load_policy(f"{ROOT / 'examples/grasp_policy.py'}:make")
    report = run(
        rig,
        served(lambda seen: policy.infer(seen)["actions"]),
        state=["ee_pose", "object_pose(cube)", "gripper_width"],
        action_space="ee_pose",
        gripper="width",
        guard={"may_touch": ["cube"]},
        time_limit=100.0,
        subtasks=["gripper_open"],
    )
    assert report.ok, report.outcome
    rig.joints.assert_rests()
    assert report.held_object == "cube"
    found = policy_result(report.message)
    assert found is not None and found["success"] and found["end"] == ends.SUCCESS
    assert 0.0 < found["first_true_s"] <= found["confirmed_s"] <= found["duration_s"]
    assert "grasped" in [event["kind"] for event in found["events"]]
    touched = {
        body for pair in rig.contacts.pairs if any(b.startswith("fr3/") for b in pair) for body in pair
    }
    assert not {one for one in touched if not one.startswith("fr3/")} - {"cube"}
    assert rig.client.run("home").ok


def test_a_server_that_becomes_silent_ends_the_run_at_rest(rig: Rig, served: Callable[[Act], str]) -> None:
    release, last = threading.Event(), [0.0]

    def act(observation: dict[str, Any]) -> Array:
        rows = swing(observation)
        if float(np.asarray(observation["observation/state"])[0]) > SWUNG:
            release.wait(60.0)
        else:
            last[0] = float(rows[-1, 0])
        return rows

    try:
        report = run(rig, served(act), server_timeout=1.0, guard={"velocity_scaling": 0.3})
    finally:
        release.set()
    assert report.outcome.code is Code.UNRESPONSIVE, report.outcome
    assert report.outcome.field_name == "server"
    rig.joints.assert_rests()
    found = policy_result(report.message)
    assert found is not None and found["end"] == ends.SERVER_SILENT and not found["success"]
    path = measured(rig)
    assert path.max() <= last[0] + WITHIN, "the arm went beyond what was ever commanded"
    assert path.max() > SWUNG


def test_a_cancelled_run_ends_at_rest(rig: Rig, served: Callable[[Act], str]) -> None:
    handle = rig.client.send(skill_goal("run_policy", parameters(served(swing))))
    rig.joints.wait_moving(timeout_s=60.0)
    handle.cancel()
    report = handle.result(RESULT_S)
    assert report.outcome.code is Code.CANCELED, report.outcome
    found = policy_result(report.message)
    assert found is not None and found["steps"] > 0 and not found["success"], "what it has done is reported"
    rig.joints.assert_rests()
    assert rig.client.run("home").ok


def test_a_run_without_the_condition_ends_with_its_time(rig: Rig, served: Callable[[Act], str]) -> None:
    report = run(rig, served(still), time_limit=1.0)
    assert report.outcome.code is Code.CONDITION_FALSE, report.outcome
    found = policy_result(report.message)
    assert found is not None and found["end"] == ends.TIME_OVER and found["steps"] > 3


def test_pictures_of_a_camera_reach_the_policy(rig: Rig, served: Callable[[Act], str]) -> None:
    seen = list[Array]()

    def act(observation: dict[str, Any]) -> Array:
        seen.append(np.asarray(observation["front"]))
        return still(observation)

    message = Image(height=48, width=64, encoding="bgr8", step=192, data=bytes([9, 8, 7]) * (48 * 64))
    publisher = rig.client.node.create_publisher(Image, "lab/image_raw", LATEST)
    timer = rig.client.node.create_timer(0.05, lambda: publisher.publish(message))
    try:
        cameras = [{"key": "front", "topic": "lab/image_raw", "width": 32, "height": 32}]
        report = run(rig, served(act), cameras=cameras, time_limit=1.0)
    finally:
        timer.cancel()
        rig.client.node.destroy_publisher(publisher)
    assert report.outcome.code is Code.CONDITION_FALSE, report.outcome
    assert seen[0].shape == (32, 32, 3) and seen[0][5, 5].tolist() == [7, 8, 9]


def refuse(rig: Rig, server: str, field: str, code: Code, **keys: Any) -> str:
    report = run(rig, server, **keys)
    assert (report.outcome.code, report.outcome.field_name) == (code, field), report.outcome
    rig.joints.next()
    assert rig.joints.greatest_change() < NOT_MOVED
    return report.message


@pytest.mark.parametrize(
    ("keys", "field", "words"),
    [
        ({"until": "object_in_container(object=cub, container=bin)"}, "until", "cub"),
        ({"until": "object_above(object=can, reference_object=bin)"}, "until", "does not watch it"),
        ({"subtasks": ["gripper_opened"]}, "subtasks[0]", "gripper_opened"),
        ({"cameras": [{"key": "front"}]}, "cameras[0]", "cameras/front/color/image_raw has sent no image"),
        ({"action_space": "joint_delta", "gripper": "width"}, "action_space", "needs [steps, 8]"),
        ({"chunk": 5, "execute_steps": 5}, "action_space", "has 8 steps, but chunk is 5"),
    ],
)
def test_goals_that_do_not_fit_are_refused_before_the_arm_moves(
    rig: Rig, served: Callable[[Act], str], keys: dict[str, Any], field: str, words: str
) -> None:
    code = Code.STALE_WORLD if field.startswith("cameras") else Code.BAD_GOAL
    assert words in refuse(rig, served(still), field, code, **keys)


@pytest.mark.parametrize(
    ("act", "field", "words"),
    [
        (lambda _o: np.full((4, 7), np.nan), "action_space", "actions[0, 0] is nan"),
        (lambda _o: np.zeros((4, 3)), "action_space", "actions has the shape [4, 3]"),
        (lambda _o: 1 // 0, "server", "ZeroDivisionError"),
    ],
)
def test_bad_answers_are_refused_before_the_arm_moves(
    rig: Rig, served: Callable[[Act], str], act: Act, field: str, words: str
) -> None:
    assert words in refuse(rig, served(act), field, Code.BAD_GOAL)


def test_servers_that_are_none_are_refused_before_the_arm_moves(rig: Rig) -> None:
    def talk(connection: ServerConnection) -> None:
        connection.send(b"\xc1 no map")

    with serve(talk, "127.0.0.1", 0) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        port = other.socket.getsockname()[1]
        words = refuse(rig, f"ws://127.0.0.1:{port}", "server", Code.BAD_GOAL)
        assert "speaks another protocol" in words
        other.shutdown()
    assert "no policy server at" in refuse(rig, f"ws://127.0.0.1:{port}", "server", Code.UNRESPONSIVE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{server: 'http://a', until: object_grabbed}", "server"),
        ("{server: 'ws://a', until: object_grabbed, rate_hz: 1}", "rate_hz"),
        ("{server: 'ws://a', until: object_grabbed, guard: {may_touch: [cub]}}", "guard.may_touch"),
        ("{server: 'ws://a', until: object_grabbed, state: [pose]}", "state"),
        ("{server: 'ws://a', until: object_grabbed, action_space: torque}", "action_space"),
    ],
)
def test_parameters_that_contradict_the_robot_are_refused_at_once(rig: Rig, text: str, words: str) -> None:
    report = rig.client.send(RunSkill.Goal(skill="run_policy", parameters=text)).result(RESULT_S)
    assert not report.ok and words in report.message and report.stages == ()
    wait_for("an arm that stays", lambda: rig.joints.greatest_change() < NOT_MOVED)
