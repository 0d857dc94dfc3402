"""Two gantries over one cell, as the arms of one robot: the fakes of a skill that needs both."""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress
from dataclasses import replace

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import Joint, Robot
from handiwork_core.testing.fakes import Cell, FakeArm, FakeClock, Fakes, FakeWorld, fakes
from handiwork_core.testing.gantry import gantry

FIRST, OTHER = "arm", "other"
MEET_S = 120.0


def named(name: str) -> str:
    """Return the name of a part of the other gantry; both stand on the same base."""
    return name if name == "base" else f"other_{name}"


def gantry_pair() -> Robot:
    """Return the robot with both arms."""
    one = gantry()
    arm = one.arms[FIRST]
    assert arm.gripper is not None
    joints = {named(name): _joint(joint) for name, joint in one.joints.items()}
    fingers = tuple(map(named, arm.gripper.finger_links))
    other = replace(
        arm,
        name=OTHER,
        ee_link=named(arm.ee_link),
        tcp_link=named(arm.tcp_link),
        joint_names=tuple(map(named, arm.joint_names)),
        gripper=replace(
            arm.gripper, name="other_gripper", joint=named(arm.gripper.joint), finger_links=fingers
        ),
    )
    return replace(
        one,
        links=(*one.links, *(named(link) for link in one.links if link != "base")),
        joints={**one.joints, **joints},
        spheres=(*one.spheres, *(replace(each, link=named(each.link)) for each in one.spheres)),
        arms={FIRST: arm, OTHER: other},
    )


def _joint(joint: Joint) -> Joint:
    mimic = joint.mimic and replace(joint.mimic, joint=named(joint.mimic.joint))
    ends = {"parent": named(joint.parent), "child": named(joint.child)}
    return replace(joint, name=named(joint.name), mimic=mimic, **ends)


class PairCell(Cell):
    """What one gantry has; an object that the other one holds as well does not fall."""

    partner: Cell | None = None

    def drop(self, height_m: float = 0.0) -> None:
        if self.partner is not None and self.partner.in_hand == self.in_hand:
            self.in_hand = ""
        else:
            super().drop(height_m)


class PairClock(FakeClock):
    def __init__(self, cells: tuple[Cell, Cell]) -> None:
        super().__init__(cells[0])
        self._cells = cells

    def now_s(self) -> float:
        return max(cell.now_s for cell in self._cells)

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        self._cells[0].now_s = self.now_s()
        super().sleep(seconds, should_stop=should_stop)


class PairWorld(FakeWorld):
    """Snapshots with the joints and contacts of both."""

    def __init__(self, cells: tuple[Cell, Cell]) -> None:
        super().__init__(cells[0])
        self._other, self._clock = FakeWorld(cells[1]), PairClock(cells)

    def snapshot(self) -> World:
        own, other, now_s = super().snapshot(), self._other.snapshot(), self._clock.now_s()
        position = {**own.joints.position, **{named(k): v for k, v in other.joints.position.items()}}
        velocity = dict.fromkeys(position, 0.0)
        touched = tuple(
            replace(each, a=f"gantry/{named(each.a.removeprefix('gantry/'))}")
            for each in other.contacts or ()
        )
        return replace(
            own,
            stamp_s=now_s,
            contacts_stamp_s=now_s,
            contacts=None if own.contacts is None else (*own.contacts, *touched),
            joints=JointState(now_s, position, velocity),
        )


class PairArm(FakeArm):
    """Motions of both arms that begin at one time go on tick by tick together."""

    def __init__(self, cell: Cell, barriers: dict[float, threading.Barrier], sending: threading.Lock) -> None:
        super().__init__(cell)
        self._barriers, self._sending = barriers, sending

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        if trajectory.begin_s == 0.0:
            return super().follow(trajectory, should_stop=should_stop)
        barrier = self._barriers.setdefault(trajectory.begin_s, threading.Barrier(2))
        with ExitStack() as until_sent:
            # One after the other, so that nothing is sent once the goal of the other one has ended the run.
            until_sent.enter_context(self._sending)
            if should_stop():
                barrier.abort()
                return Outcome(Code.CANCELED, "stopped before the motion began")

            def after_the_other() -> bool:
                until_sent.close()
                if should_stop():  # before the wait: the other one may not begin any more
                    return True
                with suppress(threading.BrokenBarrierError):  # the other one has ended
                    barrier.wait(MEET_S)
                return False

            try:
                return super().follow(trajectory, should_stop=after_the_other)
            finally:
                barrier.abort()


def pair(cell: Cell, seed: int = 0) -> tuple[Fakes, Fakes]:
    """Return the fakes of both gantries; the context of the first has that of the other as a partner.

    Calls of all ports are counted by the first cell.
    """
    names = ("objects", "poses", "width_of", "has_contacts")
    shared = {name: getattr(cell, name) for name in names}
    first, other = PairCell(**shared), PairCell(**shared)
    first.partner, other.partner = other, first
    other.before = first.call
    made, further = fakes(first, seed), fakes(other, seed)
    robot, cells = gantry_pair(), (first, other)
    for one, name in ((made, FIRST), (further, OTHER)):
        one.context.robot, one.context.arm_spec = robot, robot.arms[name]
        one.context.world, one.context.clock = PairWorld(cells), PairClock(cells)
        one.context.planner, one.context.token = made.planner, made.context.token
    barriers, sending = dict[float, threading.Barrier](), threading.Lock()
    for one, own in ((made, first), (further, other)):
        one.arm = one.context.arm = PairArm(own, barriers, sending)
    made.context.partners = {OTHER: further.context}
    return made, further
