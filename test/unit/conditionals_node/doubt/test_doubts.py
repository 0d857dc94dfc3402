"""The probability that noise of measured poses turns a verdict, and the verdict that is left open."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conditionals_node.doubt.doubts import Doubts
from conditionals_node.doubt.noise import SAMPLES, drawn_one_by_one, drawn_worlds, draws_of
from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.expressions.expression import Expression, Leaf
from handiwork_core.contracts.predicate import Finding, Predicate, Truth
from handiwork_core.model.articulation import Articulation
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

DEFINITIONS = Definitions(Builder(load_robot(ROBOTS / "fr3")))
STILL = frozen(np.zeros(3))
WIDE = "object_at(object={}, position=[0, 0, 0], tolerance=0.5)"
"""So wide that for small noise near x = 0.5 it is a half-space: TRUE up to there."""


def box(name: str, edge: float = 0.04) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, frozen((edge, edge, edge)), Pose.identity()),))


def noise(metres: float, radians: float = 0.0) -> np.ndarray:
    return frozen(np.diag([metres**2] * 3 + [radians**2] * 3))


def world(**places: tuple[float, float]) -> World:
    """Return objects along x: name=(x, standard deviation of each coordinate), m."""
    states = {
        name: ObjectState(Pose.of((x, 0.0, 0.0)), STILL, STILL, 1.0, noise(sigma) if sigma else None)
        for name, (x, sigma) in places.items()
    }
    return World(1.0, 1, {name: box(name) for name in states}, states, (), 1.0)


def asked(text: str) -> Expression:
    return DEFINITIONS.make("", "", text, 0.0).expression


def judged(text: str | Expression, of: World, max_flip: float = 1.0) -> Finding:
    expression = asked(text) if isinstance(text, str) else text
    return Doubts(of).judged(expression, lambda leaf: leaf.predicate.evaluate(of), max_flip)


def test_draws_have_exact_moments_and_depend_on_the_name_only() -> None:
    draws = draws_of("cube")
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(draws.T @ draws / SAMPLES, np.eye(6), atol=1e-12)
    assert abs(draws.T @ draws_of("bin")).max() / SAMPLES < 0.35
    draws_of.cache_clear()
    np.testing.assert_array_equal(draws, draws_of("cube"))


def test_the_noise_of_a_rotation_is_about_the_axes_of_world() -> None:
    lying = Rotation.from_rpy(math.pi / 2, 0.0, 0.0)
    about_z = frozen(np.diag([0.0] * 5 + [0.1**2]))
    state = ObjectState(Pose.of((1.0, 2.0, 3.0), lying), STILL, STILL, 1.0, about_z)
    drawn = drawn_worlds(World(1.0, 1, {"cube": box("cube")}, {"cube": state})).poses["cube"]
    np.testing.assert_allclose(drawn.position, np.tile([1.0, 2.0, 3.0], (SAMPLES, 1)))
    for wxyz, draw in zip(drawn.wxyz, draws_of("cube"), strict=True):
        turn = Rotation.from_wxyz(wxyz) @ lying.inverse()
        assert turn.angle_to(Rotation.from_axis_angle((0.0, 0.0, 1.0), 0.1 * draw[5])) < 1e-7


def test_exact_poses_have_no_doubt_and_draw_nothing() -> None:
    exact = world(cube=(0.5, 0.0))
    doubts = Doubts(exact)
    found = doubts.judged(asked(WIDE.format("cube")), lambda leaf: leaf.predicate.evaluate(exact), 0.01)
    assert (found.truth, found.flip_probability) == (Truth.TRUE, 0.0)
    assert doubts._worlds is None


@given(st.floats(1e-4, 0.02))
def test_at_margin_zero_noise_turns_every_other_verdict(sigma: float) -> None:
    found = judged(WIDE.format("cube"), world(cube=(0.5, sigma)))
    assert found.truth is Truth.TRUE
    assert found.flip_probability == pytest.approx(0.5, abs=1.0 / SAMPLES)


@given(st.floats(0.0, 0.04), st.floats(1e-4, 0.02), st.floats(1.0, 10.0))
def test_more_noise_never_makes_a_verdict_surer(margin: float, sigma: float, more: float) -> None:
    text = "object_at(object=cube, position=[0, 0, 0], tolerance=0.1)"
    little, much = (judged(text, world(cube=(0.1 - margin, s))) for s in (sigma, sigma * more))
    assert little.flip_probability <= much.flip_probability


@given(st.floats(-3.0, 3.0))
def test_the_probability_is_that_of_the_normal_distribution(deviations: float) -> None:
    found = judged(WIDE.format("cube"), world(cube=(0.5 - 0.005 * deviations, 0.005)))
    assert found.flip_probability == pytest.approx(NormalDist().cdf(-abs(deviations)), abs=0.06)


def test_a_doubtful_verdict_is_open_and_says_why() -> None:
    found = judged(WIDE.format("cube"), world(cube=(0.496, 0.005)), 0.05)
    assert (found.truth, found.is_in_doubt, math.isnan(found.margin)) == (Truth.UNKNOWN, True, True)
    assert found.flip_probability == pytest.approx(NormalDist().cdf(-0.8), abs=0.06)
    assert (
        "at most 0.05 is allowed: cube is measured to 5 mm and 0 deg, the margin is 0.004 m" in found.reason
    )
    assert found.evidence


def test_an_expression_is_as_sure_as_it_is_and_not_as_its_parts_are() -> None:
    here, doubtful = WIDE.format("cube"), world(cube=(0.5, 0.005), ball=(2.0, 0.005))
    assert judged(f"{here} or not {here}", doubtful).flip_probability == 0.0
    assert judged(f"{here} and {WIDE.format('ball')}", doubtful).flip_probability == 0.0
    both = judged(f"not {here}", doubtful)
    assert (both.truth, both.flip_probability) == (Truth.FALSE, pytest.approx(0.5, abs=1.0 / SAMPLES))


def test_noises_of_two_objects_add_up() -> None:
    text = "object_above(object=cube, reference_object=ball, extent=box)"
    below = {}
    for sigma in (0.0, 0.005):
        of = world(cube=(0.0, 0.005), ball=(0.0, sigma))
        near = replace(of.states["cube"], world_T_object=Pose.of((0.0, 0.0, 0.048)))
        found = judged(text, replace(of, states={**of.states, "cube": near}))
        assert found.truth is Truth.TRUE
        below[sigma] = found.flip_probability
    assert below[0.0] < below[0.005]


def test_an_unknown_part_stays_unknown() -> None:
    found = judged(f"{WIDE.format('ghost')} and {WIDE.format('cube')}", world(cube=(0.0, 0.005)), 0.01)
    assert (found.truth, found.is_in_doubt) == (Truth.UNKNOWN, False)


@dataclass(frozen=True, slots=True)
class Near(Predicate):
    """A plug-in that decides one world at a time."""

    name: ClassVar[str] = "near"

    def subjects(self) -> tuple[str, ...]:
        return ("cube",)

    def evaluate(self, world: World) -> Finding:
        margin = 0.5 - float(world.states["cube"].world_T_object.translation_m[0])
        return Finding(Truth.of(margin > 0.0), margin, "it is near")


def test_a_plug_in_is_asked_world_by_world_and_agrees() -> None:
    of = world(cube=(0.497, 0.005))
    found = judged(Leaf("near()", "near", "", Near()), of)
    assert found.flip_probability == judged(WIDE.format("cube"), of).flip_probability > 0.1


def test_the_joint_of_a_part_is_as_noisy_as_its_poses() -> None:
    zero, axis = frozen(np.zeros(3)), frozen((1.0, 0.0, 0.0))
    slide = Articulation("cabinet", JointKind.PRISMATIC, Pose.identity(), axis, zero, 0.0, 0.4)
    of = world(cabinet=(0.0, 0.0), drawer=(0.3, 0.005))
    of = replace(of, objects={**of.objects, "drawer": replace(of.objects["drawer"], articulation=slide)})
    drawn = drawn_worlds(of, []).joints["drawer"]
    assert drawn.std() == pytest.approx(0.005, rel=0.01)
    np.testing.assert_allclose(drawn, [one.joints.position["drawer"] for one in drawn_one_by_one(of)])


def test_an_order_that_was_remembered_is_kept_in_all_worlds() -> None:
    text = "objects_placed_in_container_in_order(objects=[a, b], container=bin, require_contact_with=false)"
    expression = asked(text)
    (leaf,) = expression.leaves()
    of = world(a=(0.0, 0.001), b=(0.0, 0.001), bin=(0.0, 0.0))
    of = replace(of, objects={**of.objects, "bin": box("bin", 0.4)})
    latched = leaf.predicate
    memory: object = None
    for stamp_s, x in ((1.0, 1.0), (2.0, 0.0)):  # a first, then b
        b = replace(of.states["b"], world_T_object=Pose.of((x, 0.0, 0.0)))
        now = replace(of, stamp_s=stamp_s, states={**of.states, "b": b})
        doubts = Doubts(now)
        doubts.memories[leaf.key] = memory
        found, memory = latched.advance(memory, now)  # type: ignore[attr-defined]
    assert found.truth is Truth.TRUE
    assert doubts.flip_probability(expression, lambda _: found, Truth.TRUE) == 0.0
