"""Poses of shapes against Pose itself, and what is left alone."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Pose, Rotation
from handiwork_core.world import ObjectState
from planner_node.engines.cpu.arrays import flat
from planner_node.engines.cpu.placing import Placing


def any_pose(rng: np.random.Generator) -> Pose:
    return Pose.of(rng.normal(size=3), Rotation.from_rpy(*rng.uniform(-3.0, 3.0, 3)))


def any_states(rng: np.random.Generator, names: list[str]) -> dict[str, ObjectState]:
    still = np.zeros(3)
    return {name: ObjectState(any_pose(rng), still, still, 0.0) for name in names}


def test_every_shape_goes_with_its_body() -> None:
    rng, names = np.random.default_rng(0), [f"body{i}" for i in range(30)]
    shapes = {name: [any_pose(rng) for _ in range(int(rng.integers(0, 5)))] for name in names}
    placing, states = Placing(shapes.items()), any_states(rng, names)
    out = np.full((sum(len(poses) for poses in shapes.values()), 12), np.nan)
    for _ in range(3):
        assert placing.move(states, out)
        expected = [flat(states[name].world_T_object @ pose) for name in names for pose in shapes[name]]
        np.testing.assert_allclose(out, expected, atol=1e-12)
        for name in rng.choice(names, 10, replace=False):
            states.update(any_states(rng, [name]))


def test_only_bodies_with_another_pose_are_written() -> None:
    rng, names = np.random.default_rng(1), ["a", "b"]
    placing, states, out = Placing([(n, [Pose.identity()]) for n in names]), {}, np.zeros((2, 12))
    states = any_states(rng, names)
    assert placing.move(states, out)
    out[:] = 7.0
    assert not placing.move(dict(states), out)
    assert placing.move({**states, **any_states(rng, ["b"])}, out)
    assert (out[0] == 7.0).all() and not (out[1] == 7.0).any()


def test_a_world_without_bodies_has_nothing_to_move() -> None:
    assert not Placing([]).move({}, np.zeros((0, 12)))
