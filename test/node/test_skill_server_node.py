"""The real skill server with a world, a controller and no planner: what it refuses, and that nothing moves then."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path

import pytest
import rclpy
from geometry_msgs.msg import PoseStamped, TransformStamped
from handiwork_msgs.action import Pick, Place, RunSkill
from handiwork_msgs.msg import Contacts, ObjectStates, OrientationFilter, WorldObjects
from rclpy.action import ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState as JointStateMsg

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from handiwork_core.geometry import Pose, frozen
from handiwork_core.outcome import Code
from handiwork_core.robot_loader import load_robot
from handiwork_core.world import JointState, ObjectState, Shape, ShapeKind, WorldObject
from handiwork_ros.conversions import joint_state_to_msg, object_states_to_msg, world_objects_to_msg
from handiwork_ros.destroy import destroy_with_actions
from handiwork_ros.qos import LATCHED, LATEST, TF_STATIC
from handiwork_ros.skill_client import SkillClient
from skill_server.node import SkillServer
from tf2_msgs.msg import TFMessage

ROBOT_DIR = Path(__file__).resolve().parents[2] / "src" / "robot_description" / "robots" / "fr3"
ROBOT = load_robot(ROBOT_DIR)
ARM = ROBOT.arm("")
EDGES_M = {"cube": (0.04, 0.04, 0.04), "bin": (0.2, 0.2, 0.1), "table": (1.0, 1.0, 0.02)}
PLACES = {"cube": (0.4, 0.0, 0.02), "bin": (0.4, 0.3, 0.05), "table": (0.4, 0.0, -0.01)}


class FakeWorld:
    """A robot that stands still among three boxes, and controllers that count what is asked of them."""

    def __init__(self, context: rclpy.Context) -> None:
        self.node = rclpy.create_node("fake_world", context=context)
        self.asked = 0
        self._objects = self.node.create_publisher(WorldObjects, "world/objects", LATCHED)
        self._states = self.node.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._contacts = self.node.create_publisher(Contacts, "world/contacts", LATEST)
        self._joints = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)
        self._static = self.node.create_publisher(TFMessage, "/tf_static", TF_STATIC)
        self._servers = [
            ActionServer(self.node, kind, name, lambda handle, kind=kind: self._count(handle, kind))
            for kind, name in (
                (FollowJointTrajectory, f"{ARM.controller}/follow_joint_trajectory"),
                (ParallelGripperCommand, f"{ARM.gripper.name}_controller/gripper_cmd"),
            )
        ]
        self.is_there = False
        self.node.create_timer(0.02, self._beat)

    def appear(self) -> None:
        """Publish geometry and the base, and move states from now on."""
        shapes = {n: (Shape(ShapeKind.BOX, frozen(e), Pose.identity()),) for n, e in EDGES_M.items()}
        objects = [WorldObject(n, s, is_static=n != "cube", mass_kg=0.1) for n, s in shapes.items()]
        self._objects.publish(world_objects_to_msg(objects, 1, 0.0))
        base = TransformStamped(child_frame_id=f"{ROBOT.name}/{ROBOT.root_link}")
        base.header.frame_id, base.transform.rotation.w = "world", 1.0
        self._static.publish(TFMessage(transforms=[base]))
        self.is_there = True

    def _beat(self) -> None:
        if not self.is_there:
            return
        now_s = self.node.get_clock().now().nanoseconds * 1e-9
        zero = frozen((0.0, 0.0, 0.0))
        states = {n: ObjectState(Pose.of(p), zero, zero, now_s) for n, p in PLACES.items()}
        position = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
        position[ARM.gripper.joint] = 0.04
        self._states.publish(object_states_to_msg(states, 1, now_s))
        contacts = Contacts()
        contacts.header.stamp = self.node.get_clock().now().to_msg()
        self._contacts.publish(contacts)
        self._joints.publish(joint_state_to_msg(JointState(now_s, position, dict.fromkeys(position, 0.0))))

    def _count(self, handle, kind):
        self.asked += 1
        handle.abort()
        return kind.Result()


class Stack:
    """Skill server, world and client in one process, each side with an executor of its own."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        parameters = [
            Parameter("robot_dir", value=str(ROBOT_DIR)),
            Parameter("planner_patience_s", value=0.0),
        ]
        self.server = SkillServer(context=self.context, parameter_overrides=parameters)
        self.world = FakeWorld(self.context)
        for node in (self.server, *self.server.extra_nodes, self.world.node):
            self.executor.add_node(node)
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()
        self.client = SkillClient()

    def _spin(self) -> None:
        while not self.end.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self.client.close()
        self.end.set()
        self.thread.join()
        self.server.begin_shutdown()
        limit = time.monotonic() + 10.0
        while not self.server.is_idle() and time.monotonic() < limit:
            self.executor.spin_once(timeout_sec=0.02)
        self.server.end_shutdown()
        self.executor.shutdown()
        for node in (*self.server.extra_nodes, self.server, self.world.node):
            destroy_with_actions(node)
        rclpy.shutdown(context=self.context)


