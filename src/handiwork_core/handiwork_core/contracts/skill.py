"""The skill contract. A skill decides and judges; only the executor moves, waits and checks the token."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

import numpy as np

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.supervision import SUPERVISED, SupervisionSettings
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot

from .arrival import WaypointTolerances, arrived_at, ee_pose
from .commands import Command
from .planning import Attachment, ShouldStop
from .ports import Arm, Clock, Compliance, FrameSource, Gripper, Navigator, Planner, WorldSource
from .reactive import Cameras, Reactive, WatchedConditions

P = TypeVar("P")


class Stopped(HandiworkError):
    """The token was set. ``Token.check`` raises it, only the executor catches it.

    Args:
        reason: The reason with which the token was set.
        detail: The reason in words.
        report: What the run has found until then; it comes behind the message of its outcome.
    """

    def __init__(self, reason: Code = Code.CANCELED, detail: str = "", report: str = "") -> None:
        super().__init__(Outcome(reason, detail))
        self.report = report


class StepFailed(HandiworkError):
    """An expected failure. Skills and the executor's steps raise it, only the executor catches it."""


class Token:
    """A one-way switch with a reason. The node sets it, the worker polls it; safe between threads.

    ``detail`` explains the reason in words where the code alone says too little.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._children: list[Token] = []
        self._is_revoked = False
        self.reason = Code.OK
        self.detail = ""

    def set(self, reason: Code, detail: str = "") -> None:
        """Set the token and its children; the first reason wins.

        Args:
            reason: The code.
            detail: The reason in words.
        """
        with self._lock:
            if not self._event.is_set():
                self.reason, self.detail = reason, detail
                self._event.set()
            children = list(self._children)
        for child in children:
            child.set(self.reason, self.detail)

    def revoke(self) -> None:
        """Revoke the ports of a skill body that did not react: each further call of them raises ``Stopped``."""
        self._revoke(Code.UNRESPONSIVE, "")

    def _revoke(self, reason: Code, detail: str) -> None:
        """Revoke this token and its children. A child that is revoked first must have the reason of its parent."""
        with self._lock:
            if not self._event.is_set():
                self.reason, self.detail = reason, detail
                self._event.set()
            self._is_revoked = True
            children = list(self._children)
        for child in children:
            child._revoke(self.reason, self.detail)

    @property
    def is_revoked(self) -> bool:
        """True once ``revoke`` was called."""
        return self._is_revoked

    def child(self) -> Token:
        """Return a token that is set and revoked with this one, and may be set alone."""
        made = Token()
        with self._lock:
            self._children.append(made)
            is_set, is_revoked = self._event.is_set(), self._is_revoked
        if is_set:
            made.set(self.reason, self.detail)
        if is_revoked:
            made._revoke(self.reason, self.detail)
        return made

    def is_set(self) -> bool:
        """Return True once the token is set."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise Stopped once set."""
        if self._event.is_set():
            raise Stopped(self.reason, self.detail)

    def wait(self, timeout_s: float) -> bool:
        """Wait until the token is set.

        Args:
            timeout_s: The longest wait, s of steady time.

        Returns:
            True when the token is set.
        """
        return self._event.wait(timeout_s)


@dataclass(frozen=True, slots=True)
class Progress:
    """One feedback message.

    Attributes:
        stage: Name of the present part.
        index: Its index in the command list.
        count: Length of the command list.
        planning_time_s: Time spent in the planner so far, s.
        fraction: Completed part of the run, 0 to 1; it never falls.
    """

    stage: str
    index: int
    count: int
    planning_time_s: float
    fraction: float = 0.0


@dataclass
class PeakSpeeds:
    """Largest speeds since the walk of a command list began.

    Attributes:
        joints: Speed by joint name, rad/s or m/s.
        objects: Speed by object name, m/s.
        touches: The pairs of bodies that were in contact.
    """

    joints: dict[str, float] = field(default_factory=dict)
    objects: dict[str, float] = field(default_factory=dict)
    touches: set[tuple[str, str]] = field(default_factory=set)
    _seen: tuple[float, float] = (float("nan"), float("nan"))

    def see(self, world: World) -> None:
        """Take a snapshot into account; a call with a known snapshot costs little.

        Args:
            world: The snapshot.
        """
        stamps = (world.stamp_s, world.joints.stamp_s)
        if stamps == self._seen:
            return
        self._seen = stamps
        for name, speed in world.joints.velocity.items():
            self.joints[name] = max(self.joints.get(name, 0.0), abs(speed))
        for name, state in world.states.items():
            speed = math.sqrt(float(state.world_v_object @ state.world_v_object))
            self.objects[name] = max(self.objects.get(name, 0.0), speed)
        self.touches.update((contact.a, contact.b) for contact in world.contacts or ())


