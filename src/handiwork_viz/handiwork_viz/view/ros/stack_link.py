"""The page's own node: it reads the topics of the stack on demand, and sends goals and commands."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from handiwork_msgs.action import RunTask
from handiwork_msgs.msg import Conditions, NodeStatus, SafetyState, TaskProgress
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from handiwork_msgs.srv import ResetWorld, SetObjectPose, SetPaused, StepWorld
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.voxels.voxel_map import VoxelMap
from handiwork_ros.actions.skill_report import SkillReport
from handiwork_ros.actions.task_report import TaskReport
from handiwork_ros.clients.goal_handle import GoalHandle
from handiwork_ros.clients.skill_client import SERVER, SkillClient
from handiwork_ros.clients.skill_goals import plan_goal, skill_goal
from handiwork_ros.conversions import pose_to_msg, trajectory_from_msg, voxel_map_from_msg
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, STATUS
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.service_call import NoAnswer, call, on_executor
from handiwork_viz.view.model.goals import GoalBoard

from .goal_observer import GoalObserver

ANSWER_S = 10.0
SIMULATOR = "sim_bridge"
FACTOR = "real_time_factor"
Topic: TypeAlias = "tuple[Any, str, Callable[[Any], None], Any]"
"""Type and name of a topic, what takes its messages, and its profile."""
R = TypeVar("R", SkillReport, TaskReport)


class _Session:
    """The nodes of the link from one ``wake`` to the next ``rest``.

    Args:
        board: Receives the goals.
        topics: The topics to subscribe to.
        robot: The robot whose world is read; None before it is known.
    """

    def __init__(self, board: GoalBoard, topics: tuple[Topic, ...], robot: Robot | None) -> None:
        name = f"handiwork_view_{os.getpid()}"
        self._background = BackgroundNode(name)
        self._node: Node = self._background.node
        self._observer = GoalObserver(self._node, board)
        self._drawings: list[Any] = []
        self._services: dict[str, Any] = {}
        self._lock = threading.Lock()
        self.source: RosWorldSource | None = None
        for topic in topics:
            self._subscribe(topic)
        if robot is not None:
            self._read_world(robot)
        self._background.start()
        self.client = SkillClient(node_name=f"{name}_goals")

    @property
    def is_drawing(self) -> bool:
        """True while drawings are asked for."""
        return bool(self._drawings)

    def watch(self, robot: Robot) -> None:
        """Subscribe to the world of a robot.

        Args:
            robot: The robot.
        """
        made = threading.Event()

        def make() -> None:
            self._read_world(robot)
            made.set()

        on_executor(self._node, make)
        made.wait(ANSWER_S)

    def draw(self, topics: tuple[Topic, ...]) -> None:
        """Subscribe to drawings, in place of those before.

        Args:
            topics: Their topics.
        """

        def change() -> None:
            for sub in self._drawings:
                self._node.destroy_subscription(sub)
            self._drawings = [self._subscribe(topic) for topic in topics]

        on_executor(self._node, change)

    def cancel(self, goal_id: str, action: str) -> None:
        """Ask for the end of a goal; see ``GoalObserver.cancel``.

        Args:
            goal_id: Id of the goal.
            action: Name of its action.
        """
        on_executor(self._node, lambda: self._observer.cancel(goal_id, action))

    def serves(self, kind: Any, name: str) -> bool:
        """Check whether a service is there.

        Args:
            kind: Type of the service.
            name: Its name.
        """
        return bool(self._client(kind, name)[0].service_is_ready())

    def ask(self, kind: Any, name: str, request: Any, timeout_s: float) -> Any:
        """Call a service; see ``StackLink.ask``.

        Args:
            kind: Type of the service.
            name: Its name.
            request: The request.
            timeout_s: Longest wait, s.

        Returns:
            The response; None where there is none in time.
        """
        client, is_new = self._client(kind, name)
        answer = call(self._node, client, request, timeout_s=timeout_s, is_new=is_new)
        return None if isinstance(answer, NoAnswer) else answer

    def close(self) -> None:
        """Leave the ROS graph."""
        self.client.close()
        self._background.stop()
        self._background.destroy()

    def _read_world(self, robot: Robot) -> None:
        wanted = Subscriptions(contacts=True, cups=True, on_demand=True)
        self.source = RosWorldSource(self._node, robot, wanted)

    def _subscribe(self, topic: Topic) -> Any:
        kind, name, take, qos = topic
        return self._node.create_subscription(kind, name, guard(self._node, take), qos)

    def _client(self, kind: Any, name: str) -> tuple[Any, bool]:
        with self._lock:
            is_new = name not in self._services
            if is_new:
                self._services[name] = self._node.create_client(kind, name)
            return self._services[name], is_new


class StackLink:
    """Nodes of its own on a running stack while somebody looks. Ending it, or killing its process, ends no goal.

    It begins at rest: without a node, a subscription or a timer.

    Attributes:
        board: The goals of the stack.
        conditions: The newest message of the watched conditions; None before the first.
        progress: The newest progress of the watched task; None before the first.
        network: Text of the decider network.
        safety: The newest state of the safety layer; None where there is none.
        nodes: State and text of each node.
        markers: The newest drawings of conditions, while they are asked for.
        motion: The motion that began last, while drawings are asked for; None before the first.
        candidates: The newest drawings of rejected candidates, while they are asked for.
        belts: The newest drawings of conveyor belts; None before the first.
        unmodelled: The newest map of obstacles that nobody modelled; None where nobody looks for them.
    """

    def __init__(self) -> None:
        self.board = GoalBoard()
        self.conditions: Any = None
        self.progress: Any = None
        self.network = ""
        self.safety: Any = None
        self.nodes: dict[str, tuple[int, str]] = {}
        self.markers: Any = None
        self.motion: Trajectory | None = None
        self.candidates: Any = None
        self.belts: Any = None
        self.unmodelled: VoxelMap | None = None
        self._robot: Robot | None = None
        self._session: _Session | None = None
        self._waiting = 0
        self._lock = threading.Lock()

    @property
    def is_awake(self) -> bool:
        """True while the nodes are there."""
        return self._session is not None

    @property
    def awaits_goal(self) -> bool:
        """True while the end of a goal of this page is awaited."""
        return self._waiting > 0

    def wake(self) -> None:
        """Join the ROS graph and subscribe; nothing where that is done already."""
        if self._session is not None:
            return
        session = _Session(self.board, self._topics(), self._robot)
        text = f"{SERVER} is silent or gone, so its goals are given up; see the arm itself"
        session.client.signs.on_loss(SERVER, lambda _name: self.board.lose(now_s(), text))
        self._session = session

    def rest(self) -> bool:
        """Leave the ROS graph until ``wake``. Goals that run go on.

        Returns:
            False where a goal of this page runs: its end is awaited first.
        """
        with self._lock:
            if self._waiting:
                return False
            session, self._session = self._session, None
        if session is not None:
            session.close()
            self.board.forget_running()
            self.conditions = self.progress = self.safety = None
            self.markers = self.motion = self.candidates = self.belts = self.unmodelled = None
            self.network = ""
            self.nodes.clear()
        return True

    def _topics(self) -> tuple[Topic, ...]:
        return (
            (Conditions, "conditions", self._take("conditions"), LATCHED),
            (TaskProgress, "conditions/progress", self._take("progress"), LATCHED),
            (SafetyState, "safety/state", self._take("safety"), LATCHED),
            (String, "decider/network", self._on_network, LATCHED),
            (NodeStatus, "handiwork/status", self._on_status, STATUS),
            (MarkerArray, "world/belts", self._take("belts"), LATCHED),
            (VoxelMapMsg, "world/unmodelled", self._on_unmodelled, LATCHED),
        )

    def find_robot(self, should_stop: Callable[[], bool]) -> tuple[Robot, Path] | None:
        """Wait for the robot of the stack, and read its files.

        Args:
            should_stop: Turns true when the wait is to end.

        Returns:
            The robot and the folder of its description; None when the wait was ended.

        Raises:
            ConfigError: A file of the robot is faulty.
        """
        request = GetParameters.Request(names=["robot_dir"])
        while not should_stop():
            answer = self.ask(GetParameters, "robot_description/get_parameters", request, timeout_s=2.0)
            if answer is not None and answer.values and answer.values[0].string_value:
                folder = Path(answer.values[0].string_value)
                return load_robot(folder), folder
        return None

    def watch(self, robot: Robot) -> None:
        """Subscribe to the world of a robot, now and after each ``wake``; it is read only by ``world``.

        Args:
            robot: The robot.
        """
        self._robot = robot
        if self._session is not None:
            self._session.watch(robot)

    def world(self) -> World | None:
        """Return the newest snapshot; None before the robot is known, and at rest."""
        session = self._session
        return None if session is None or session.source is None else session.source.snapshot()

    def draw(self, is_wanted: bool) -> None:
        """Ask for drawings of conditions, candidates and motions, which others make only while they are asked for.

        Args:
            is_wanted: True while somebody looks at them.
        """
        session = self._session
        if session is not None and session.is_drawing != is_wanted:
            self.markers = None
            topics = (
                (MarkerArray, "conditions/markers", self._take("markers"), LATEST),
                (MarkerArray, "candidates/markers", self._take("candidates"), LATEST),
                (JointTrajectory, "motion/planned", self._on_motion, LATEST),
            )
            session.draw(topics if is_wanted else ())

    def run_skill(
        self, skill: str, parameters: Mapping[str, Any], arm: str, *, plan_only: bool, label: str
    ) -> SkillReport:
        """Send a goal and wait for its end, without a limit; on a thread of its own.

        Args:
            skill: Name of the skill.
            parameters: Its parameters.
            arm: Name of the arm; empty: the robot's only arm.
            plan_only: True: only plan.
            label: What the goal is about, for people.

        Returns:
            The report.
        """
        goal = skill_goal(skill, parameters, arm, plan_only=plan_only)
        return self._awaited(lambda client: client.send(goal), label)

    def execute(self, plan_id: str, label: str) -> SkillReport:
        """Execute a previewed plan and wait for its end; on a thread of its own.

        Args:
            plan_id: Id of the plan.
            label: What the goal is about, for people.

        Returns:
            The report.
        """
        return self._awaited(lambda client: client.send(plan_goal(plan_id)), label)

    def run_task(self, text: str, source: str, *, check_only: bool) -> TaskReport:
        """Check or run a task and wait for its end; on a thread of its own.

        Args:
            text: Text of the task file.
            source: Its name.
            check_only: True: nothing moves.

        Returns:
            The report.
        """
        goal = RunTask.Goal(task=text, source=source, check_only=check_only)
        label = f"{'check of ' if check_only else ''}task {source}"
        return self._awaited(lambda client: client.send_task(goal), label)

    def _awaited(self, send: Callable[[SkillClient], GoalHandle[R]], label: str) -> R:
        """Send a goal and wait for its end, before which this link does not rest."""
        with self._lock:
            session = self._session
            if session is None:
                raise ConfigError("view", ["the page has no connection to the stack yet; press again"])
            self._waiting += 1
        try:
            handle = send(session.client)
            self.board.name(handle.goal_id, label)
            return handle.result(math.inf)
        finally:
            with self._lock:
                self._waiting -= 1

    def cancel_all(self) -> int:
        """Cancel every goal that runs, one by one by its id, also those of other programs.

        Returns:
            Number of the goals.
        """
        running, session = self.board.running(), self._session
        if session is None:
            return 0
        for goal in running:
            session.cancel(goal.goal_id, goal.action)
        return len(running)

    def pause(self, is_paused: bool) -> str:
        """Pause or continue the simulation.

        Args:
            is_paused: True to pause.

        Returns:
            The fault in one sentence; empty when it is done.
        """
        return self._command(SetPaused, "sim/set_paused", SetPaused.Request(paused=is_paused))

    def step(self, duration_s: float) -> str:
        """Advance the paused simulation; see ``pause``.

        Args:
            duration_s: Time of the world, s.
        """
        return self._command(StepWorld, "sim/step", StepWorld.Request(duration=duration_s))

    def reset(self, seed: int, *, is_random: bool) -> str:
        """Reset the simulation; see ``pause``.

        Args:
            seed: Seed of the random places.
            is_random: True to scatter the objects.
        """
        return self._command(ResetWorld, "sim/reset", ResetWorld.Request(seed=seed, randomize=is_random))

    def move_object(self, name: str, world_T_object: Pose) -> str:
        """Put an object of the simulation at a pose; see ``pause``.

        Args:
            name: Name of the object.
            world_T_object: Its pose.
        """
        request = SetObjectPose.Request(object=name)
        request.pose.header.frame_id, request.pose.pose = "world", pose_to_msg(world_T_object)
        return self._command(SetObjectPose, "sim/set_object_pose", request)

    def set_speed(self, factor: float) -> str:
        """Set the simulated seconds per second; see ``pause``.

        Args:
            factor: The factor; 0 is as fast as possible.
        """
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=float(factor))
        request = SetParameters.Request(parameters=[Parameter(name=FACTOR, value=value)])
        answer = self.ask(SetParameters, f"{SIMULATOR}/set_parameters", request)
        if answer is None:
            return f"{SIMULATOR} does not answer; only a simulation has a speed"
        return "" if answer.results[0].successful else answer.results[0].reason

    def emergency_stop(self) -> str:
        """Brake all arms and latch; see ``pause``."""
        answer = self.ask(Trigger, "safety/emergency_stop", Trigger.Request())
        if answer is None:
            return "safety/emergency_stop does not answer: use the hardware's emergency stop"
        return "" if answer.success else answer.message

    def recover(self) -> str:
        """Reset an emergency stop, and recover from the protective stop that remains; see ``pause``."""
        for service in ("safety/reset", "safety/recover"):
            answer = self.ask(Trigger, service, Trigger.Request())
            if answer is None:
                return f"{service} does not answer"
        return "" if answer.success else answer.message

    def has_simulation(self) -> bool:
        """Check whether the stack simulates its world."""
        session = self._session
        return session is not None and session.serves(SetPaused, "sim/set_paused")

    def is_ready(self) -> bool:
        """Check whether goals are accepted."""
        session = self._session
        return session is not None and bool(session.client.signs.is_active(SERVER))

    def ask(self, kind: Any, name: str, request: Any, timeout_s: float = ANSWER_S) -> Any:
        """Call a service and wait; not on the node's thread.

        Args:
            kind: Type of the service.
            name: Its name.
            request: The request.
            timeout_s: Longest wait, s.

        Returns:
            The response; None where there is none in time.
        """
        session = self._session
        return None if session is None else session.ask(kind, name, request, timeout_s)

    def close(self) -> None:
        """Leave the ROS graph for good. Goals that run go on."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _command(self, kind: Any, name: str, request: Any) -> str:
        answer = self.ask(kind, name, request)
        if answer is None:
            return f"{name} does not answer; only a simulation serves it"
        return "" if answer.outcome.code == answer.outcome.OK else answer.outcome.message

    def _take(self, attribute: str) -> Callable[[Any], None]:
        return lambda message: setattr(self, attribute, message)

    def _on_motion(self, message: JointTrajectory) -> None:
        self.motion = trajectory_from_msg(message, "motion/planned")

    def _on_unmodelled(self, message: Any) -> None:
        self.unmodelled = voxel_map_from_msg(message, "world/unmodelled")

    def _on_network(self, message: String) -> None:
        self.network = message.data

    def _on_status(self, message: NodeStatus) -> None:
        self.nodes[message.node] = (message.state, message.message)


def now_s() -> float:
    """Return steady time, s."""
    return time.monotonic()
