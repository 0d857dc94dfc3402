"""What processes of a pool exchange: every field as it was, in fewer bytes of work than pickle takes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from handiwork_core.contracts.planning import JointGoals, PlanRequest, PlanResult, PoseGoals, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_planning.packed_problems import packed, unpacked
from handiwork_planning.process_pool import Problem, _parts
from handiwork_planning.shared_block import BlockReader, SharedBlock

TURNED = Pose.of((0.1, -0.2, 0.3), Rotation.from_wxyz((0.6, 0.8, 0.0, 0.0)))


def assert_equal(one: object, two: object) -> None:
    assert type(one) is type(two)
    if isinstance(one, np.ndarray):
        assert isinstance(two, np.ndarray)
        assert one.dtype == two.dtype and one.flags.writeable == two.flags.writeable
        np.testing.assert_array_equal(one, two)
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert_equal(getattr(one, field.name), getattr(two, field.name))
    elif isinstance(one, dict):
        assert isinstance(two, dict) and list(one) == list(two)
        for key in one:
            assert_equal(one[key], two[key])
    elif isinstance(one, tuple | list):
        assert isinstance(two, tuple | list) and len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            assert_equal(a, b)
    else:
        assert one == two or (one != one and two != two)


def world() -> World:
    corners = np.random.default_rng(0).normal(size=(5, 3))
    shapes = (
        Shape(ShapeKind.BOX, np.array([0.1, 0.2, 0.3]), TURNED),
        Shape(ShapeKind.CONVEX, np.zeros(0), TURNED, corners),
        Shape(ShapeKind.MESH, np.zeros(0), TURNED, corners, np.array([[0, 1, 2], [2, 3, 4]])),
    )
    still, covariance = np.zeros(3), np.eye(6)
    states = {
        "a": ObjectState(TURNED, still, np.array([0.0, 0.0, 1.0]), 2.5),
        "b": ObjectState(Pose.identity(), still.copy(), still.copy(), 2.5, covariance),
    }
    objects = {"a": WorldObject("a", shapes, True, 0.4), "b": WorldObject("b", shapes[:1])}
    return World(2.5, 7, objects, states, frames={"base": TURNED})


def test_problems_arrive_as_they_were() -> None:
    home: Array = np.array([-1.0, -0.5, 0.0, 0.1, 0.2, 0.5, 1.0])
    poses = PlanRequest("arm", home, PoseGoals((TURNED,)), SceneQuery(ignored=frozenset({"a"})), seed=3)
    joints = PlanRequest("arm", home, JointGoals(np.stack([home, home])), hold_vec_weight=(1.0, 0.0))
    problems = [Problem(world(), poses), Problem(world(), joints)]
    assert_equal(problems, unpacked(packed(problems)))


def test_a_world_of_many_problems_is_one_world_there() -> None:
    one = world()
    request = PlanRequest("arm", np.zeros(7), PoseGoals((TURNED,)))
    there = unpacked(packed([Problem(one, request), Problem(one, request)]))
    assert there[0].world is there[1].world


@pytest.mark.parametrize("tolerance", [None, np.full(2, 0.01)], ids=["plain", "with tolerances"])
def test_results_arrive_as_they_were(tolerance: Array | None) -> None:
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 9, 2))
    times: Array = np.array([0.25 * i for i in range(9)])
    motion = Trajectory(("one", "two"), times, q, qd, qdd, goal_tolerance=tolerance, begin_s=4.0)
    results = [
        PlanResult(Code.OK, "", motion, 2, 0.1),
        PlanResult(Code.NO_IK, "too far", position_error_m=0.2),
    ]
    there = unpacked(packed(results))
    for name in ("t_s", "q", "qd", "qdd", "goal_tolerance"):
        assert np.array_equal(getattr(there[0].trajectory, name), getattr(motion, name))
    assert there[0].trajectory.begin_s == 4.0
    assert_equal(results[1], there[1])
    assert (there[0].code, there[0].goal_index) == (Code.OK, 2)


def test_a_block_grows_for_a_message_and_its_reader_follows() -> None:
    block, reader = SharedBlock(), BlockReader()
    try:
        for size in (1, 1000, 3_000_000, 10):
            data = np.random.default_rng(size).bytes(size)
            assert reader.read(block.write(data)) == data
    finally:
        reader.close()
        block.close()


@pytest.mark.parametrize(("count", "workers"), [(0, 2), (1, 16), (13, 2), (2048, 16)])
def test_parts_are_all_problems_in_order_and_end_small(count: int, workers: int) -> None:
    parts = list(_parts(count, workers))
    assert [i for part in parts for i in part] == list(range(count))
    sizes = [len(part) for part in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert not sizes or sizes[-1] == 1
