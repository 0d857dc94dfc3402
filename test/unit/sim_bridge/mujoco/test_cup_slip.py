"""How far objects slide under the lip of a cup. No simulator."""

from __future__ import annotations

import numpy as np
import pytest

from sim_bridge.mujoco.cup_slip import CLOSING_S, CupSlip, LipMotion

SIDES = np.eye(3)[:2]
STILL = np.zeros(3)


def closed(lip: LipMotion, steps: int = 60) -> tuple[np.ndarray, float]:
    lip.close()
    moved = [lip.step(STILL, SIDES, CLOSING_S / 30) for _ in range(steps)]
    return np.sum([shift for shift, _ in moved], axis=0), float(sum(turn for _, turn in moved))


def test_a_lip_closes_unevenly_by_what_its_deviation_says_and_then_holds() -> None:
    lip = LipMotion(CupSlip(0.004, 0.02, seed=3))
    ends = [closed(lip) for _ in range(400)]
    shifts = np.array([shift for shift, _ in ends])
    assert shifts[:, :2].std(axis=0) == pytest.approx([0.004, 0.004], rel=0.15)
    assert np.all(shifts[:, 2] == 0.0)
    assert np.std([turn for _, turn in ends]) == pytest.approx(0.02, rel=0.15)
    assert np.all(lip.step(STILL, SIDES, 0.01)[0] == 0.0), "the lip has closed"


def test_a_seed_repeats_the_slip() -> None:
    first, again, other = (LipMotion(CupSlip(0.004, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(closed(first)[0], closed(again)[0])
    assert not np.array_equal(closed(first)[0], closed(other)[0])


def test_a_held_object_creeps_along_its_load() -> None:
    lip = LipMotion(CupSlip(creep_m_per_ns=0.0002))
    lip.close()
    shift = sum(lip.step(np.array([0.0, -8.0, 0.0]), SIDES, 0.01)[0] for _ in range(100))
    assert shift == pytest.approx([0.0, -0.0016, 0.0])


@pytest.mark.parametrize("number", [-0.001, float("nan")])
def test_a_slip_that_is_no_length_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="give finite numbers of 0 or more"):
        CupSlip(number)
