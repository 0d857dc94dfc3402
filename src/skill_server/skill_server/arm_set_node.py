"""The arms of the robot, each with its clients, its lease and what it holds; several of them share a motion board."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from handiwork_core.config import ConfigError
from handiwork_core.outcome import Code
from handiwork_core.planning import Attachment
from handiwork_core.ports import Planner
from handiwork_core.robot import Robot
from handiwork_ros.arm_lease import ArmLease
from handiwork_ros.clients import ArmClient, RosClock, tool_client
from handiwork_ros.managed_node import ManagedNode
from handiwork_ros.world_source import RosWorldSource

from .arm_runs_node import ArmRuns
from .traffic.arm_traffic import ArmTraffic
from .traffic.board import Board
from .traffic.ports import ArmWorld, TrafficArm, TrafficPlanner


@dataclass(frozen=True)
class ArmSet:
    """Runs and leases by the name of the arm, in the order of the robot's description."""

    runs: dict[str, ArmRuns]
    leases: dict[str, ArmLease]

    @property
    def is_busy(self) -> bool:
        """True while a goal is unanswered or a body has not returned on any arm."""
        return any(lease.is_busy for lease in self.leases.values())

    def stop_all(self, reason: Code) -> None:
        """End every goal of every arm."""
        for lease in self.leases.values():
            lease.stop_all(reason)

    def begin_close(self) -> None:
        """See ``ArmLease.begin_close``."""
        for lease in self.leases.values():
            lease.begin_close()

    def end_close(self) -> None:
        """Join the workers."""
        for lease in self.leases.values():
            lease.end_close()


def arm_set(
    node: ManagedNode, robot: Robot, world: RosWorldSource, make_planner: Callable[[], Planner]
) -> ArmSet:
    """Clients, lease and runs for every arm of the robot.

    Raises:
        ConfigError: an arm has no gripper.
    """
    patience = "how long a goal waits in all for another arm in its way [s of steady time]"
    patience_s = node.parameter("arm_patience_s", 60.0, patience)
    planner, board = make_planner(), Board(tuple(robot.arms))
    runs: dict[str, ArmRuns] = {}
    leases: dict[str, ArmLease] = {}
    base = ArmClient(node, robot.base, world) if robot.base is not None else None
    for name, arm in robot.arms.items():
        if arm.gripper is None:
            raise ConfigError("robot_dir", [f"arms.{name}.gripper: missing; the skills need a gripper"])
        client, gripper = ArmClient(node, arm, world), tool_client(node, arm.gripper, world)
        source = world if arm.base_link == robot.root_link else ArmWorld(world, robot, arm)
        alone = ArmRuns(robot, arm, planner, client, gripper, source, RosClock(node), base=base)
        runs[name] = alone if len(robot.arms) == 1 else _among_others(alone, board, runs, patience_s)
        leases[name] = ArmLease(node, stop_arm=client.stop)
        if len(robot.arms) > 1:
            leases[name].arm = name
    return ArmSet(runs, leases)


def _among_others(alone: ArmRuns, board: Board, runs: dict[str, ArmRuns], patience_s: float) -> ArmRuns:
    """The same arm, minding the others, which may still be added to ``runs``."""
    arm = alone.arm_spec

    def held_by(name: str) -> Mapping[str, Attachment]:
        return runs[name].held

    traffic = ArmTraffic(board, alone.robot, arm, alone.world, alone.clock, held_by, patience_s)
    return ArmRuns(
        alone.robot,
        arm,
        TrafficPlanner(alone.planner, traffic),
        TrafficArm(alone.arm, arm.name, board, alone.clock),
        alone.gripper,
        alone.world,
        alone.clock,
        right_of_way=traffic,
        base=alone.base,
    )
