"""Worlds of a table with a bin and small objects, and a task that is shown one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from conditionals_node.events.task_event import Event
from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.monitoring.evaluation import Evaluation
from conditionals_node.subtasks.success import Success
from conditionals_node.subtasks.task import WatchedTask, read_task
from conditionals_node.subtasks.watch import TaskWatch
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
FINGERS = ("fr3/fr3_leftfinger", "fr3/fr3_rightfinger")
JOINT = "fr3_finger_joint1"
ZERO = frozen((0.0, 0.0, 0.0))
Place = tuple[float, float, float]


def solid(name: str, *size: float) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, frozen(size), Pose.identity()),))


OBJECTS = {
    "cube": solid("cube", 0.04, 0.04, 0.04),
    "can": solid("can", 0.04, 0.04, 0.08),
    "bin": solid("bin", 0.3, 0.3, 0.1),
    "table": solid("table", 2.0, 2.0, 0.05),
}
START: dict[str, Place] = {
    "cube": (0.0, 0.0, 0.02),
    "can": (-0.3, 0.0, 0.04),
    "bin": (0.5, 0.0, 0.05),
    "table": (0.0, 0.0, -0.025),
}
ON_TABLE, OVER_BIN, IN_BIN = START["cube"], (0.5, 0.0, 0.3), (0.5, 0.0, 0.03)


@dataclass
class Shown:
    """One instant: where objects are, how fast, and what the fingers do.

    Attributes:
        places: Origins of the objects, m; the others are at ``START``.
        speeds: Speeds along x, m/s; the others are still.
        held: Objects that both fingers squeeze.
        touched: Objects that one finger presses on.
        pressed: Pairs of objects of which the first is carried by the second.
        opening: Position of the finger joint, m.
        objects: The geometry.
    """

    places: Mapping[str, Place] = field(default_factory=dict)
    speeds: Mapping[str, float] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    pressed: tuple[tuple[str, str], ...] = ()
    opening: float | None = None
    objects: Mapping[str, WorldObject] = field(default_factory=lambda: OBJECTS)

    def world(self, t: float) -> World:
        """Return the snapshot at a time, s."""
        places = {name: self.places.get(name, START.get(name, (0.0, 0.0, 0.0))) for name in self.objects}
        contacts = [contact for name in self.held for contact in _squeeze(name, places[name])]
        contacts += [
            Contact(name, FINGERS[0], frozen((0.0, -5.0, 0.0)), frozen(places[name])) for name in self.touched
        ]
        contacts += [Contact(a, b, frozen((0.0, 0.0, 5.0)), frozen(places[a])) for a, b in self.pressed]
        states = {
            name: ObjectState(Pose.of(place), _along_x(self.speeds.get(name, 0.0)), ZERO, t)
            for name, place in places.items()
        }
        opening = self.opening if self.opening is not None else 0.02 if self.held else 0.04
        return World(t, 1, self.objects, states, tuple(contacts), t, JointState(t, {JOINT: opening}))


def _along_x(speed: float) -> Array:
    return frozen((speed, 0.0, 0.0))


def _squeeze(name: str, place: Place) -> list[Contact]:
    x, y, z = place
    return [
        Contact(name, finger, frozen((0.0, -5.0 * side, 0.0)), frozen((x, y + 0.02 * side, z)))
        for finger, side in zip(FINGERS, (1.0, -1.0), strict=True)
    ]


def task_of(text: str) -> WatchedTask:
    """Return a task from YAML."""
    return read_task(text, Definitions(Builder(ROBOT)))


class Episode:
    """A task that is shown instants at ``period_s``, s. The first second is that of the start, where nothing moves."""

    def __init__(self, text: str, *, start: Shown | None = None, period_s: float = 0.1) -> None:
        self.evaluation = Evaluation(max_age_s=1.0)
        self.watch = TaskWatch(task_of(text), ROBOT, self.evaluation, 0.0)
        self.t, self.period_s = 10.0, period_s
        self.events: list[Event] = []
        self.show(start or Shown(), times=1 + int(np.ceil(1.0 / period_s)))

    @property
    def success(self) -> Success:
        """The verdict."""
        return self.watch.judge.success

    @property
    def codes(self) -> list[str]:
        """The names of all events so far."""
        return [event.code.name for event in self.events]

    def show(self, shown: Shown, times: int = 1) -> list[str]:
        """Show the same instant some times; return the names of the events."""
        before = len(self.events)
        for _ in range(times):
            self.t += self.period_s
            world = shown.world(self.t)
            self.evaluation.begin(world, self.t)
            self.events += self.watch.update(world, self.t).events
        return self.codes[before:]

    def carry(self, name: str, goal: Place, **others: Place) -> None:
        """Let the hand take an object from where it was last said to be, carry it over a goal, lower it and let go."""
        x, y, _ = goal
        start = START.get(name, (0.0, 0.0, 0.02))
        for place in (start, (start[0], start[1], 0.2), (start[0], start[1], 0.3), (x, y, 0.3)):
            self.show(Shown({**others, name: place}, {name: 0.2}, held=(name,)))
        self.show(Shown({**others, name: goal}, {name: 0.2}, held=(name,)))
