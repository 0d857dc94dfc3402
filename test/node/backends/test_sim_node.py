"""The simulation as a node: the whole contract, goals to their ends, broken files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from handiwork_msgs.srv import ResetWorld, SetObjectPose, SetPaused, StepWorld
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import JointTolerance
from handiwork_core.model.outcome import Code
from handiwork_ros.conversions import time_from_msg
from support.nodes.ros_stage import wait_for
from support.nodes.sim_client import (
    ABORTED,
    CANCELED,
    NAMES,
    ROBOT,
    SCENE,
    SUCCEEDED,
    WRENCH,
    Client,
)


def test_every_topic_of_the_contract_is_there(client: Client) -> None:
    objects = client.newest["world/objects"]
    assert {o.name for o in objects.objects} == {"floor", "pedestal", "table", "cube", "bin", "can"}
    assert {s.name for s in client.newest["world/object_states"].states} == {o.name for o in objects.objects}
    assert client.newest["world/object_states"].version == objects.version
    assert {t.child_frame_id for t in client.newest["/tf"].transforms} == {o.name for o in objects.objects}
    assert {*NAMES, "fr3_finger_joint1", "fr3_finger_joint2"} == set(client.joints())
    wait_for(lambda: {"cube", "table"} in [{c.a, c.b} for c in client.newest["world/contacts"].contacts])
    before = time_from_msg(client.newest["/clock"].clock)
    wait_for(lambda: time_from_msg(client.newest["/clock"].clock) > before + 0.1)


def test_a_trajectory_succeeds_and_the_arm_is_there(client: Client) -> None:
    target = client.joints()["fr3_joint1"] + 0.3
    answer = client.result(client.send(client.arm, client.motion(0.3, 1.0)))
    assert (answer.status, answer.result.error_code) == (SUCCEEDED, 0)
    wait_for(lambda: abs(client.joints()["fr3_joint1"] - target) < 5e-3)


def test_a_cancel_stops_the_arm_on_its_way(client: Client) -> None:
    target = client.joints()["fr3_joint1"] + 1.5
    handle = client.send(client.arm, client.motion(1.5, 3.0))
    wait_for(lambda: client.speed() > 0.2)
    client.answer(handle.cancel_goal_async)
    assert client.result(handle).status == CANCELED
    wait_for(lambda: client.speed() < 0.01)
    assert client.joints()["fr3_joint1"] < target - 0.1


def test_a_goal_that_is_refused_disturbs_no_running_one(client: Client) -> None:
    running = client.send(client.arm, client.motion(0.5, 4.0))
    lifted = client.motion(0.5, 4.0)
    lifted.path_tolerance = [JointTolerance(name=lifted.trajectory.joint_names[0], position=-1.0)]
    refused = client.result(client.send(client.arm, lifted))
    assert refused.status == ABORTED
    assert "path_tolerance" in refused.result.error_string
    answer = client.result(running)
    assert answer.status == SUCCEEDED, answer.result.error_string


def test_a_newer_goal_ends_the_older_one(client: Client) -> None:
    handle = client.send(client.arm, client.motion(1.5, 3.0))
    wait_for(lambda: client.speed() > 0.2)
    newer = client.send(client.arm, client.motion(0.0, 1.0))
    answer = client.result(handle)
    assert answer.status == ABORTED
    assert "a newer goal took over" in answer.result.error_string
    assert client.result(newer).status == SUCCEEDED


def test_a_bad_goal_is_aborted_with_the_reason_and_nothing_moves(client: Client) -> None:
    goal = client.motion(0.3, 1.0)
    goal.trajectory.joint_names = [*NAMES[:-1], "fr3_elbow"]
    answer = client.result(client.send(client.arm, goal))
    assert (answer.status, answer.result.error_code) == (ABORTED, FollowJointTrajectory.Result.INVALID_JOINTS)
    assert "unknown ['fr3_elbow'], missing ['fr3_joint7']" in answer.result.error_string
    assert client.speed() < 1e-3


@pytest.mark.parametrize(("position", "status"), [(0.01, SUCCEEDED), (0.5, ABORTED)])
def test_the_gripper_reaches_what_it_can(client: Client, position: float, status: int) -> None:
    goal = ParallelGripperCommand.Goal(command=JointState(name=["fr3_finger_joint1"], position=[position]))
    answer = client.result(client.send(client.gripper, goal))
    assert answer.status == status
    assert answer.result.reached_goal is (status == SUCCEEDED)
    assert not answer.result.stalled


def test_closing_on_an_object_stalls(client: Client) -> None:
    # The cube is put between almost closed fingers in a paused world, so that they meet it before it has fallen far.
    near = ParallelGripperCommand.Goal(command=JointState(name=["fr3_finger_joint1"], position=[0.025]))
    assert client.result(client.send(client.gripper, near)).result.reached_goal
    assert client.call("set_paused", SetPaused.Request(paused=True)).outcome.code == Code.OK
    request = SetObjectPose.Request(object="cube")
    request.pose.header.frame_id = "world"
    request.pose.pose.position.x, request.pose.pose.position.z = 0.307, 0.487
    request.pose.pose.orientation.w = 1.0
    assert client.call("set_object_pose", request).outcome.code == Code.OK
    goal = ParallelGripperCommand.Goal(
        command=JointState(name=["fr3_finger_joint1"], position=[0.0], velocity=[0.2])
    )
    handle = client.send(client.gripper, goal)
    assert client.call("set_paused", SetPaused.Request(paused=False)).outcome.code == Code.OK
    answer = client.result(handle)
    assert answer.status == SUCCEEDED
    assert answer.result.stalled
    assert not answer.result.reached_goal
    assert answer.result.state.position[0] > 0.01


def test_a_paused_world_stands_still_and_goes_on_by_steps(client: Client) -> None:
    refused = client.call("step", StepWorld.Request(duration=0.1)).outcome
    assert refused.code == Code.CONTRADICTION
    assert client.call("set_paused", SetPaused.Request(paused=True)).outcome.code == Code.OK
    client.newest.pop("joint_states")
    wait_for(lambda: "joint_states" in client.newest)
    before = client.now_s()
    assert client.call("step", StepWorld.Request(duration=0.25)).outcome.code == Code.OK
    wait_for(lambda: client.now_s() == pytest.approx(before + 0.25, abs=1e-6))
    assert client.call("step", StepWorld.Request(duration=float("nan"))).outcome.code == Code.BAD_NUMBER


def test_the_speed_is_set_while_the_world_runs(client: Client) -> None:
    bridge = client.bridge
    assert bridge is not None

    def set_to(name: str, value: float) -> Any:
        return bridge.set_parameters([Parameter(name, value=value)])[0]

    for bad in (-1.0, float("nan"), 1e6):
        refused = set_to("real_time_factor", bad)
        assert not refused.successful
        assert "give 0 to 1000" in refused.reason
    assert not set_to("seed", 5).successful  # all others are read-only
    assert set_to("real_time_factor", 0.0).successful  # as fast as possible
    begun_s = client.now_s()
    wait_for(lambda: client.now_s() > begun_s + 1.0)
    assert set_to("real_time_factor", 1.0).successful
    assert bridge.get_parameter("real_time_factor").value == 1.0


def test_a_reset_raises_the_version_and_the_clock_goes_on(client: Client) -> None:
    before, version = client.now_s(), client.newest["world/objects"].version
    answer = client.call("reset", ResetWorld.Request(seed=7, randomize=True))
    assert (answer.outcome.code, answer.world_version) == (Code.OK, version + 1)
    wait_for(lambda: client.newest["world/objects"].version == version + 1)
    assert client.now_s() >= before


@pytest.mark.parametrize(
    ("name", "frame", "w", "code", "field"),
    [
        ("cup", "world", 1.0, Code.UNKNOWN_OBJECT, "object"),
        ("cube", "table", 1.0, Code.UNKNOWN_FRAME, "pose.header.frame_id"),
        ("cube", "world", 0.0, Code.BAD_NUMBER, "pose.pose.orientation"),
    ],
)
def test_bad_poses_are_refused(
    client: Client, name: str, frame: str, w: float, code: Code, field: str
) -> None:
    request = SetObjectPose.Request(object=name)
    request.pose.header.frame_id = frame
    request.pose.pose.orientation.w = w
    outcome = client.call("set_object_pose", request).outcome
    assert (outcome.code, outcome.field) == (code, field)


def test_a_broken_scene_ends_the_process_with_file_key_and_mend(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(SCENE.read_text().replace("mass: 0.1", "mas: 0.1"))
    parameters = ["-p", f"robot_dir:={ROBOT}", "-p", f"scene_file:={path}"]
    apart = ["-r", "__ns:=/apart"]  # from the one of this module
    command = [sys.executable, "-m", "sim_bridge.node", "--ros-args", *apart, *parameters]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=os.environ.copy(), check=False
    )
    assert ended.returncode == 2
    assert f"{path}: objects.cube.mas: unknown key; did you mean 'mass'?" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_sensor_of_the_free_hand_measures_nothing_in_the_frame_of_the_hand(simulation: Client) -> None:
    simulation.start_over()
    message = simulation.newest[WRENCH]
    assert message.header.frame_id == "fr3/fr3_hand"
    force = message.wrench.force
    assert max(abs(force.x), abs(force.y), abs(force.z)) < 0.5


@pytest.mark.parametrize(("force_n", "code"), [(20.0, 0), (0.5, -1)])
def test_a_bound_of_the_force_is_watched_or_refused(simulation: Client, force_n: float, code: int) -> None:
    simulation.start_over()
    goal = simulation.motion(0.02, 0.5)
    goal.path_tolerance = [JointTolerance(name="force_torque_sensor/force.z", position=force_n)]
    ended = simulation.result(simulation.send(simulation.arm, goal)).result
    assert ended.error_code == code, ended.error_string
    assert code == 0 or "give 1 to 100 N" in ended.error_string
