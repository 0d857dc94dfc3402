"""Fakes of all ports around one small cell.

Time advances only in calls, the arm follows exactly, the gripper holds the object on which it closes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    JointGoals,
    PathGoal,
    PathRest,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
    ShouldStop,
    StraightGoal,
    Verdict,
)
from handiwork_core.contracts.skill import Context, Token
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import (
    OK,
    BodyPair,
    Code,
    Outcome,
)
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    World,
    WorldObject,
)

from .gantry import gantry, gantry_pose, gantry_q

TICK_S = 0.02
GRASP_GAP_M = 0.02
"""Largest distance between the TCP and the centre of an object that closing fingers grasp, m."""


@dataclass
class Cell:
    """State that the fakes share.

    ``before`` is called with the name of each port call, for scripts and stop tests.
    """

    objects: dict[str, WorldObject]
    poses: dict[str, Pose]
    width_of: dict[str, float] = field(default_factory=dict)
    q: Array = field(default_factory=lambda: np.array(gantry().arms["arm"].home_q))
    width_m: float = 0.04
    now_s: float = 10.0
    in_hand: str = ""
    hand_T_object: Pose = field(default_factory=Pose.identity)
    has_contacts: bool = True
    planner_version: int = 1
    planner_objects: dict[str, WorldObject] = field(default_factory=dict)
    planner_attached: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    before: Callable[[str], None] = lambda _call: None

    def call(self, name: str) -> None:
        """Record a port call.

        Args:
            name: Name of the call, such as ``arm.follow``.
        """
        self.calls.append(name)
        self.before(name)

    def carry(self) -> None:
        """Move the object in the hand with the hand."""
        if self.in_hand:
            self.poses[self.in_hand] = gantry_pose(self.q) @ self.hand_T_object

    def drop(self, height_m: float = 0.0) -> None:
        """Release the object: it falls straight down to a height; a part stays on its joint.

        Args:
            height_m: Height of its origin in the world, m.
        """
        if self.in_hand and self.objects[self.in_hand].articulation is None:
            pose = self.poses[self.in_hand]
            self.poses[self.in_hand] = replace(
                pose, translation_m=np.array([*pose.translation_m[:2], height_m])
            )
        self.in_hand = ""


class FakeClock:
    """Time that advances only in ``sleep``."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    def now_s(self) -> float:
        """Return the time of the cell, s."""
        return self._cell.now_s

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """Advance the time at once; see ``Clock.sleep``.

        Args:
            seconds: Duration, s.
            should_stop: If it returns True, the time stays.
        """
        self._cell.call("clock.sleep")
        if not should_stop():
            self._cell.now_s += seconds


class FakeWorld:
    """Snapshots of the cell, always new."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    def world_T_base(self) -> Pose:
        """Return the identity; see ``WorldSource``."""
        return Pose.identity()

    def snapshot(self) -> World:
        """Return the state of the cell; see ``WorldSource``."""
        cell, zero = self._cell, np.zeros(3)
        states = {name: ObjectState(pose, zero, zero, cell.now_s) for name, pose in cell.poses.items()}
        contacts = tuple(
            Contact(f"gantry/{finger}", cell.in_hand, zero, zero)
            for finger in ("left_finger", "right_finger")
            if cell.in_hand
        )
        names = gantry().arms["arm"].joint_names
        position = dict(zip(names, cell.q.tolist(), strict=True))
        position |= {"left_finger_joint": cell.width_m / 2.0, "right_finger_joint": cell.width_m / 2.0}
        joints = JointState(cell.now_s, position, {name: 0.0 for name in position})
        seen = contacts if cell.has_contacts else None
        return World(
            cell.now_s,
            1,
            dict(cell.objects),
            states,
            seen,
            cell.now_s,
            joints,
            planner_version=cell.planner_version,
            planner_objects=dict(cell.planner_objects),
            planner_attached=dict(cell.planner_attached),
        )


class FakePlanner:
    """Plans by the gantry's closed form and ignores obstacles; ``refusals`` answer the next plans instead."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self.refusals: list[PlanResult] = []
        self.verdict = Verdict(Code.OK)
        self.judge: Callable[[PathRest], Verdict] = lambda _rest: Verdict(Code.OK)
        self.rests: list[tuple[PathRest, SceneQuery]] = []
        self.validated: list[SceneQuery] = []
        self.plans: list[PlanRequest] = []
        self.candidates: list[CandidatesRequest] = []

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """Return a motion to the first goal, or the next of ``refusals``; see ``Planner.plan``.

        Args:
            request: Recorded in ``plans``.
            should_stop: If it returns True, the answer is CANCELED.
        """
        self._cell.call("planner.plan")
        self.plans.append(request)
        if should_stop():
            return PlanResult(Code.CANCELED)
        if self.refusals:
            return self.refusals.pop(0)
        goal = request.goal
        end = np.asarray(goal.q[0]) if isinstance(goal, JointGoals) else gantry_q(_end(goal))
        return PlanResult(
            Code.OK, trajectory=smooth(request.start_q, end), planning_time_s=0.001, world_version=1
        )

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """Accept every candidate; see ``Planner.check_candidates``.

        Args:
            request: Recorded in ``candidates``.
            should_stop: If it returns True, the answer is CANCELED.
        """
        self._cell.call("planner.check_candidates")
        self.candidates.append(request)
        if should_stop():
            return CandidatesResult(Code.CANCELED, "", ())
        verdicts = []
        for candidate in request.candidates:
            q = np.array([gantry_q(pose) for pose in candidate.world_T_ee])
            moves = np.abs(np.diff(np.vstack([request.start_q, q]), axis=0)).sum()
            verdicts.append(CandidateVerdict(Code.OK, q, float(moves)))
        return CandidatesResult(Code.OK, "", tuple(verdicts), 0.001, 1)

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """Return ``verdict``; see ``Planner.validate``.

        Args:
            arm: Not used.
            trajectory: Not used.
            scene: Recorded in ``validated``.
            should_stop: Not used.
        """
        self._cell.call("planner.validate")
        self.validated.append(scene)
        return self.verdict

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """Return the verdict of ``judge``; see ``Planner.validate_rest``.

        Args:
            arm: Not used.
            trajectory: Not used.
            scene: Recorded in ``rests``.
            rest: Recorded in ``rests``, and the argument of ``judge``.
            should_stop: Not used.
        """
        self._cell.call("planner.validate_rest")
        self.rests.append((rest, scene))
        return self.judge(rest)


