"""Worlds from arrays of other libraries: the same memory where that is possible, and a clear refusal elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conditionals_node.batch import BatchJudge, Poses, Worlds
from conditionals_node.expressions.build import Builder
from support.records.tabletop import ROBOT, Shown, task_of


class Tensor:
    """An array of another library, of which only the DLPack protocol is known; ``device`` 1 is the processor."""

    def __init__(self, values: Any, device: int = 1) -> None:
        self.values, self._device = np.asarray(values), device

    def __dlpack__(self, **options: Any) -> Any:
        if self._device != 1:
            raise BufferError("the tensor is on cuda:0")
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0


def turns(n: int) -> np.ndarray:
    return np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))


def test_doubles_of_another_library_are_the_same_memory() -> None:
    position, wxyz, speed = (Tensor(values) for values in (np.ones((3, 3)), turns(3), np.ones((3, 3))))
    joint, stamps = Tensor(np.ones(3)), Tensor(np.arange(3.0))
    worlds = Worlds(
        {},
        {"cube": Poses(position, wxyz)},  # type: ignore[arg-type]
        velocities={"cube": speed},  # type: ignore[dict-item]
        joints={"j": joint},  # type: ignore[dict-item]
        stamps=stamps,  # type: ignore[arg-type]
    )
    poses = worlds.poses["cube"]
    assert worlds.stamps is not None
    for found, given in (
        (poses.position, position),
        (poses.wxyz, wxyz),
        (worlds.velocities["cube"], speed),
        (worlds.joints["j"], joint),
        (worlds.stamps, stamps),
    ):
        assert np.shares_memory(found, given.values)


def test_floats_of_another_library_become_doubles() -> None:
    position = Tensor(np.full((2, 3), 0.1, dtype=np.float32))
    found = Poses(position, Tensor(turns(2).astype(np.float32))).position  # type: ignore[arg-type]
    assert (found.dtype, found[0, 0]) == (np.float64, pytest.approx(0.1))


def test_a_quaternion_that_is_off_by_rounding_is_made_exact() -> None:
    found = Poses(np.zeros((1, 3)), turns(1) * (1.0 + 1e-7)).wxyz
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-15)


def test_an_array_of_a_gpu_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"position: .*cpu\(\).*cuda:0"):
        Poses(Tensor(np.zeros((1, 3)), device=2), turns(1))  # type: ignore[arg-type]


def test_an_array_of_numbers_that_numpy_lacks_is_refused_with_a_way_out() -> None:
    class Brain16(Tensor):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("Unsupported dtype in DLTensor.")

    with pytest.raises(ValueError, match=r"position: .*bfloat16 as float.*Unsupported dtype"):
        Poses(Brain16(np.zeros((1, 3))), turns(1))  # type: ignore[arg-type]


def test_a_minus_that_torch_has_not_carried_out_counts() -> None:
    class Negative(Tensor):
        """As in torch 2.13: DLPack exports the numbers without the pending minus."""

        def resolve_neg(self) -> Tensor:
            return Tensor(-self.values)

    found = Poses(Negative(np.ones((1, 3))), turns(1)).position  # type: ignore[arg-type]
    assert found.tolist() == [[-1.0, -1.0, -1.0]]


def test_verdicts_are_exported_without_a_copy() -> None:
    condition = Builder(ROBOT).build("object_stationary", {"object": "cube"}, 0.1)
    text = "{name: t, subtasks: [{name: put, pick_and_place: {object: [cube], container: bin}}]}"
    judge = BatchJudge(task_of(text), ROBOT, 2, [condition])
    for i in range(2):
        found = judge.step(Worlds.of([Shown().world(1.0 + 0.1 * i)] * 2))
        given = [found.score, found.end_score, found.peak_score, found.done, found.success, found.collateral]
        given += [found.peak_success, found.unwinnable, *found.truth.values(), *found.margin.values()]
        for values in [*given, *found.confirmed.values()]:
            assert np.shares_memory(np.from_dlpack(values), values)


def test_stamps_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match=r"stamps: has shape \(2,\); make it \(1,\)"):
        Worlds({}, {"cube": Poses(np.zeros((1, 3)), turns(1))}, stamps=np.zeros(2))
