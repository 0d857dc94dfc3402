"""Images as sensors deliver them: noise, encodings, clouds, and the rate."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.cameras.camera import CameraNoise, Intrinsics
from sim_bridge.cameras.images import (
    FrameSchedule,
    cloud,
    in_millimetres,
    noisy_color,
    noisy_depth,
)

RNG = np.random.default_rng


def test_noise_has_the_deviation_that_was_asked_for_and_a_seed() -> None:
    noise = CameraNoise(intensity=3.0, depth=0.002, depth_quadratic=0.001)
    grey = np.full((100, 200, 3), 128, np.uint8)
    color = noisy_color(grey, noise, RNG(1))
    assert color.dtype == np.uint8
    assert np.std(color.astype(float)) == pytest.approx(3.0, rel=0.05)
    assert np.array_equal(color, noisy_color(grey, noise, RNG(1)))
    depth = noisy_depth(np.full((100, 200), 2.0, np.float32), noise, RNG(1))
    assert depth.dtype == np.float32
    assert np.std(depth) == pytest.approx(0.002 + 0.001 * 4.0, rel=0.05)


def test_bright_and_dark_pixels_stay_within_a_byte() -> None:
    both = np.zeros((50, 50, 3), np.uint8)
    both[25:] = 255
    noisy = noisy_color(both, CameraNoise(intensity=5.0), RNG(0))
    assert noisy[:25].max() < 60
    assert noisy[25:].min() > 195


def test_what_is_out_of_range_stays_so_and_is_zero_in_millimetres() -> None:
    depth = np.array([[0.5, np.inf, 1.2344, 80.0]], np.float32)
    noisy = noisy_depth(depth, CameraNoise(depth=0.001), RNG(0))
    assert np.isinf(noisy[0, 1])
    assert np.isfinite(noisy[0, [0, 2]]).all()
    assert in_millimetres(depth).tolist() == [[500, 0, 1234, 0]]


def test_a_cloud_has_a_point_and_its_colour_for_each_pixel() -> None:
    rays = Intrinsics(3, 2, (2.0, 2.0), (1.0, 0.5)).rays().astype(np.float32)
    depth = np.array([[1.0, 2.0, np.inf], [0.5, 1.0, 1.0]], np.float32)
    color = np.zeros((2, 3, 3), np.uint8)
    color[1, 0] = (1, 2, 3)
    rows = np.frombuffer(cloud(rays, depth, color), "<f4").reshape(2, 3, 4)
    assert np.allclose(rows[0, 1, :3], (0.0, -0.5, 2.0))
    assert np.isnan(rows[0, 2, :3]).all()
    assert rows[1, 0, 3:].view("<u4")[0] == 0x010203


def test_the_rate_is_that_of_the_states_time() -> None:
    schedule = FrameSchedule(10.0)
    stamps = [round(0.02 * i, 3) for i in range(101)]
    made = [stamp for stamp in stamps if schedule.due(stamp)]
    assert len(made) == 21
    assert np.diff(made) == pytest.approx(0.1, abs=0.021)
    assert not schedule.due(made[-1])


def test_a_late_image_is_not_followed_by_a_burst_and_a_reset_begins_again() -> None:
    schedule = FrameSchedule(10.0)
    assert schedule.due(0.0)
    assert schedule.due(5.0)
    assert not schedule.due(5.02)
    assert schedule.due(5.1)
    assert schedule.due(1.0)
    assert not schedule.due(1.02)
