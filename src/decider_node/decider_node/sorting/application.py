"""Dispatch between waiting, grasping a cube that moves by, and dropping it into the bin of its colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from decider_node.motion.approach import Approach
from decider_node.motion.command import MotionCommand
from decider_node.motion.motion_states import (
    ArmPort,
    Reach,
    Shift,
    Stay,
)
from decider_node.network.decider import Decider, Decision, TickContext
from decider_node.network.network import FunctionMonitor, Network
from decider_node.network.states import Lock, SequenceDecider, State, StateMachineDecider, Unlock, Write
from decider_node.network.timed import WaitState
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import ObjectState

CLOSED_M, OPEN_M = 0.0, 0.08
IN_HAND_M = 0.025
"""Distance of a cube's middle from the tip below which it is held by closed fingers, m."""
ZONE_Y_M, ZONE_HALF_X_M, BELT_TOP_M = (-0.35, 0.3), 0.15, -0.02
DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)
HOME = Pose.of((0.45, -0.1, 0.25), DOWN)


class SortingPort(ArmPort, Protocol):
    """The interface of the application to its cell."""

    def cubes(self) -> Mapping[str, ObjectState]:
        """Return the cubes by name, ``<colour>_<n>``."""

    def tip(self) -> Pose:
        """Return the pose between the fingertips in world."""

    def tip_at(self, stamp_s: float) -> Pose:
        """Return the pose between the fingertips in world at an earlier time.

        Args:
            stamp_s: The time, s.
        """

    def width(self) -> float:
        """Return the opening of the gripper, m."""

    def grip(self, width_m: float) -> None:
        """Command the gripper.

        Args:
            width_m: Opening, m.
        """

    def stop(self) -> None:
        """Bring the arm to rest."""


@dataclass
class SortingContext:
    """The logical state: monitors write it and deciders read it. ``bins`` has the poses for letting go, by colour."""

    cell: SortingPort
    bins: Mapping[str, Pose]
    belt: Array
    """Velocity of the belt in world, (3,), m/s."""
    cubes: Mapping[str, ObjectState] = field(default_factory=dict)
    tip: Pose = field(default_factory=Pose.identity)
    target: Pose | None = None
    active: str | None = None
    held: bool = False
    sorted_count: int = 0

    @property
    def status(self) -> str:
        """The logical state in a line."""
        holds = "held" if self.held else "not held"
        return f"sorted {self.sorted_count}, active {self.active or 'none'} ({holds})"

    def renew(self) -> None:
        """Forget the present action."""
        self.active, self.target, self.held = None, None, False


def look(context: SortingContext, now_s: float) -> None:
    """Read the cubes, the tip and the gripper. An active cube that has left the world is not active any more.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    cell = context.cell
    context.cubes, context.tip = cell.cubes(), cell.tip()
    context.held = False
    if context.active not in context.cubes:
        context.active = None
    if context.active is not None:
        cube = context.cubes[context.active]
        # Objects are seen later than the joints: in a swing of 1 m/s the hand is centimetres ahead of its cube.
        apart = cube.world_T_object.translation_m - cell.tip_at(cube.stamp_s).translation_m
        context.held = float(np.linalg.norm(apart)) < IN_HAND_M and 0.02 < cell.width() < 0.06


def choose(context: SortingContext, now_s: float) -> None:
    """Choose the cube that is farthest down the belt, among those that can still be caught.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    if context.active is not None and (context.held or _on_belt(context.cubes[context.active])):
        return
    able = [name for name, state in context.cubes.items() if _on_belt(state)]
    context.active = max(able, key=lambda n: context.cubes[n].world_T_object.translation_m[1], default=None)


def _on_belt(state: ObjectState) -> bool:
    x, y, z = state.world_T_object.translation_m
    return bool(ZONE_Y_M[0] < y < ZONE_Y_M[1] and abs(x - 0.5) < ZONE_HALF_X_M and z > BELT_TOP_M)


def to_cube(context: SortingContext) -> MotionCommand:
    """Return a command down onto the active cube, with the belt, the fingers along its sides.

    Args:
        context: The logical state. A cube may leave the world while the grasp is locked: the tip stays where it is.
    """
    if context.active is None:
        return MotionCommand(context.tip)
    cube = context.cubes[context.active].world_T_object
    x = cube.rotation.matrix()[:, 0]
    heading = float(np.arctan2(x[1], x[0]))
    heading = (heading + 0.25 * np.pi) % (0.5 * np.pi) - 0.25 * np.pi  # a cube looks the same from four sides
    goal = Pose.of(cube.translation_m, Rotation.from_axis_angle((0.0, 0.0, 1.0), heading) @ DOWN)
    rate = frozen([*context.belt, 0.0, 0.0, 0.0])
    return MotionCommand(goal, Approach.along((0.0, 0.0, -0.1), 0.01), world_v_target=rate)


def to_bin(context: SortingContext) -> MotionCommand:
    """Return a command to the bin of the active cube's colour.

    Args:
        context: The logical state.

    Raises:
        RuntimeError: No cube is active.
    """
    if context.active is None:
        raise RuntimeError("no cube is active: dispatch may decide for drop only while a cube is held")
    return MotionCommand(context.bins[context.active.split("_")[0]])


class Dispatch(Decider[SortingContext]):
    """Decides between going home, grasping and dropping."""

    def decide(self, moment: TickContext[SortingContext]) -> Decision | None:
        """Return one of the three."""
        context = moment.context
        if context.active is None:
            return Decision("go_home", MotionCommand(HOME))
        return Decision("drop" if context.held else "grasp")


class Go(Decider[SortingContext]):
    """Sends the command of its parameters, with the gripper open."""

    def decide(self, moment: TickContext[SortingContext]) -> Decision | None:
        """Send the command."""
        moment.context.cell.grip(OPEN_M)
        moment.context.cell.go(moment.given(MotionCommand))
        return None


def _grasp() -> StateMachineDecider[SortingContext]:
    states: list[State[SortingContext]] = [
        Write(lambda context: context.cell.grip(OPEN_M)),
        Reach(to_cube, 0.006, 0.03),
        Lock(5.0),
        Write(lambda context: context.cell.grip(CLOSED_M)),
        Stay(to_cube, 0.9),  # the action of a gripper answers later than its fingers would move
        Shift(lambda context: np.array([0.0, 0.0, 0.15]), 0.05),
        Unlock(),
    ]
    return StateMachineDecider("grasp", SequenceDecider(states, loops=True))


def _drop() -> StateMachineDecider[SortingContext]:
    def count(context: SortingContext) -> None:
        context.sorted_count += 1

    states: list[State[SortingContext]] = [
        Reach(to_bin, 0.03, 0.2),
        Lock(5.0),
        Write(lambda context: context.cell.grip(OPEN_M)),
        WaitState(0.4),
        Write(count),
        Unlock(),
    ]
    return StateMachineDecider("drop", SequenceDecider(states))


def sorting_network(context: SortingContext) -> Network[SortingContext]:
    """Return the network of the whole application.

    Args:
        context: The logical state.
    """
    children: dict[str, Decider[SortingContext]] = {
        "go_home": Go("go_home"),
        "grasp": _grasp(),
        "drop": _drop(),
    }
    monitors = (FunctionMonitor("cell", look), FunctionMonitor("active cube", choose))
    stop, renew = context.cell.stop, context.renew
    return Network(Dispatch("dispatch", children), context, monitors, stop=stop, renew=renew)
