"""The input of the event tracker, from a snapshot of the world. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conditionals_node.arguments.checks import hands
from conditionals_node.predicates.grip import held
from conditionals_node.views.views import Unknown
from conditionals_node.views.world_view import WorldView
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot.robot import GripperSpec, Robot

from .tracker import ObjectMotion, Sight

MIN_FORCE_N = 0.1
"""Force from which a contact counts, N."""


@dataclass(frozen=True, slots=True)
class Aim:
    """The aim of a task at one instant.

    Attributes:
        intended: Objects to be moved.
        goals: Objects that they are moved to.
        settled: Intended objects that have arrived.
    """

    intended: frozenset[str] = frozenset()
    goals: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()


class Eyes:
    """Makes the sights of one robot.

    Args:
        robot: Its description.
        surfaces: Bodies that do not count as objects.
    """

    def __init__(self, robot: Robot, surfaces: Iterable[str]) -> None:
        self._grippers = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
        self._hands = [hand for hand in hands(robot) if len(hand.fingers) > 1]
        self._fingers = frozenset(finger for hand in hands(robot) for finger in hand.fingers)
        self._surfaces = frozenset(surfaces)
        self._motions: dict[str, tuple[ObjectState, ObjectMotion]] = {}

    def look(self, world: World, aim: Aim) -> Sight:
        """Make the sight of one snapshot.

        Args:
            world: The snapshot. Without a contact source nothing is touched.
            aim: The aim of the task at this instant.

        Returns:
            The input for ``EventTracker.update``.
        """
        view = WorldView(world)
        touching = self._touching(world, view)
        names = [name for name in world.states if name not in self._surfaces]
        return Sight(
            stamp_s=world.stamp_s,
            motions={name: self._motion(name, world.states[name]) for name in names if _moves(name, world)},
            touched=tuple(name for name in names if name in touching),
            gripped=tuple(name for name in names if self._is_gripped(view, name, touching.get(name))),
            touches_surface=any(name in touching for name in self._surfaces),
            closed=max((_closed(gripper, world) for gripper in self._grippers), default=math.nan),
            intended=aim.intended,
            goals=aim.goals,
            goal_places_m={
                name: world.states[name].world_T_object.translation_m
                for name in aim.goals
                if name in world.states
            },
            settled=aim.settled,
            feels=world.contacts is not None,
        )

    def _touching(self, world: World, view: WorldView) -> Mapping[str, set[str]]:
        """Return the fingers that press on each body, by the body's name, as ``gripper_detached`` measures it."""
        found: dict[str, set[str]] = {}
        for contact in world.contacts or ():
            for finger, body in ((contact.a, contact.b), (contact.b, contact.a)):
                is_new = finger in self._fingers and finger not in found.get(body, ())
                if is_new and _force(view, body, finger) >= MIN_FORCE_N:
                    found.setdefault(body, set()).add(finger)
        return found

    def _is_gripped(self, view: WorldView, name: str, fingers: set[str] | None) -> bool:
        """Return True when a hand squeezes the object, as ``object_grabbed`` measures it."""
        near = [hand for hand in self._hands if fingers is not None and fingers.issuperset(hand.fingers)]
        return bool(near) and held(view, name, near, MIN_FORCE_N).finding().truth is Truth.TRUE

    def _motion(self, name: str, state: ObjectState) -> ObjectMotion:
        """Return the motion of an object; the former one while the object does not move."""
        kept = self._motions.get(name)
        if kept is not None and _is_still(kept[0], state):
            return kept[1]
        speed = math.sqrt(float(state.world_v_object @ state.world_v_object))
        motion = ObjectMotion(state.world_T_object.translation_m, speed, _tilt(state.world_T_object))
        self._motions[name] = (state, motion)
        return motion


def _force(view: WorldView, body: str, finger: str) -> float:
    try:
        return view.touch(body, finger)
    except Unknown:  # a force that is not a number
        return 0.0


def _moves(name: str, world: World) -> bool:
    """Return False for what is known to be fixed: it is neither pushed nor out of the scene, wherever it stands."""
    item = world.objects.get(name)
    return item is None or not item.is_static


def _is_still(a: ObjectState, b: ObjectState) -> bool:
    return a.world_T_object is b.world_T_object and a.world_v_object is b.world_v_object


def _tilt(pose: Pose) -> float:
    _, x, y, _ = pose.rotation.wxyz
    return math.acos(max(-1.0, min(1.0, 1.0 - 2.0 * float(x * x + y * y))))


def _closed(gripper: GripperSpec, world: World) -> float:
    position = world.joints.position.get(gripper.joint)
    if position is None:
        return math.nan
    return 1.0 - gripper.width(position) / gripper.max_width_m
