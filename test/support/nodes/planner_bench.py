"""A planner node on a stage, with an engine whose duration and answers the test controls, and a world with a cube."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import WorldObjects
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.contracts.planning import (
    CandidatesResult,
    Capability,
    Engine,
    JointGoals,
    PathRest,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
    Verdict,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, ObjectState, Shape, ShapeKind, WorldObject
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros import conversions as to
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.ports.planner import PlannerClient
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF_STATIC
from planner_node.node import PlannerNode
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

ROBOT_DIR = ROBOTS / "fr3"
ROBOT = load_robot(ROBOT_DIR)
ARM = ROBOT.arm("")


def never() -> bool:
    return False


class SlowEngine(Engine):
    """Moves straight to the first goal, once ``gate`` is open; refuses attached objects."""

    name = "slow"
    capabilities = frozenset({Capability.JOINT_GOALS, Capability.POSE_GOALS})
    gate = threading.Event()
    entered = threading.Event()
    preloaded = threading.Event()

    @classmethod
    def preload(cls, robot: Any, report: Any) -> None:
        cls.preloaded.set()

    def __init__(self, robot: Any, world_T_base: Pose, report: Any) -> None:
        report(0.5, "warming up")
        self.world: Any = None

    def update_world(self, world: Any) -> None:
        self.world = world

    def plan(self, request: PlanRequest, should_stop: Any) -> PlanResult:
        type(self).entered.set()
        while not type(self).gate.wait(0.01):
            if should_stop():
                return PlanResult(Code.CANCELED)
        if isinstance(request.goal, PoseGoals):
            raise ArithmeticError("planted")
        q = np.array([request.start_q, request.goal.q[0]])  # type: ignore[union-attr]
        return PlanResult(
            Code.OK, "", Trajectory(ARM.joint_names, np.array([0.0, 1.0]), q, q * 0, q * 0), 0, 0.1
        )

    def check_candidates(self, request: Any, should_stop: Any) -> Any:
        return CandidatesResult(Code.OK, "", ())

    def solve_ik(self, request: Any, should_stop: Any) -> Any:
        raise AssertionError("no test here asks the slow engine for inverse kinematics")

    def explain(self, arm: str, q: Any, scene: SceneQuery) -> Verdict:
        return Verdict(Code.OK, f"{sorted(self.world.objects)}", None, 0.1)

    def validate(
        self, arm: str, trajectory: Any, scene: SceneQuery, start_q: Any, rest: PathRest | None = None
    ) -> Verdict:
        if rest is not None:
            return Verdict(Code.OK, f"{rest.from_s:.2f} {sorted(rest.changed)} {len(trajectory.t_s)}")
        near = np.allclose(start_q, trajectory.q[0])
        return Verdict(Code.OK if near else Code.TRAJECTORY_REFUSED, "" if near else "starts elsewhere")


@dataclass
class Bench:
    stage: Stage
    planner: PlannerNode
    client: PlannerClient
    node: Node
    signs: Heartbeats

    def ask(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service; the client is made and used on the executor's thread."""
        answer: list[Any] = []

        def send() -> None:
            client = self.node.create_client(kind, f"planner/{name}")
            self.node.get_clock()
            assert client.wait_for_service(60.0)
            client.call_async(request).add_done_callback(lambda f: answer.append(f.result()))

        self.stage.executor.create_task(send)
        wait_for(lambda: bool(answer))
        return answer[0]


@pytest.fixture
def bench(nothing_left_over: None) -> Iterator[Bench]:
    SlowEngine.gate.set()
    SlowEngine.entered.clear()
    with running(SlowEngine) as made:
        yield made


@contextmanager
def running(engine: type[Engine]) -> Iterator[Bench]:
    """Run a planner with an engine in a world with a cube."""
    with stage() as made:
        node = Node("client", context=made.context)
        signs = Heartbeats(node)
        client = PlannerClient(node, ROBOT, signs)
        robot_dir = Parameter("robot_dir", value=str(ROBOT_DIR))
        planner = PlannerNode(
            lambda: {engine.name: engine}, context=made.context, parameter_overrides=[robot_dir]
        )
        publish_world(node)
        made.add(node)
        made.add(planner)
        wait_for(lambda: signs.is_active("planner_node"))
        wait_for(lambda: planner._pipeline is not None and planner._pipeline.readers.has_geometry())
        wait_for(
            lambda: planner._pipeline is not None and "cube" in planner._pipeline.readers.snapshot().states
        )
        wait_for(lambda: planner._pipeline is not None and planner._pipeline.readers.joint_age_s() < 0.5)
        yield Bench(made, planner, client, node, signs)
        SlowEngine.gate.set()
        planner.begin_shutdown()
        wait_for(planner.is_idle)
        planner.end_shutdown()


def publish_world(node: Node) -> None:
    link = TransformStamped(child_frame_id="fr3/fr3_link0")
    link.header.frame_id = "world"
    node.create_publisher(TFMessage, "/tf_static", TF_STATIC).publish(TFMessage(transforms=[link]))
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.ones(3) * 0.05, Pose.identity()),))
    node.create_publisher(WorldObjects, "world/objects", LATCHED).publish(
        to.world_objects_to_msg([cube], 4, 0.0)
    )
    state = ObjectState(Pose.of((0.5, 0.0, 0.0)), np.zeros(3), np.zeros(3), 0.0)
    states = to.object_states_to_msg({"cube": state}, 4, 1.0)
    joints = to.joint_state_to_msg(
        JointState(1.0, dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True)))
    )
    state_pub = node.create_publisher(type(states), "world/object_states", LATEST)
    joint_pub = node.create_publisher(JointStateMsg, "joint_states", LATEST)

    def show() -> None:
        state_pub.publish(states)
        joint_pub.publish(joints)

    node.create_timer(0.02, show)


def joint_request(**changes: Any) -> PlanRequest:
    fields: dict[str, Any] = {"budget_s": 10.0, "seed": 3, **changes}
    return PlanRequest(ARM.name, ARM.home_q, JointGoals(ARM.home_q[None] + 0.1), **fields)