@pytest.fixture(scope="module")
def bare():
    stack = Stack()
    yield stack
    stack.close()


@pytest.fixture(scope="module")
def stack(bare):
    """Active, after it was seen to refuse while there was no world."""
    until(lambda: bare.client.signs.is_alive("skill_server"))
    early = bare.client.pick("cube", timeout_s=20.0)
    assert early.outcome.code is Code.NOT_ACTIVE and "joint_states" in early.outcome.message
    bare.world.appear()
    assert bare.client.wait_ready(30.0)
    return bare


def until(true, limit_s: float = 20.0) -> None:
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "nothing happened"
        threading.Event().wait(0.01)


def at(frame: str = "world", x: float = 0.4, w: float = 1.0) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.orientation.w = x, w
    return message


NAN = math.nan
UPSIDE = OrientationFilter(ee_axis="q", direction="downward")
BAD = [
    (Pick.Goal(), Code.BAD_GOAL, "object"),
    (Pick.Goal(object="unicorn"), Code.UNKNOWN_OBJECT, "object"),
    (Pick.Goal(object="cube", arm="left"), Code.BAD_GOAL, "arm"),
    (Pick.Goal(object="cube", lift_th=NAN), Code.BAD_NUMBER, "lift_th"),
    (Pick.Goal(object="cube", gripper_width=0.5), Code.BAD_NUMBER, "gripper_width"),
    (Pick.Goal(object="cube", direction_to_obj="up"), Code.BAD_GOAL, "direction_to_obj"),
    (Pick.Goal(object="cube", grasp_poses=[at(x=NAN)]), Code.BAD_NUMBER, "grasp_poses[0].pose.position"),
    (Pick.Goal(object="cube", grasp_poses=[at(w=0.0)]), Code.BAD_NUMBER, "grasp_poses[0].pose.orientation"),
    (
        Pick.Goal(object="cube", grasp_poses=[at("moon")]),
        Code.UNKNOWN_FRAME,
        "grasp_poses[0].header.frame_id",
    ),
    (
        Pick.Goal(object="cube", orientation_filters=[UPSIDE]),
        Code.BAD_GOAL,
        "orientation_filters[0].ee_axis",
    ),
    (
        Pick.Goal(object="cube", post_grasp_offset_min=0.2, post_grasp_offset_max=0.1),
        Code.CONTRADICTION,
        "post_grasp_offset_min",
    ),
    (Place.Goal(), Code.BAD_GOAL, "container"),
    (Place.Goal(container="unicorn"), Code.UNKNOWN_OBJECT, "container"),
    (Place.Goal(container="bin", success_mode="luck"), Code.BAD_GOAL, "success_mode"),
    (Place.Goal(container="bin", x_ratio_range=[NAN, 0.5]), Code.BAD_NUMBER, "x_ratio_range[0]"),
    (
        Place.Goal(container="bin", place_poses=[at("moon")]),
        Code.UNKNOWN_FRAME,
        "place_poses[0].header.frame_id",
    ),
]


@pytest.mark.parametrize(("goal", "code", "field"), BAD, ids=[f"{c.name}-{f}" for _, c, f in BAD])
def test_a_bad_goal_names_its_field_and_nothing_moves(stack, goal, code, field):
    report = stack.client.send(goal).result(20.0)
    assert (report.outcome.code, report.outcome.field_name) == (code, field), report.outcome.message
    assert report.outcome.message and stack.world.asked == 0


