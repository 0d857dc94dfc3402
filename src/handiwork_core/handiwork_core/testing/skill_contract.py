"""Contract tests of skills: subclass ``SkillContract`` in a test file, name it ``Test...``, and pytest runs them all.

The subclass defines the skill, good and bad parameters and a scripted world.
``run`` is the executor's ``run_skill``.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pytest

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.planning import SceneQuery, ShouldStop, Verdict
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.scene.bounds import support

from .fakes import Fakes
from .gantry import gantry_pose

P = TypeVar("P")
REASONS = (Code.CANCELED, Code.PREEMPTED, Code.SHUTDOWN, Code.TIME_RESET, Code.TIMED_OUT)
MOTION_CALLS = ("arm.follow", "gripper.move")
DEPTH_M = 1e-3
"""The hand's origin may be in an obstacle by at most this much, m."""
DIRECTIONS = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


class Run(Protocol):
    """The part of the executor's result that the contract uses."""

    @property
    def outcome(self) -> Outcome:
        """The outcome of the run."""
        ...


class SkillContract(ABC, Generic[P]):
    """The rules for every skill."""

    run: Callable[[Skill[Any], Any, Context], Run]

    @abstractmethod
    def skill(self) -> Skill[P]:
        """Return a new instance."""

    @abstractmethod
    def params(self) -> P:
        """Return a goal that succeeds in ``fakes``."""

    @abstractmethod
    def unknown(self) -> P:
        """Return the same goal with an object that does not exist."""

    @abstractmethod
    def fakes(self, seed: int = 0) -> Fakes:
        """Return a fresh world in which ``params`` succeeds.

        Args:
            seed: Seed of its context.
        """

    def go(self, fakes: Fakes) -> Outcome:
        """Run the good goal.

        Args:
            fakes: The world.

        Returns:
            The outcome of the run.
        """
        return type(self).run(self.skill(), self.params(), fakes.context).outcome

    def commands(self, seed: int) -> Sequence[Command]:
        """Return the command list in a fresh world.

        Args:
            seed: Seed of the world's context.
        """
        return self.skill().commands(self.params(), self.fakes(seed).context)

    def test_succeeds(self) -> None:
        """The good goal succeeds."""
        outcome = self.go(self.fakes())
        assert outcome.ok, outcome

    def test_unknown_object_is_named_and_nothing_moves(self) -> None:
        """The refusal names the field."""
        fakes = self.fakes()
        outcome = type(self).run(self.skill(), self.unknown(), fakes.context).outcome
        assert outcome.code is Code.UNKNOWN_OBJECT
        assert outcome.field_name
        assert not set(fakes.cell.calls) & set(MOTION_CALLS)

    def test_choosing_moves_nothing(self) -> None:
        """``commands`` moves nothing."""
        fakes = self.fakes()
        q = fakes.cell.q.copy()
        self.skill().commands(self.params(), fakes.context)
        assert not set(fakes.cell.calls) & set(MOTION_CALLS)
        assert np.array_equal(fakes.cell.q, q)

    def test_equal_seeds_give_equal_commands(self) -> None:
        """The seed determines all random choices."""
        first, second = self.commands(3), self.commands(3)
        assert [(c.stage, str(c.function)) for c in first] == [(c.stage, str(c.function)) for c in second]
        for a, b in zip(first, second, strict=True):
            if a.world_T_ee is not None and b.world_T_ee is not None:
                assert np.array_equal(a.world_T_ee.matrix(), b.world_T_ee.matrix())

    def test_ignored_objects_are_no_obstacle_of_any_motion(self) -> None:
        """``ignore_substring`` holds from the first motion on, so that an arm that touches such an object can leave."""
        params: Any = self.params()
        if not hasattr(params, "ignore_substring"):
            pytest.skip("the parameters do not extend SkillParams")
        fakes = self.fakes()
        size = np.full(3, 0.01)
        fakes.cell.objects["bystander"] = WorldObject(
            "bystander", (Shape(ShapeKind.BOX, size, Pose.identity()),)
        )
        fakes.cell.poses["bystander"] = Pose.of((9.0, 9.0, 0.0))
        ignoring = dataclasses.replace(params, ignore_substring=("bystand",))
        outcome = type(self).run(self.skill(), ignoring, fakes.context).outcome
        assert outcome.ok, outcome
        for scene in (*(plan.scene for plan in fakes.planner.plans), *fakes.planner.validated):
            assert "bystander" in scene.ignored, scene

    def test_no_motion_touches_what_its_scene_does_not_allow(self) -> None:
        """The hand passes through no object that is an obstacle in the motion's scene, as a real planner demands.

        A motion that touches an object on purpose, such as a push, names it in ``Command.touching``.
        """
        fakes = self.fakes()
        hits = list[str]()
        validate = fakes.planner.validate

        def judged(
            arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
        ) -> Verdict:
            points = np.array([gantry_pose(q).translation_m for q in trajectory.q])
            hits.extend(_entered(points, fakes.context.world.snapshot(), scene))
            return validate(arm, trajectory, scene, should_stop=should_stop)

        fakes.planner.validate = judged  # type: ignore[method-assign]
        assert self.go(fakes).ok
        assert not hits, f"the hand goes into {hits[0]!r}; name it in Command.touching of that motion"

    @pytest.mark.parametrize("reason", REASONS)
    def test_stop_at_every_port_call(self, reason: Code) -> None:
        """The run ends with the right code and the arm at rest; no motion follows.

        The reasons take turns, so that each call is tried once.

        Args:
            reason: Reason of the stop.
        """
        count = self._count()
        for i in range(REASONS.index(reason) % count, count, len(REASONS)):
            fakes = self.fakes()
            fakes.cell.before = _at(fakes, i, lambda f=fakes: f.context.token.set(reason))  # type: ignore[misc]
            outcome = self.go(fakes)
            where = f"token set at call {i} ({fakes.cell.calls[i]})"
            assert outcome.code is reason, f"{where}: {outcome}"
            assert fakes.arm.stops == 1, where
            assert not set(fakes.cell.calls[i + 1 :]) & set(MOTION_CALLS), where

    def test_bug_in_a_port_is_internal_and_stops(self) -> None:
        """A bug ends the goal, not the server."""
        for i in range(self._count()):
            fakes = self.fakes()
            fakes.cell.before = _at(fakes, i, _bug)
            outcome = self.go(fakes)
            assert outcome.code is Code.INTERNAL, f"bug at call {i}: {outcome}"
            assert "on purpose" in outcome.message
            assert fakes.arm.stops == 1

    def _count(self) -> int:
        fakes = self.fakes()
        assert self.go(fakes).ok
        return len(fakes.cell.calls)


def _entered(points: Array, world: World, scene: SceneQuery) -> list[str]:
    """Return the obstacles of a scene that contain one of the points (n, 3), m."""
    free = scene.ignored | {item.object for item in scene.attached}
    free |= {body for pair in scene.allowed for body in pair}
    found = []
    for name, item in world.objects.items():
        if name in free or name not in world.states:
            continue
        pose = world.states[name].world_T_object
        if any(
            _contains(shape, (pose @ shape.object_T_shape).inverse().apply(points)) for shape in item.shapes
        ):
            found.append(name)
    return found


def _contains(shape: Shape, points: Array) -> bool:
    """Check whether a convex shape contains one of some points (n, 3) of its frame, m, deeper than ``DEPTH_M``."""
    if shape.kind is ShapeKind.MESH:
        return False
    reach = np.array([support(shape, axis) for axis in DIRECTIONS])
    return bool((points @ DIRECTIONS.T < reach - DEPTH_M).all(axis=1).any())


def _at(fakes: Fakes, index: int, action: Callable[[], None]) -> Callable[[str], None]:
    def before(_call: str) -> None:
        if len(fakes.cell.calls) == index + 1:
            action()

    return before


def _bug() -> None:
    raise RuntimeError("on purpose")
