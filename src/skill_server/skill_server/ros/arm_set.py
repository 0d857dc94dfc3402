"""The arms of the robot, each with its clients, lease and held objects; several arms share their reservations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.ports import Planner
from handiwork_core.intake.robot_watchdog import SILENCE_S
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from handiwork_ros.actions.arm_lease import ArmLease
from handiwork_ros.navigation.client import NavigatorClient
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.supervision_parameters import supervision_settings
from handiwork_ros.ports.arm_and_gripper import ArmClient
from handiwork_ros.ports.cameras import CameraClient
from handiwork_ros.ports.compliance import ComplianceClient
from handiwork_ros.ports.driver_watch import DriverWatch
from handiwork_ros.ports.reactive import ReactiveClient
from handiwork_ros.ports.robot_watch import RobotWatch
from handiwork_ros.ports.suction import tool_client
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.ros_clock import RosClock
from skill_server.coordination.arm_coordinator import ArmTraffic
from skill_server.coordination.coordinated_ports import ArmWorld
from skill_server.coordination.reservations import MotionReservations
from skill_server.flight.recorder import FlightRecorder
from skill_server.state.watched_held import WatchedHeld

from .arm_runner import ArmRunner
from .condition_watch import ConditionWatch
from .motion_drawings import DrawnPlanner, MotionDrawings
from .payload_topics import PayloadTopics


@dataclass(frozen=True)
class ArmSet:
    """The arms of one robot.

    Attributes:
        runs: Runner of each arm, in the order of the robot's description.
        leases: Lease of each arm.
        previews: Lease of all goals that only plan.
        watch: Watch of the robot's topics.
        driver: Watch of the drivers' reports.
    """

    runs: dict[str, ArmRunner]
    leases: dict[str, ArmLease]
    previews: ArmLease
    watch: RobotWatch
    driver: DriverWatch

    @property
    def is_busy(self) -> bool:
        """True while a goal is unanswered or a body has not returned on any arm, or in a preview."""
        return any(lease.is_busy for lease in self._all())

    def _all(self) -> tuple[ArmLease, ...]:
        return (*self.leases.values(), self.previews)

    def supervised(self) -> list[str]:
        """Return the names of the arms with a running goal, of their grippers, and of the base, which any may drive."""
        busy = [runs for name, runs in self.runs.items() if self.leases[name].is_busy]
        tools = [runs.arm_spec.gripper.name for runs in busy if runs.arm_spec.gripper is not None]
        bases = {runs.robot.base.name for runs in busy if runs.robot.base is not None}
        return [*(runs.arm_spec.name for runs in busy), *tools, *bases]

    def stop_all(self, reason: Code, detail: str = "") -> None:
        """End every goal of every arm.

        Args:
            reason: Code of the outcome.
            detail: Reason as text for users.
        """
        for lease in self._all():
            lease.stop_all(reason, detail)

    def begin_close(self) -> None:
        """See ``ArmLease.begin_close``."""
        for lease in self._all():
            lease.begin_close()

    def end_close(self) -> None:
        """Join the worker threads."""
        for lease in self._all():
            lease.end_close()


def arm_set(
    node: ManagedNode,
    robot: Robot,
    world: RosWorldSource,
    make_planner: Callable[[], Planner],
    recorder: FlightRecorder | None = None,
    joint_limit_s: Callable[[], float] = lambda: SILENCE_S,
) -> ArmSet:
    """Make clients, lease and runner for every arm of the robot.

    Args:
        node: Node whose parameters are read and which gets the clients.
        robot: Robot.
        world: Source of the world.
        make_planner: Returns the planner port, which the arms share.
        recorder: Flight recorder of all runs; None for none.
        joint_limit_s: See ``RobotWatch``.

    Returns:
        The arms.

    Raises:
        ConfigError: An arm has no gripper, or a parameter is out of its range.
    """
    patience = "how long a goal waits in all for another arm in its way [s of steady time]"
    patience_s = node.parameter("arm_patience_s", 60.0, patience)
    supervision = supervision_settings(node)
    drawings = MotionDrawings(node)
    planner, board = DrawnPlanner(make_planner(), drawings), MotionReservations(tuple(robot.arms))
    runs: dict[str, ArmRunner] = {}
    leases: dict[str, ArmLease] = {}
    watch, driver = RobotWatch(node, world, joint_limit_s), DriverWatch(node, robot)
    show, conditions = drawings.show_motion, ConditionWatch(node)
    base, navigator = _base_ports(node, robot, world, watch, show)
    for name, arm in robot.arms.items():
        if arm.gripper is None:
            raise ConfigError("robot_dir", [f"arms.{name}.gripper: missing; the skills need a gripper"])
        client, compliance = ArmClient(node, arm, world, watch, show, driver), ComplianceClient(node, arm)
        gripper = tool_client(node, arm.gripper, world, watch)
        payload = PayloadTopics(node, robot, arm, lambda: world.snapshot().objects)
        source = world if arm.base_link == robot.root_link else ArmWorld(world, robot, arm)
        alone = ArmRunner(
            robot,
            arm,
            planner,
            client,
            gripper,
            source,
            RosClock(node),
            held=WatchedHeld(payload.show),
            base=base,
            supervision=supervision,
            frames=world.frames,
            compliance=compliance,
            reactive=ReactiveClient(node, arm),
            cameras=CameraClient(node),
            conditions=conditions,
            recorder=recorder,
            navigator=navigator,
        )
        runs[name] = alone if len(robot.arms) == 1 else _among_others(alone, board, runs, patience_s)
        leases[name] = ArmLease(node, stop_arm=partial(_stop, (client, base, navigator), compliance))
        if len(robot.arms) > 1:
            leases[name].arm, leases[name].on_abandon = name, partial(board.evict, name)
    previews = ArmLease(node, stop_arm=lambda: OK, arm="the planner of previews")
    arms = ArmSet(runs, leases, previews, watch, driver)
    watch.on_loss(lambda why: arms.stop_all(Code.ROBOT_LOST, why))
    return arms


def _among_others(
    alone: ArmRunner, board: MotionReservations, runs: dict[str, ArmRunner], patience_s: float
) -> ArmRunner:
    """Return the same arm with coordination; further arms may still be added to ``runs``."""
    arm = alone.arm_spec

    def held_by(name: str) -> Mapping[str, Attachment]:
        return runs[name].held

    traffic = ArmTraffic(board, alone.robot, arm, alone.world, alone.clock, held_by, patience_s)
    return replace(alone, right_of_way=traffic)


def _base_ports(
    node: ManagedNode,
    robot: Robot,
    world: RosWorldSource,
    watch: RobotWatch,
    show: Callable[[Trajectory], None],
) -> tuple[ArmClient | None, NavigatorClient | None]:
    """Return the port of the base's controller, or that of the server which drives it; one of them at most."""
    if robot.base is None:
        return None, None
    if robot.commanded_base is None:
        return None, NavigatorClient(node, robot.base, world, watch)
    return ArmClient(node, robot.commanded_base, world, watch, show), None


def _stop(ports: Sequence[ArmClient | NavigatorClient | None], compliance: ComplianceClient) -> Outcome:
    """Stop the arm, which yields no more, and the base that carries it; the first failure counts."""
    released = compliance.release()
    ends = [released, *(port.stop() for port in ports if port is not None)]
    return next((end for end in ends if not end.ok), OK)