class FakeArm:
    """Follows exactly, a tick at a time; ``miss`` (6,), m and rad, is added to its last configuration.

    A motion that a force may end is ended by one after ``contact_s`` of it.
    """

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self.miss = np.zeros(6)
        self.on_tick: Callable[[float], None] = lambda _t: None
        self.stops = 0
        self.followed = 0
        self.contact_s = math.inf

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """Follow a trajectory in the cell's time; see ``Arm.follow``.

        Args:
            trajectory: The motion.
            should_stop: If it returns True, the motion ends with CANCELED.
        """
        cell = self._cell
        cell.call("arm.follow")
        self.followed += 1
        for t in np.arange(0.0, trajectory.duration_s + TICK_S, TICK_S):
            if should_stop():
                return Outcome(Code.CANCELED, "stopped")
            if trajectory.stop_force is not None and t >= self.contact_s:
                return Outcome(Code.CONTACT, "touched")
            cell.now_s += TICK_S
            cell.q = trajectory.sample(float(t))[0]
            cell.carry()
            self.on_tick(float(t))
        cell.q = trajectory.q[-1] + self.miss
        cell.carry()
        return OK

    def stop(self) -> Outcome:
        """Count the stop; see ``Arm.stop``."""
        self._cell.call("arm.stop")
        self.stops += 1
        return OK


class FakeGripper:
    """Closes on an object at the TCP, releases it when it opens."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self.outcome = OK
        self.forces: list[float] = []

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """Move the fingers at once; see ``Gripper.move``.

        Args:
            width_m: Opening between the pads, m.
            force_n: Recorded in ``forces``.
            should_stop: If it returns True, the answer is CANCELED.
        """
        cell = self._cell
        cell.call("gripper.move")
        self.forces.append(force_n)
        if should_stop():
            return Outcome(Code.CANCELED, "stopped")
        cell.now_s += 0.2
        hand = gantry_pose(cell.q)
        tcp = hand.apply((0.0, 0.0, 0.1))
        for name, object_width in cell.width_of.items():
            near = float(np.linalg.norm(cell.poses[name].translation_m - tcp)) < GRASP_GAP_M
            if near and width_m < object_width < cell.width_m + 1e-6:
                cell.in_hand, cell.hand_T_object = name, hand.inverse() @ cell.poses[name]
        held = cell.width_of.get(cell.in_hand, 0.0)
        if width_m > held:
            cell.drop(held / 2.0)
        cell.width_m = max(width_m, held) if cell.in_hand else width_m
        return self.outcome


@dataclass
class Fakes:
    """All ports of one cell and a context that uses them."""

    cell: Cell
    planner: FakePlanner
    arm: FakeArm
    gripper: FakeGripper
    context: Context


def fakes(cell: Cell, seed: int = 0) -> Fakes:
    """Build the fakes of a cell and a fresh context.

    Args:
        cell: The cell.
        seed: Seed of the context.
    """
    robot = gantry()
    planner, arm, gripper = FakePlanner(cell), FakeArm(cell), FakeGripper(cell)
    context = Context(
        robot=robot,
        arm_spec=robot.arms["arm"],
        planner=planner,
        arm=arm,
        gripper=gripper,
        world=FakeWorld(cell),
        clock=FakeClock(cell),
        token=Token(),
        rng=np.random.default_rng(seed),
        seed=seed,
        held={},
    )
    return Fakes(cell, planner, arm, gripper, context)


def _end(goal: PoseGoals | StraightGoal | PathGoal) -> Pose:
    if isinstance(goal, PoseGoals):
        return goal.world_T_ee[0]
    return goal.world_T_ee[-1] if isinstance(goal, PathGoal) else goal.world_T_ee


def smooth(start: Array, end: Array, duration_s: float = 1.0, n: int = 21) -> Trajectory:
    """Return a fifth-order motion of the gantry from rest to rest.

    Args:
        start: First configuration, (dof,), rad or m.
        end: Last configuration, (dof,), rad or m.
        duration_s: Duration, s.
        n: Number of samples.
    """
    u = np.linspace(0.0, 1.0, n)[:, None]
    d, t = (end - start)[None, :], duration_s
    return Trajectory(
        gantry().arms["arm"].joint_names,
        np.asarray(np.linspace(0.0, duration_s, n), dtype=np.float64),
        start + (10 * u**3 - 15 * u**4 + 6 * u**5) * d,
        (30 * u**2 - 60 * u**3 + 30 * u**4) * d / t,
        (60 * u - 180 * u**2 + 120 * u**3) * d / t**2,
    )


def blocked(code: Code, a: str, b: str) -> PlanResult:
    """Return a planner's refusal that names two bodies.

    Args:
        code: Cause of the refusal.
        a: Name of one body.
        b: Name of the other body.
    """
    return PlanResult(code, f"{a} would touch {b}", blocking=BodyPair(a, b))