class RightOfWay(Protocol):
    """The coordination of the arms of one robot: whether to try again after ARM_IN_THE_WAY, and which arm yields.

    ``why``: the reason in words why the last wait ended without success.
    """

    why: str

    def may_try_again(self, refusals: int, should_stop: ShouldStop) -> bool:
        """Decide whether to try again after a refused trajectory; waits for a change from the second refusal on.

        Args:
            refusals: Refusals in a row.
            should_stop: Turns true when the wait is to end.

        Returns:
            True if another attempt makes sense; else ``why`` says why not.
        """
        ...

    def should_yield(self) -> bool:
        """Return True when this arm and another wait for each other, and this one is to go home."""
        ...

    def mark_irreversible(self, is_committed: bool) -> None:
        """Record whether this arm has gripped or released something, so that it cannot go home and begin again.

        Args:
            is_committed: True once it has.
        """
        ...

    def yield_until_clear(self, should_stop: ShouldStop) -> None:
        """Wait, after this arm has yielded, until the other arm is on its way or no longer waits.

        Args:
            should_stop: Turns true when the wait is to end.
        """
        ...


@dataclass
class Context:
    """Everything that a running skill may use.

    Attributes:
        robot: The robot.
        arm_spec: The arm of this run.
        planner: The planner.
        arm: The arm's controller.
        gripper: The gripper's controller.
        world: Source of snapshots.
        clock: Time of the robot's world.
        token: Set when the run is to stop.
        rng: The only source of random choices.
        seed: Seed of ``rng``.
        held: The objects that the arm holds now, by name; shared by the runs of one arm.
        held_by_others: Returns the objects that the other arms of the robot hold now, by name.
        report: Receives feedback.
        refused: First configurations (dof,) that no free path led to in this run, so that another candidate is chosen.
        planning_time_s: Time spent in the planner in this run, s of steady time.
        released: The object that was released last in this run.
        release_height_m: Height of its origin in the world right before the release, m.
        right_of_way: Coordination of a robot with several arms.
        base: Controller of a mobile base, which follows trajectories of the base's joints; None: there is none.
        navigator: Navigation server of a mobile base; None: its controller drives it.
        fastest: Largest speeds of joints and objects so far.
        supervision: Settings of the supervision of motions under way.
        frames: Transforms of tf; None without any.
        frames_used: world_T_frame of each frame that the goal names, at the time the motion was planned.
        begun: Snapshot at the beginning of the run, to which relative goals refer at each attempt; None before it.
        contact: CONTACT with its force in words, once a move ended by contact in this walk of the commands; else None.
        compliance: Admittance controller of the arm; None: the arm cannot yield to a force.
        reactive: Reactive topic of the arm's controller; None: there is none.
        cameras: Images of cameras; None: there are none.
        conditions: What the monitor watches; None: there is no monitor.
        finding: What a function has found, for the skill to return as its success; None before it.
        partners: Contexts of the further arms that the run has, by name; they have the token of this one.
    """

    robot: Robot
    arm_spec: ArmSpec
    planner: Planner
    arm: Arm
    gripper: Gripper
    world: WorldSource
    clock: Clock
    token: Token
    rng: np.random.Generator
    seed: int
    held: MutableMapping[str, Attachment]
    report: Callable[[Progress], None] = lambda _progress: None
    refused: list[Array] = field(default_factory=list)
    planning_time_s: float = 0.0
    released: str = ""
    release_height_m: float = float("nan")
    right_of_way: RightOfWay | None = None
    base: Arm | None = None
    held_by_others: Callable[[], Mapping[str, Attachment]] = dict
    fastest: PeakSpeeds = field(default_factory=PeakSpeeds)
    supervision: SupervisionSettings = SUPERVISED
    frames: FrameSource | None = None
    frames_used: dict[str, Pose] = field(default_factory=dict)
    begun: World | None = None
    contact: Outcome | None = None
    compliance: Compliance | None = None
    reactive: Reactive | None = None
    cameras: Cameras | None = None
    conditions: WatchedConditions | None = None
    finding: Outcome | None = None
    partners: Mapping[str, Context] = field(default_factory=dict)
    navigator: Navigator | None = None


