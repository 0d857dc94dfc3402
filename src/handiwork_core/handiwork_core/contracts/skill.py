"""The skill contract. A skill decides and judges; the executor alone moves, waits and looks at the token."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.supervision import SUPERVISED, SupervisionSettings
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot

from .commands import Command
from .planning import Attachment, ShouldStop
from .ports import Arm, Clock, Gripper, Planner, WorldSource

P = TypeVar("P")


class Stopped(Exception):
    """The token was set. Raised by Token.check, caught by the executor only."""


class StepFailed(Exception):
    """An expected failure. Raised by skills and the executor's steps, caught by the executor only."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class Token:
    """One-way switch with a reason. The node sets it, the worker looks at it; safe between threads.

    ``detail`` explains the reason in words where it alone says too little.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._children: list[Token] = []
        self._is_revoked = False
        self.reason = Code.OK
        self.detail = ""

    def set(self, reason: Code, detail: str = "") -> None:
        """The first reason wins."""
        with self._lock:
            if not self._event.is_set():
                self.reason, self.detail = reason, detail
                self._event.set()
            children = list(self._children)
        for child in children:
            child.set(self.reason, self.detail)

    def revoke(self) -> None:
        """Take the ports away from a body that did not react: each further call of them raises ``Stopped``."""
        self._revoke(Code.UNRESPONSIVE, "")

    def _revoke(self, reason: Code, detail: str) -> None:
        """A child that is revoked first must not get another reason than its parent has."""
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
        """A token that is set and revoked with this one, and may be set alone."""
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
        """True once set."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise Stopped once set."""
        if self._event.is_set():
            raise Stopped

    def wait(self, timeout_s: float) -> bool:
        """Wait in steady time; True when set."""
        return self._event.wait(timeout_s)


@dataclass(frozen=True, slots=True)
class Progress:
    """One feedback; ``fraction`` of the run that lies behind, 0 to 1, never falls."""

    stage: str
    index: int
    count: int
    planning_time_s: float
    fraction: float = 0.0


@dataclass
class PeakSpeeds:
    """Largest speeds since the walk of a command list began, by name: of joints [rad/s, m/s] and of objects [m/s].

    ``touches``: the pairs of bodies that were in contact.
    """

    joints: dict[str, float] = field(default_factory=dict)
    objects: dict[str, float] = field(default_factory=dict)
    touches: set[tuple[str, str]] = field(default_factory=set)
    _seen: tuple[float, float] = (float("nan"), float("nan"))

    def see(self, world: World) -> None:
        """Take a snapshot into account; cheap where it is no new one."""
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
    """Between the arms of one robot: whether to try again after ARM_IN_THE_WAY, and who makes room.

    ``why``: why the last wait was in vain, in words.
    """

    why: str

    def may_try_again(self, refusals: int, should_stop: ShouldStop) -> bool:
        """After a trajectory was refused so many times in a row: waits for a change from the second time on."""
        ...

    def should_yield(self) -> bool:
        """True when this arm and another wait for each other, and this one is to go home."""
        ...

    def mark_irreversible(self, is_committed: bool) -> None:
        """Whether this arm has gripped or released something, so that it cannot go home and begin anew."""
        ...

    def yield_until_clear(self, should_stop: ShouldStop) -> None:
        """After making room: return once the other arm is on its way, or waits no more."""
        ...


@dataclass
class Context:
    """Everything a running skill may touch. ``held`` is shared by the runs of one arm: what it holds now.

    ``refused``: first configurations (dof,) that no free path led to in this run, so that another candidate
    is chosen; ``planning_time_s``: steady time spent in the planner in this run; ``released``: the object
    that was last let go in it, and ``release_height_m`` of its origin in the world right before; ``right_of_way``: of a
    robot with several arms; ``base``: what drives a mobile one, with trajectories of its joints; ``fastest``: how fast
    joints and objects were on the way; ``supervision``: of motions under way.
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
    fastest: PeakSpeeds = field(default_factory=PeakSpeeds)
    supervision: SupervisionSettings = SUPERVISED


class Skill(ABC, Generic[P]):
    """One behaviour. Instances hold no state between runs: what a run needs is in params and context.

    Add one in a package of your own: ``handiwork new-skill NAME`` writes it, with an entry point in group
    ``handiwork.skills``. A built-in one is a file in ``skill_server/skills`` and an entry in its ``__init__.py``.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    """Further names in lower case with single underscores."""
    object_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that the SimBox format's list ``objects`` fills, in order."""
    params_type: type[P]

    @abstractmethod
    def is_feasible(self, params: P, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """Verdict on a goal by its arguments alone, at once. Names the field and the valid choices."""

    @abstractmethod
    def commands(self, params: P, context: Context) -> Sequence[Command]:
        """Choose a candidate and return the list. May ask the planner; must not move anything.

        Raises:
            StepFailed: nothing can be done, with the constraint that removed the last candidate.
        """

    @abstractmethod
    def is_success(self, params: P, before: World, after: World, context: Context) -> Outcome:
        """Judge the settled world after the last command against the world before the first. Moves nothing."""

    def recovery_skills(self, params: P, lost: str) -> Sequence[tuple[Skill[Any], Any]] | None:
        """Skills with parameters to run first, so that this one can be tried again after it failed to hold an object.

        ``lost`` is that object, or empty. None, the default: trying again makes no sense.
        """
        return None
