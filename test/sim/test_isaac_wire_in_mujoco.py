"""The adapter's robot over the stand-in's wire, without ROS: delays, gaps, rounding, a block, a new start."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.joint_groups import JointArrays
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.isaac_wire import on_grid
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from isaac_bridge.adapter.remote_plant import RemotePlant
from sim_bridge.isaac_emulation.joint_emulation import (
    CommandQueue,
    WireCommand,
    articulation_order,
    channel,
)
from sim_bridge.mujoco.simulation import Simulation
from sim_bridge.mujoco.world_model import driven_joints
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "fr3")
SCENE = load_scene(ROOT / "config/scenes/tabletop.yaml")
ARM, TOOL = "fr3_arm", "fr3_gripper"
TICK_STEPS = 10
REACH = np.array([0.4, 0.3, 0.3, 0.3, 0.1, 0.3, 0.2])


class Wire:
    """A robot and a simulation that exchange rounded joints and queued commands.

    Args:
        delay: Number of measurements from the one that a command answers to the one after which it takes effect.
    """

    def __init__(self, delay: int = 0) -> None:
        self.simulation = Simulation(ROBOT, SCENE)
        for gripper in self.simulation.grippers.values():
            gripper.controller.force_n = gripper.controller.spec.max_force_n
        self.simulation.apply_forces()
        self.queue, self._late, self._delay, self._zero_s = CommandQueue(1), deque[Array | None](), delay, 0.0
        self.robot = RemotePlant(ROBOT, self.measured(), 0.02)
        self.worst, self.sent, self.is_blocked = 0.0, 0, False

    @property
    def arm(self):
        return self.robot.arms[ARM]

    @property
    def gripper(self):
        return self.robot.grippers[TOOL]

    def measured(self) -> JointArrays:
        joints = self.simulation.joints()
        rounded = (on_grid(each) for each in (joints.position, joints.velocity, joints.effort))
        return JointArrays(joints.stamp_s - self._zero_s, *rounded)

    def place(self) -> Array:
        return self.measured().position[self.arm.indices]

    def tick(self, *, is_received: bool = True) -> None:
        if is_received:
            self.robot.take(self.measured())
            if self.arm.controller.busy:
                error = self.arm.controller.reference.position - self.place()
                self.worst = max(self.worst, float(np.abs(error).max()))
            self._late.append(self.robot.command())
            wanted = self._late.popleft() if len(self._late) > self._delay else None
            if wanted is not None:
                self.sent += 1
                self.queue.put(WireCommand(self.robot.driven_names, tuple(wanted)))
        if self.is_blocked:
            self.queue.clear()
        assert self.queue.apply_one(self.simulation) == ""
        self.simulation.world.step(TICK_STEPS)

    def follow(self, reach: Array, duration_s: float = 1.0) -> None:
        t = np.linspace(0.0, duration_s, 21)
        s = t / duration_s
        share, rate = 10 * s**3 - 15 * s**4 + 6 * s**5, (30 * s**2 - 60 * s**3 + 30 * s**4) / duration_s
        start = self.place()
        goal = TrajectoryGoal(
            ROBOT.arm("").joint_names, t, start + np.outer(share, reach), np.outer(rate, reach)
        )
        self.arm.controller.start(goal, start)

    def until_the_end(self, ticks: int = 400):
        for _ in range(ticks):
            self.tick()
            if self.arm.controller.result is not None:
                return self.arm.controller.result
        pytest.fail(f"no end in {ticks} ticks")

    def start_over(self) -> None:
        self.simulation.reset(SCENE)
        self._zero_s = self.simulation.world.time_s
        self._late.clear()


@pytest.mark.parametrize(("delay", "bound"), [(0, 0.012), (2, 0.02), (5, 0.035)])
def test_an_arm_keeps_to_its_path_however_late_its_commands_are(delay: int, bound: float) -> None:
    wire = Wire(delay)
    target = wire.place() + REACH
    wire.follow(REACH)
    assert wire.until_the_end().ending is Ending.SUCCEEDED
    assert wire.worst < bound
    assert wire.place() == pytest.approx(target, abs=0.005)


def test_gaps_in_what_is_received_do_not_throw_an_arm_off_its_path() -> None:
    wire = Wire()
    wire.follow(REACH)
    for tick in range(400):
        wire.tick(is_received=tick % 20 < 10)
        if wire.arm.controller.result is not None:
            break
    assert wire.arm.controller.result.ending is Ending.SUCCEEDED
    assert wire.worst < 0.04


def test_nothing_is_sent_before_the_first_goal_and_after_the_last_has_settled() -> None:
    wire = Wire()
    for _ in range(10):
        wire.tick()
    assert wire.sent == 0
    wire.follow(REACH)
    wire.until_the_end()
    for _ in range(30):
        wire.tick()
    sent = wire.sent
    for _ in range(30):
        wire.tick()
    assert sent <= wire.sent <= sent + 3, "fingers that move by a grid step may be sent"


def test_a_cancel_brings_the_arm_to_rest_on_its_path() -> None:
    wire = Wire(1)
    target = wire.place() + REACH
    wire.follow(REACH, 2.0)
    for _ in range(100):
        wire.tick()
    assert np.abs(wire.measured().velocity).max() > 0.2
    wire.arm.controller.stop(Ending.CANCELED, "enough")
    result = wire.until_the_end(60)
    assert (result.ending, result.message) == (Ending.CANCELED, "enough")
    assert np.abs(wire.measured().velocity[wire.arm.indices]).max() < 0.02
    assert np.abs(wire.place() - target).max() > 0.05


def test_a_blocked_arm_leaves_its_path_and_its_goal_ends() -> None:
    wire = Wire()
    wire.is_blocked = True  # drives without commands are like a wall
    wire.follow(REACH)
    for _ in range(300):
        wire.tick()
        if wire.arm.controller.result is not None:
            break
    assert wire.arm.controller.result.code is ErrorCode.PATH_TOLERANCE_VIOLATED


def test_a_clock_that_begins_again_aborts_the_goal_and_the_arm_stays_where_it_was_put() -> None:
    wire = Wire(1)
    home = wire.place()
    wire.follow(REACH)
    for _ in range(40):
        wire.tick()
    wire.start_over()
    stale = WireCommand(wire.robot.driven_names, tuple(np.r_[home + REACH, 0.04, 0.04]))
    wire.queue.put(stale)
    wire.tick()
    assert wire.arm.controller.result.ending is Ending.ABORTED
    assert "was restarted" in wire.arm.controller.result.message
    for _ in range(100):
        wire.tick()
    assert wire.place() == pytest.approx(home, abs=0.005), "what was sent before the restart does not last"


def test_closing_on_an_object_stalls_with_the_force_that_was_asked_for() -> None:
    wire = Wire()
    wire.simulation.world.model.opt.gravity[:] = 0.0
    tip = wire.simulation.world.body_pose("fr3/fr3_hand_tcp")
    wire.simulation.world.set_object_pose("cube", Pose.of(tip.translation_m))
    wire.gripper.controller.start(GripperGoal(0.0, 20.0), 0.04)
    for _ in range(200):
        wire.tick()
        if wire.gripper.controller.result is not None:
            break
    assert wire.gripper.controller.result.stalled
    for _ in range(30):
        wire.tick()
    presses = [
        float(np.linalg.norm(contact.force_on_a_n))
        for contact in wire.simulation.world.contacts()
        if "cube" in (contact.a, contact.b)
    ]
    assert len(presses) == 2
    assert presses == pytest.approx([20.0, 20.0], rel=0.2)


def test_one_command_is_taken_at_a_tick_and_the_oldest_is_lost() -> None:
    wire = Wire()
    names = ("fr3_joint1",)
    for place in (0.1, 0.2, 0.3):
        wire.queue.put(WireCommand(names, (place,)))
    assert wire.queue.apply_one(wire.simulation) == ""
    servo = wire.simulation.world.model.actuator("fr3/fr3_joint1").id
    assert wire.simulation.world.data.ctrl[servo] == 0.3
    queue = CommandQueue(10)
    for place in (0.1, 0.2):
        queue.put(WireCommand(names, (place,)))
    queue.apply_one(wire.simulation)
    assert wire.simulation.world.data.ctrl[servo] == 0.1, "a long queue lags"


def test_empty_arrays_are_nan_and_leave_their_channel() -> None:
    assert np.isnan(channel((), 2)).all()
    assert channel((1.0, 2.0), 2).tolist() == [1.0, 2.0]
    wire = Wire()
    servo = wire.simulation.world.model.actuator("fr3/fr3_joint1").id
    before = wire.simulation.world.data.ctrl[servo]
    wire.queue.put(WireCommand(("fr3_joint1",), (), (0.5,)))
    assert wire.queue.apply_one(wire.simulation) == ""
    assert wire.simulation.world.data.ctrl[servo] == before


def test_a_command_without_a_fitting_array_or_for_a_strange_joint_is_refused() -> None:
    wire = Wire()
    wire.queue.put(WireCommand(("fr3_joint1",), (0.1, 0.2)))
    assert "no array" in wire.queue.apply_one(wire.simulation)
    wire.queue.put(WireCommand(("elbow",), (0.1,)))
    assert "elbow" in wire.queue.apply_one(wire.simulation)


def test_an_articulation_orders_its_joints_by_layers() -> None:
    robot = load_robot(ROBOTS / "genie1")
    joints = {joint.name: joint for joint in driven_joints(robot)}
    names = articulation_order(robot, tuple(reversed(joints.values())))
    assert sorted(names) == sorted(joints)
    above = {joint.child: joint.name for joint in joints.values()}
    for place, name in enumerate(names):
        parent = above.get(joints[name].parent)
        assert parent is None or names.index(parent) < place
    left, right = names.index("idx21_arm_l_joint1"), names.index("idx61_arm_r_joint1")
    assert abs(left - right) == 1, "two arms alternate"