class Skill(ABC, Generic[P]):
    """One behaviour. Instances hold no state between runs: everything that a run needs is in params and context.

    Add one in a package of your own: ``handiwork new-skill NAME`` writes it, with an entry point in group
    ``handiwork.skills``. A built-in one is a file in ``skill_server/skills`` and an entry in its ``__init__.py``.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    """Further names in lower case with single underscores."""
    object_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that the SimBox format's list ``objects`` fills, in order."""
    moves_arms_at_once: ClassVar[bool] = False
    """True when it moves several arms at the same time, and not one after the other."""
    params_type: type[P]

    @abstractmethod
    def is_feasible(self, params: P, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """Check a goal by its arguments alone, at once.

        Args:
            params: The goal's parameters.
            robot: The robot.
            arm: The arm of the goal.
            world: The newest snapshot.

        Returns:
            OK, or an outcome that names the field and the valid choices.
        """

    def further_arms(self, params: P, robot: Robot, arm: ArmSpec) -> tuple[str, ...]:
        """Return the arms that a goal needs besides its own; the goal has them from its beginning to its end.

        Args:
            params: The goal's parameters, which ``is_feasible`` has found good.
            robot: The robot.
            arm: The arm of the goal.
        """
        return ()

    def goes_on(self, params: P) -> bool:
        """Return True when the goal, sent again after a failure, goes on from whatever its arms hold by then.

        A task repeats such a skill where it failed; for others it looks at the hand, and may go back to an earlier one.

        Args:
            params: The goal's parameters.
        """
        return False

    @abstractmethod
    def commands(self, params: P, context: Context) -> Sequence[Command]:
        """Choose a candidate and return the command list. May ask the planner; must not move anything.

        A skill that extends ``handiwork.StagedSkill`` declares stages instead, from which the commands follow.

        Args:
            params: The goal's parameters.
            context: The ports and state of the run.

        Returns:
            The commands, in order.

        Raises:
            StepFailed: Nothing can be done; the outcome names the constraint that removed the last candidate.
        """

    def is_subtask_done(self, params: P, command: Command, world: World, context: Context) -> Outcome:
        """Judge whether the arm is at the waypoint of a command. Moves nothing.

        Asked before the motion of a command, which is left out where the arm is there already, and after it, again and
        again for half a second. The default compares the pose of the hand with the command's, within the parameters
        ``t_eps`` and ``o_eps``.

        Args:
            params: The goal's parameters.
            command: A command with a pose.
            world: The newest snapshot.
            context: The ports and state of the run.

        Returns:
            OK; else NOT_REACHED with the errors, with which the goal fails.
        """
        return waypoint_reached(cast("WaypointTolerances", params), command, world, context)

    def is_done(self, params: P, rest: Sequence[Command], context: Context) -> bool:
        """Return True when the commands that are left need not be executed. Moves nothing.

        Asked after each command. ``is_success`` judges afterwards as always. The default is that none is left.

        Args:
            params: The goal's parameters.
            rest: The commands that are left, in order.
            context: The ports and state of the run; ``context.world`` has the newest snapshot.
        """
        return not rest

    @abstractmethod
    def is_success(self, params: P, before: World, after: World, context: Context) -> Outcome:
        """Judge the settled world after the last command against the world before the first. Moves nothing.

        Args:
            params: The goal's parameters.
            before: Snapshot before the first command.
            after: Snapshot after the last command.
            context: The ports and state of the run.

        Returns:
            OK, or the reason for the failure.
        """

    def recovery_skills(self, params: P, lost: str) -> Sequence[tuple[Skill[Any], Any]] | None:
        """Return skills to run first, so that this one can be tried again after it failed to hold an object.

        Args:
            params: The goal's parameters.
            lost: The object that was lost; may be empty.

        Returns:
            Skills with their parameters, in order; None, the default: another attempt makes no sense.
        """
        return None


def waypoint_reached(params: WaypointTolerances, command: Command, world: World, context: Context) -> Outcome:
    """Compare the pose of the hand with that of a command.

    Args:
        params: Parameters with ``t_eps`` [m] and ``o_eps`` [rad].
        command: A command with a pose.
        world: Snapshot with the measured joints.
        context: The ports and state of the run.

    Returns:
        OK or NOT_REACHED, with both errors.
    """
    assert command.world_T_ee is not None
    here = ee_pose(world, context.robot, context.arm_spec, context.world.world_T_base())
    return arrived_at(command.world_T_ee, here, params.t_eps, params.o_eps)
