"""The gantry on a mobile base: the fakes of a cell with one more port, for the base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.ports import NavigationGoal
from handiwork_core.model.geometry import Array, Pose, Rotation, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import BaseSpec, Joint, NavigationSpec, Robot

from .fakes import TICK_S, Cell, Fakes, FakeWorld, fakes
from .gantry import gantry

BASE = BaseSpec("base", "base", ("base_x", "base_y", "base_yaw"))
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def mobile_gantry() -> Robot:
    """Return the gantry with its link ``base`` carried by three joints from ``origin``."""
    robot, chain = gantry(), ("origin", "slide_x", "slide_y", "base")
    joints = {}
    for i, (name, axis) in enumerate(zip(BASE.joint_names, AXES, strict=True)):
        kind = JointKind.REVOLUTE if i == 2 else JointKind.PRISMATIC
        limits = (-2.0, 2.0, 0.5, 1.0, 10.0, 1e3)
        joints[name] = Joint(name, kind, chain[i], chain[i + 1], Pose.identity(), frozen(axis), *limits)
    links = (*chain[:3], *robot.links)
    return replace(robot, root_link="origin", links=links, joints={**joints, **robot.joints}, base=BASE)


@dataclass
class FakeBase:
    """Follows exactly, a tick at a time; ``miss`` (3,), m and rad, is added to its last configuration.

    ``speed`` (3,), m/s and rad/s, is what ``joint_states`` shows of it.
    """

    cell: Cell
    q: Array = field(default_factory=lambda: np.zeros(3))
    miss: Array = field(default_factory=lambda: np.zeros(3))
    on_tick: Callable[[float], None] = lambda _t: None
    speed: Array = field(default_factory=lambda: np.zeros(3))

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """Follow a trajectory in the cell's time; see ``Arm.follow``.

        Args:
            trajectory: The motion.
            should_stop: If it returns True, the motion ends with CANCELED.
        """
        self.cell.call("base.follow")
        for t in np.arange(0.0, trajectory.duration_s + TICK_S, TICK_S):
            if should_stop():
                return Outcome(Code.CANCELED, "stopped")
            self.cell.now_s += TICK_S
            self.q = trajectory.sample(float(t))[0]
            self.on_tick(float(t))
        self.q = trajectory.q[-1] + self.miss
        return OK

    def stop(self) -> Outcome:
        """Record the call; see ``Arm.stop``."""
        self.cell.call("base.stop")
        return OK


@dataclass
class FakeNavigator:
    """Drives straight to each goal at 0.5 m/s and 0.5 rad/s, or ends with ``fails`` before it moves."""

    base: FakeBase
    fails: Outcome = OK
    goals: list[NavigationGoal] = field(default_factory=list)

    def navigate(self, goal: NavigationGoal, *, should_stop: ShouldStop) -> Outcome:
        """Drive in the cell's time; see ``Navigator.navigate``.

        Args:
            goal: The pose.
            should_stop: If it returns True, the drive ends with CANCELED.
        """
        base = self.base
        base.cell.call("navigator.navigate")
        self.goals.append(goal)
        if not self.fails.ok:
            return self.fails
        start, matrix = base.q, goal.world_T_base.matrix()
        end = np.array([matrix[0, 3], matrix[1, 3], np.arctan2(matrix[1, 0], matrix[0, 0])])
        lasts_s = max(float(np.abs(end - start).max()) / 0.5, TICK_S)
        for t in np.arange(TICK_S, lasts_s + TICK_S, TICK_S):
            if should_stop():
                base.speed = np.zeros(3)
                return Outcome(Code.CANCELED, "stopped")
            base.cell.now_s += TICK_S
            base.speed = (end - start) / lasts_s
            base.q = start + (end - start) * min(float(t) / lasts_s, 1.0)
            base.on_tick(float(t))
        base.q, base.speed = end + base.miss, np.zeros(3)
        return OK

    def stop(self) -> Outcome:
        """Record the call; see ``Navigator.stop``."""
        self.base.cell.call("navigator.stop")
        return OK


class MobileWorld(FakeWorld):
    """Snapshots with the joints of the base.

    ``moving``: speeds of other joints by name, rad/s or m/s; ``silent``: joints whose velocities are not measured.
    """

    def __init__(self, cell: Cell, base: FakeBase) -> None:
        super().__init__(cell)
        self._base, self.moving, self.silent = base, dict[str, float](), set[str]()

    def world_T_base(self) -> Pose:
        """Return the pose of the link that the base moves; see ``WorldSource``."""
        x, y, yaw = self._base.q.tolist()
        return Pose.of((x, y, 0.0), Rotation.from_rpy(0.0, 0.0, yaw))

    def snapshot(self) -> World:
        """Return the state of the cell with the joints of the base; see ``WorldSource``."""
        world = super().snapshot()
        position = {
            **world.joints.position,
            **dict(zip(BASE.joint_names, self._base.q.tolist(), strict=True)),
        }
        speeds = dict(zip(BASE.joint_names, self._base.speed.tolist(), strict=True))
        velocity = {**world.joints.velocity, **speeds, **self.moving}
        velocity = {name: value for name, value in velocity.items() if name not in self.silent}
        return replace(world, joints=JointState(world.joints.stamp_s, position, velocity))


def mobile_fakes(cell: Cell, seed: int = 0) -> tuple[Fakes, FakeBase, MobileWorld]:
    """Return the fakes of a cell, with a base in their context.

    Args:
        cell: The cell.
        seed: Seed of the context.

    Returns:
        The fakes, the base, and the source of snapshots.
    """
    made, base = fakes(cell, seed), FakeBase(cell)
    world = MobileWorld(cell, base)
    made.context.robot, made.context.base, made.context.world = mobile_gantry(), base, world
    return made, base, world


def navigated_fakes(cell: Cell, seed: int = 0) -> tuple[Fakes, FakeBase, FakeNavigator]:
    """Return the fakes of a cell whose base a navigation server drives.

    Args:
        cell: The cell.
        seed: Seed of the context.

    Returns:
        The fakes, the base, and the server.
    """
    made, base, _world = mobile_fakes(cell, seed)
    navigator = FakeNavigator(base)
    spec = replace(BASE, navigation=NavigationSpec("navigate_to_pose", "map", "base_link"))
    made.context.robot = replace(made.context.robot, base=spec)
    made.context.base, made.context.navigator = None, navigator
    return made, base, navigator