UNKNOWN_KEYS = "{objct: cube, lift_th: high, orientation_filters: [{ee_axis: z}]}"
BAD_RUNS = [
    (RunSkill.Goal(), Code.BAD_GOAL, "skill"),
    (RunSkill.Goal(skill="pikc"), Code.BAD_GOAL, "skill"),
    (RunSkill.Goal(skill="pick"), Code.BAD_GOAL, "object"),
    (RunSkill.Goal(skill="pick", parameters="{object: unicorn}"), Code.UNKNOWN_OBJECT, "object"),
    (RunSkill.Goal(skill="pick", parameters="{objects: [unicorn]}"), Code.UNKNOWN_OBJECT, "object"),
    (RunSkill.Goal(skill="pick", parameters=UNKNOWN_KEYS), Code.BAD_GOAL, "objct"),
    (RunSkill.Goal(skill="pick", parameters="{object: cube, lift_th: 1e9}"), Code.BAD_NUMBER, "lift_th"),
    (RunSkill.Goal(skill="pick", parameters="{object: [cube"), Code.BAD_GOAL, "parameters"),
    (RunSkill.Goal(skill="pick", parameters="[cube]"), Code.BAD_GOAL, "parameters"),
    (RunSkill.Goal(skill="pick", arm="left", parameters="{object: cube}"), Code.BAD_GOAL, "arm"),
    (
        RunSkill.Goal(skill="place", parameters="{container: bin}", when_busy="shove"),
        Code.BAD_GOAL,
        "when_busy",
    ),
    (
        RunSkill.Goal(skill="Place", parameters="{container: bin, success_mode: luck}"),
        Code.BAD_GOAL,
        "success_mode",
    ),
]


@pytest.mark.parametrize(("goal", "code", "field"), BAD_RUNS, ids=[f"{c.name}-{f}" for _, c, f in BAD_RUNS])
def test_a_bad_run_skill_names_its_field_and_nothing_moves(stack, goal, code, field):
    report = stack.client.send(goal).result(20.0)
    assert (report.outcome.code, report.outcome.field_name) == (code, field), report.outcome.message
    assert report.outcome.message and stack.world.asked == 0


def test_all_faults_of_parameters_are_told_at_once(stack):
    message = stack.client.send(RunSkill.Goal(skill="pick", parameters=UNKNOWN_KEYS)).result(20.0).message
    for part in (
        "objct: unknown key; did you mean 'object'?",
        "object: missing",
        "lift_th: is 'high'",
        "direction",
    ):
        assert part in message, message


def test_the_result_says_where_the_robot_is(stack):
    report = stack.client.pick("unicorn")
    assert report.stopped_at[ARM.joint_names[0]] == pytest.approx(float(ARM.home_q[0]))
    assert report.stopped_ee is not None and report.stopped_ee.translation_m[2] > 0.1


@pytest.mark.parametrize("frame", ["cube", f"{ROBOT.name}/{ARM.ee_link}", "world"])
def test_frames_of_objects_and_links_are_known(stack, frame):
    bad_later = Pick.Goal(object="cube", grasp_poses=[at(frame), at("moon")])
    report = stack.client.send(bad_later).result(20.0)
    assert report.outcome.field_name == "grasp_poses[1].header.frame_id"


def test_without_a_planner_the_goal_ends_and_the_server_lives(stack):
    seen = []
    report = stack.client.pick("cube", on_feedback=seen.append, timeout_s=30.0)
    assert report.outcome.code is Code.PLANNER_LOST and report.outcome.stage == "select"
    assert stack.world.asked == 0 and seen and report.stages
    assert stack.client.pick("unicorn").outcome.code is Code.UNKNOWN_OBJECT


def test_a_client_without_a_server_is_told_so():
    with SkillClient(domain_id=101) as alone:
        assert not alone.wait_ready(0.2)
        report = alone.pick("cube", timeout_s=30.0)
    assert report.outcome.code is Code.UNRESPONSIVE and "skill_server" in report.outcome.message
