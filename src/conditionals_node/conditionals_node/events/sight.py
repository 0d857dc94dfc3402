"""The observations of n worlds at one instant, which events and verdicts are made from. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conditionals_node.arguments.checks import Hand, hands
from conditionals_node.predicates.grip import held
from conditionals_node.views.batch_view import BatchView
from conditionals_node.views.batch_worlds import Worlds
from conditionals_node.views.views import Unknown, View
from conditionals_node.views.world_view import WorldView
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World, WorldObject
from handiwork_core.robot.robot import GripperSpec, Robot

from .hand_poses import HandPoses
from .happened import Flags
from .noise_rooms import EXACT, NoiseRooms

MIN_FORCE_N = 0.1
"""Force from which a contact counts, N."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """The observations of one instant of n worlds, about m objects.

    Attributes:
        names: The objects, in a fixed order; later sights may have more at the end.
        stamp_s: Times of the snapshots, (n,), s.
        place_m: Origins of the objects in world, (m, n, 3), m; nan where one is not known.
        speed_mps: Their speeds, (m, n), m/s.
        tilt_rad: Angles between their z axes and straight up, (m, n), rad; nan where nobody asks.
        movable: False for objects that are known to be fixed, (m,).
        surface: True for objects that others stand on, which do not count as objects, (m,).
        solid: True for objects whose geometry is known, (m,).
        touched: Objects that a finger touches, (m, n).
        gripped: Objects between the fingers, or under a cup that is sealed, (m, n).
        closed: Shares to which the grippers are closed, (n,); nan where it is not measured.
        feels: False where contacts are not known, so that no event of touching is reported.
        offset_m: Origins of gripped objects in the frames of the hands, (m, n, hands, 3), m; nan where not known.
        place_room_m: The room for noise of a place: what it exceeds along a direction with ``max_flip`` at most,
            (m, n) or one that is broadcast, m; 0 where poses are exact.
        tilt_room_rad: The same of a tilt, rad.
    """

    names: tuple[str, ...]
    stamp_s: Array
    place_m: Array
    speed_mps: Array
    tilt_rad: Array
    movable: Flags
    surface: Flags
    solid: Flags
    touched: Flags
    gripped: Flags
    closed: Array
    feels: bool = True
    offset_m: Array | None = None
    place_room_m: Array = field(default_factory=lambda: EXACT)
    tilt_room_rad: Array = field(default_factory=lambda: EXACT)

    def rows(self, names: Iterable[str]) -> Flags:
        """Return which objects have one of these names, (m,).

        Args:
            names: The names.
        """
        wanted = frozenset(names)
        return np.array([name in wanted for name in self.names], dtype=bool)


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """The aims of a task in n worlds, about the m objects of a sight.

    Attributes:
        intended: Objects to be moved now, (m, n).
        goals: Objects that they are moved to, (m, n).
        settled: Intended objects that have arrived, (m, n).
    """

    intended: Flags
    goals: Flags
    settled: Flags


class Eyes:
    """Makes the sights of one robot.

    Args:
        robot: Its description.
        surfaces: Bodies that do not count as objects.
        upright: Objects whose tilt is wanted.
        max_flip: Largest probability with which noise of measured poses may turn an event; 1: it does not matter.
    """

    def __init__(
        self, robot: Robot, surfaces: Iterable[str], upright: Iterable[str] = (), max_flip: float = 1.0
    ) -> None:
        self._hand_poses = HandPoses(robot)
        self._noise_rooms = NoiseRooms(max_flip)
        self._grippers = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
        all_hands = hands(robot)
        self._hands = [hand for hand in all_hands if len(hand.fingers) > 1]
        self._fingers = frozenset(finger for hand in all_hands for finger in hand.fingers)
        self._surfaces, self._upright = frozenset(surfaces), frozenset(upright)
        self._names: dict[str, int] = {}
        self._kinds: tuple[Mapping[str, WorldObject], int, tuple[Flags, Flags, Flags]] | None = None

    def look(self, world: World) -> Sight:
        """Make the sight of one snapshot.

        Args:
            world: The snapshot. Without a contact source nothing is touched.
        """
        names = self._known(world.states)
        place, speed = np.full((len(names), 1, 3), np.nan), np.full((len(names), 1), np.nan)
        if world.states:
            rows = [self._names[name] for name in world.states]
            states = list(world.states.values())
            place[rows, 0] = np.concatenate([state.world_T_object.translation_m for state in states]).reshape(
                -1, 3
            )
            velocity = np.concatenate([state.world_v_object for state in states]).reshape(-1, 3)
            speed[rows, 0] = np.sqrt((velocity * velocity).sum(axis=1))
        pairs = {(contact.a, contact.b) for contact in world.contacts or ()}
        positions = world.joints.position
        closed = [closed_share(gripper, positions.get(gripper.joint, np.nan)) for gripper in self._grippers]
        touches = self._touches(WorldView(world), pairs, names, 1)
        for cup in world.suction.values():
            if cup.sealed and cup.object in self._names:
                touches["gripped"][self._names[cup.object]] = True
        place_room, tilt_room = self._noise_rooms.of(world.states, self._names)
        return Sight(
            names,
            np.array([world.stamp_s]),
            place,
            speed,
            self._tilts(WorldView(world), world.states, 1),
            *self._kinds_of(world.objects),
            touched=touches["touched"],
            gripped=touches["gripped"],
            closed=np.array([_most(closed)]),
            feels=world.contacts is not None,
            offset_m=self._hand_poses.offsets_of_one(place, touches["gripped"], world),
            place_room_m=place_room,
            tilt_room_rad=tilt_room,
        )

    def look_at_many(self, worlds: Worlds, stamp_s: Array, sealed: Mapping[str, ArrayLike]) -> Sight:
        """Make the sight of many worlds.

        Args:
            worlds: n worlds. Without forces nothing is touched; objects without a velocity do not move.
            stamp_s: Times of the worlds, (n,), s.
            sealed: Where an object hangs at a suction cup, by object, (n,) bool.

        Raises:
            ValueError: An object of ``sealed`` has no pose, or another number of worlds.
        """
        names, n = self._known(worlds.poses), worlds.n
        place, speed = np.full((len(names), n, 3), np.nan), np.full((len(names), n), np.nan)
        for name, poses in worlds.poses.items():
            place[self._names[name]] = poses.position
            velocity = worlds.velocities.get(name)
            if velocity is not None:
                speed[self._names[name]] = np.sqrt(np.einsum("ij,ij->i", velocity, velocity))
        nowhere = np.full(n, np.nan)
        closed = [
            closed_share(gripper, worlds.joints.get(gripper.joint, nowhere)) for gripper in self._grippers
        ]
        view = BatchView(worlds)
        cups = {name: np.asarray(held, dtype=bool) for name, held in sealed.items()}
        wrong = [name for name, held in cups.items() if name not in worlds.poses or held.shape != (n,)]
        if wrong:
            raise ValueError(f"sealed[{wrong[0]!r}]: give ({n},) bool for an object that has poses")
        with np.errstate(invalid="ignore", divide="ignore"):
            touches = self._touches(view, worlds.forces or (), names, n)
            for name, held in cups.items():
                touches["gripped"][self._names[name]] |= held
            return Sight(
                names,
                stamp_s,
                place,
                speed,
                self._tilts(view, worlds.poses, n),
                *self._kinds_of(worlds.objects),
                touched=touches["touched"],
                gripped=touches["gripped"],
                closed=np.broadcast_to(_most(closed), (n,)),
                feels=worlds.forces is not None,
                offset_m=self._hand_poses.offsets(place, touches["gripped"], worlds.joints, worlds.frames),
            )

    def _known(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return all objects that were ever seen, those of ``names`` included; each keeps its row."""
        for name in names:
            self._names.setdefault(name, len(self._names))
        return tuple(self._names)

    def _kinds_of(self, objects: Mapping[str, WorldObject]) -> tuple[Flags, Flags, Flags]:
        """Return which objects move, which are surfaces, and of which the geometry is known.

        What is known to be fixed is neither pushed nor out of the scene, wherever it stands.
        """
        kept, count = self._kinds, len(self._names)
        if kept is None or kept[0] is not objects or kept[1] != count:
            fixed = {name for name, item in objects.items() if item.is_static} | self._surfaces
            movable = np.array([name not in fixed for name in self._names], dtype=bool)
            surface = np.array([name in self._surfaces for name in self._names], dtype=bool)
            solid = np.array([name in objects for name in self._names], dtype=bool)
            kept = self._kinds = objects, count, (movable, surface, solid)
        return kept[2]

    def _tilts(self, view: View[Any], known: Iterable[str], n: int) -> Array:
        tilt = np.full((len(self._names), n), np.nan)
        for name in self._upright.intersection(known):
            up = np.asarray(view.axes(name)[2][2], dtype=float)
            tilt[self._names[name]] = np.arccos(np.clip(up, -1.0, 1.0))
        return tilt

    def _touches(
        self, view: View[Any], pairs: Iterable[tuple[str, str]], names: Sequence[str], n: int
    ) -> dict[str, Flags]:
        """Return what fingers touch, as ``gripper_detached`` measures it, and what a hand squeezes."""
        near: dict[str, set[str]] = {}
        for a, b in pairs:
            for finger, body in ((a, b), (b, a)):
                if finger in self._fingers and body in self._names:
                    near.setdefault(body, set()).add(finger)
        touched, gripped = np.zeros((len(names), n), dtype=bool), np.zeros((len(names), n), dtype=bool)
        for body, fingers in near.items():
            row, pressing = self._names[body], set()
            for finger in fingers:
                presses = _force(view, body, finger) >= MIN_FORCE_N
                touched[row] |= presses
                if np.any(presses):
                    pressing.add(finger)
            able = [hand for hand in self._hands if pressing.issuperset(hand.fingers)]
            if able and body not in self._surfaces:
                gripped[row] = touched[row] & _grips(view, body, able)
        return {"touched": touched, "gripped": gripped}


def closed_share(gripper: GripperSpec, position: Any) -> Any:  # noqa: ANN401 - a number, or one for each world
    """Return the share to which a gripper is closed.

    Args:
        gripper: The gripper.
        position: Position of its joint, rad or m; nan where it is not measured.

    Returns:
        0 where it is open, 1 where it is closed; nan where it is not known.
    """
    if gripper.width_table:
        joint, widths = zip(*gripper.width_table, strict=True)
        return 1.0 - np.interp(position, joint, widths) / gripper.max_width_m
    return 1.0 - gripper.width_per_joint * position / gripper.max_width_m


def _most(shares: Sequence[Any]) -> Any:  # noqa: ANN401 - a number, or one for each world
    most: Any = np.nan
    for share in shares:
        most = np.fmax(most, share)
    return most


def _grips(view: View[Any], body: str, able: Sequence[Hand]) -> Any:  # noqa: ANN401 - one bool, or one for each world
    try:
        return held(view, body, able, MIN_FORCE_N).margin >= 0.0
    except Unknown:
        return False


def _force(view: View[Any], body: str, finger: str) -> Any:  # noqa: ANN401 - a number, or one for each world
    try:
        return view.touch(body, finger)
    except Unknown:  # a force that is not a number
        return 0.0
