"""The world of a rehearsal, which its arms share: joints, objects and time as the steps so far would leave them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.planning import Attachment, ShouldStop
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Contact, JointState, World
from skill_server.motions.arm_motions import hand
from skill_server.state.gripper_state import finger_bodies, is_lost, width_m
from skill_server.state.scene_query import gripper_joints, objects_inside, width_across

from .settling import fall_m, lowered

ZERO = np.zeros(3)


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """What a rehearsal goes back to: the world, what has moved since the measurement, and what each hand holds."""

    world: World
    moved: frozenset[str]
    held: Mapping[str, Mapping[str, Attachment]]


class RehearsedWorld:
    """The world of a rehearsal. Motions end at once and exactly; what a hand holds moves with it.

    Args:
        contexts: Context of each arm, by its name; they are only read. The first one's source gives the world.

    Attributes:
        cells: Ports of each arm.
        measured: Snapshot with which the rehearsal began.
        began: World in which the present step began.
        world: World as it would be now.
        now_s: Time of the rehearsal, s; it only goes on.
    """

    def __init__(self, contexts: Mapping[str, Context]) -> None:
        self._contexts = contexts
        self._first = next(iter(contexts.values()))
        self._lock = threading.RLock()
        self._mark: _Kept | None = None
        self._moved = set[str]()
        self.now_s = self._first.clock.now_s()
        self.measured = self.began = self.world = self._first.world.snapshot()
        self.cells = {name: RehearsedCell(context, self) for name, context in contexts.items()}
        self.begin()

    @property
    def lock(self) -> threading.RLock:
        """Held by a port while it changes the world: arms that move together have a thread each."""
        return self._lock

    def mark(self) -> None:
        """Let what follows begin here, each time that it begins again."""
        held = {name: dict(cell.held) for name, cell in self.cells.items()}
        self._mark = _Kept(self.world, frozenset(self._moved), held)

    def begin(self) -> None:
        """Begin again: at the mark, or, before the first one, in the world as it is measured now."""
        for cell in self.cells.values():
            cell.take_motions()
        if self._mark is None:
            self._measure()
        else:
            self.world, self._moved = self._mark.world, set(self._mark.moved)
            for name, cell in self.cells.items():
                cell.held.clear()
                cell.held.update(self._mark.held[name])
        self.began = self.world

    def _measure(self) -> None:
        self.measured = self.world = self._first.world.snapshot()
        self._moved = set()
        for name, cell in self.cells.items():
            cell.measure_base()
            context = self._contexts[name]
            cell.held.clear()
            for held in tuple(context.held):
                item = context.held.get(held)  # None: a goal has put it down since
                if item is not None and not is_lost(self.measured, context.robot, context.arm_spec, held):
                    cell.held[held] = item

    def stand_still(self) -> None:
        """Have all objects at rest from now on: a rehearsal foresees no motion of theirs, and waits for none."""
        resting = {
            name: replace(state, world_v_object=ZERO, world_w_object=ZERO)
            for name, state in self.world.states.items()
        }
        self.world = replace(self.world, states=resting)

    def let_go(self) -> frozenset[str]:
        """Return the objects that hands have left elsewhere than where they are measured."""
        carried = frozenset[str]().union(*(self.carried(cell) for cell in self.cells.values()))
        return frozenset(self._moved) - carried

    def carried(self, cell: RehearsedCell) -> frozenset[str]:
        """Return what moves with a hand; an object in two hands moves with the first of the arms.

        Args:
            cell: Ports of the arm.
        """
        names = set(cell.held) & self.world.states.keys()
        for other in self.cells.values():
            if other is cell:
                break
            names -= other.held.keys()
        return frozenset(names).union(*(objects_inside(self.world, name) for name in names))

    def is_held_by_another(self, name: str, cell: RehearsedCell) -> bool:
        """Return True for an object that another hand of the rehearsal holds as well.

        Args:
            name: The object.
            cell: Ports of the arm.
        """
        return any(name in other.held for other in self.cells.values() if other is not cell)

    def set_joints(self, positions: Mapping[str, float]) -> None:
        """Set joints.

        Args:
            positions: Positions by name, rad or m.
        """
        joints = self.world.joints
        self.world = replace(self.world, joints=replace(joints, position={**joints.position, **positions}))

    def move_objects(self, places: Mapping[str, Pose]) -> None:
        """Put objects elsewhere; those that cannot move stay.

        Args:
            places: world_T_object by name.
        """
        states = dict(self.world.states)
        for name, pose in places.items():
            if not self.world.objects[name].is_static:
                states[name] = replace(states[name], world_T_object=pose)
                self._moved.add(name)
        self.world = replace(self.world, states=states)


class RehearsedCell:
    """Arm, gripper, world and clock of one arm in a rehearsal.

    Args:
        context: Context of the run that is rehearsed; it is only read.
        shared: The world of the rehearsal.

    Attributes:
        held: What the hand holds; the rehearsal's ``Context.held``.
        grasped: Object on which the hand closes next; empty: on nothing.
    """

    def __init__(self, context: Context, shared: RehearsedWorld) -> None:
        self._context, self._shared = context, shared
        self.held, self.grasped = dict[str, Attachment](), ""
        self._motions = list[Trajectory]()
        self._base = context.world.world_T_base()

    def measure_base(self) -> None:
        """Take the pose of the arm's base as it is measured now."""
        self._base = self._context.world.world_T_base()

    def take_motions(self) -> tuple[Trajectory, ...]:
        """Return the motions since the last call, in order."""
        made, self._motions = tuple(self._motions), []
        return made

    def now_s(self) -> float:
        """See ``Clock``."""
        return self._shared.now_s

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """See ``Clock``; no time passes but that of the rehearsal.

        Args:
            seconds: Duration, s.
            should_stop: Not used: it takes no time.
        """
        self._shared.now_s += seconds

    def world_T_base(self) -> Pose:
        """See ``WorldSource``."""
        return self._base

    def snapshot(self) -> World:
        """See ``WorldSource``; all is measured now, and at rest."""
        now_s, world = self._shared.now_s, self._shared.world
        joints = JointState(now_s, world.joints.position, dict.fromkeys(world.joints.position, 0.0))
        return replace(world, stamp_s=now_s, contacts_stamp_s=now_s, joints=joints)

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """Note a motion, and be at its end; see ``Arm``.

        Args:
            trajectory: The motion.
            should_stop: Not used: it takes no time.
        """
        with self._shared.lock:
            self._motions.append(replace(trajectory, begin_s=0.0))
            end_s = (trajectory.begin_s or self._shared.now_s) + trajectory.duration_s
            self._shared.now_s = max(self._shared.now_s, end_s)
            before = hand(self._rehearsed(), self._shared.world)
            ends = zip(trajectory.joint_names, trajectory.q[-1].tolist(), strict=True)
            self._shared.set_joints(dict(ends))
            self._carry(hand(self._rehearsed(), self._shared.world) @ before.inverse())
        return OK

    def stop(self) -> Outcome:
        """See ``Arm``."""
        return OK

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper``; a closing hand stops at ``grasped``, and what an opening one held falls to what is below.

        Args:
            width_m: Opening between the pads, m.
            force_n: Not used: it changes no motion.
            should_stop: Not used: it takes no time.
        """
        gripper = self._context.arm_spec.gripper
        assert gripper is not None
        shared = self._shared
        closes = width_m <= gripper.min_width_m
        name = self.grasped if closes and self.grasped in shared.world.states else ""
        if not closes:
            self._let_fall()
        if gripper.suction is not None:
            cup = SuctionState(shared.now_s, closes, bool(name), name)
            shared.world = replace(shared.world, suction={**shared.world.suction, gripper.name: cup})
            return OK
        if name:
            world_T_ee = hand(self._rehearsed(), shared.world)
            across_m = width_across(shared.world, name, world_T_ee, gripper)
            width_m = min(across_m, _opening_m(shared.world, self._context))
        shared.set_joints(dict(gripper_joints(self._context.robot, gripper, width_m)))
        if shared.world.contacts is not None:
            fingers = finger_bodies(self._context.robot, gripper)
            others = tuple(one for one in shared.world.contacts if not {one.a, one.b} & set(fingers))
            touched = tuple(Contact(finger, name, ZERO, ZERO) for finger in fingers if name)
            shared.world = replace(shared.world, contacts=(*others, *touched))
        return OK

    def _rehearsed(self) -> Context:
        return replace(self._context, world=self)

    def _carry(self, motion: Pose) -> None:
        states = self._shared.world.states
        carried = self._shared.carried(self)
        self._shared.move_objects({name: motion @ states[name].world_T_object for name in carried})

    def _let_fall(self) -> None:
        """Lower what only this hand held, and what lies in it."""
        world = self._shared.world
        for name in self.held:
            if name not in world.states or self._shared.is_held_by_another(name, self):
                continue
            inside = objects_inside(world, name)
            if (by_m := fall_m(world, name, inside)) > 0.0:
                poses = {one: world.states[one].world_T_object for one in (name, *inside)}
                self._shared.move_objects({one: lowered(pose, by_m) for one, pose in poses.items()})


def _opening_m(world: World, context: Context) -> float:
    gripper = context.arm_spec.gripper
    assert gripper is not None
    measured_m = width_m(world, gripper)
    return measured_m if np.isfinite(measured_m) else gripper.max_width_m
