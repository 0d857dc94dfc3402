"""Numbers of a path by which motions are compared: length, speed and smoothness. Pure."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array

STILL_MPS = 0.001
"""An arm that never is faster does not move: its curve is noise, m/s."""
CUT_HZ = 10.0
"""Frequencies above this do not count for the smoothness, Hz."""
LEAST_SHARE = 0.05
"""Frequencies at the end of the spectrum with less than this share of the greatest amplitude do not count."""
PADDING = 4
"""The spectrum has two to the power of this as many frequencies as the samples need."""


def path_metrics(positions: Array, rate_hz: float) -> dict[str, float]:
    """Return the length of a path in m, its greatest and mean speed in m/s, and its smoothness (see ``sparc``).

    Args:
        positions: Points at equal times, (n, 3), m.
        rate_hz: Points a second.
    """
    steps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    speeds = steps * rate_hz
    found = {
        "ee_path_length": float(steps.sum()),
        "ee_speed_max": float(speeds.max(initial=0.0)),
        "ee_speed_mean": float(speeds.mean()) if len(speeds) else 0.0,
        "ee_sparc": sparc(speeds, rate_hz),
    }
    return {name: round(value, 5) for name, value in found.items()}


def sparc(speeds: Array, rate_hz: float) -> float:
    """Return the spectral arc length of a curve of speed: about -1.4 for one smooth reach, less for a jerky motion.

    It is the negative length of the curve of the normalised amplitudes over the normalised frequencies, up to the last
    frequency with a noticeable amplitude (Balasubramanian et al. 2015).

    Args:
        speeds: Speeds at equal times, (n,), m/s.
        rate_hz: Speeds a second.

    Returns:
        The number; 0 for an arm that did not move.
    """
    if len(speeds) < 2 or float(np.max(np.abs(speeds))) < STILL_MPS:
        return 0.0
    count = 2 ** (int(np.ceil(np.log2(len(speeds)))) + PADDING)
    amplitudes = np.abs(np.fft.rfft(speeds, count))
    frequencies = np.fft.rfftfreq(count, 1.0 / rate_hz)
    kept = frequencies <= CUT_HZ
    amplitudes, frequencies = amplitudes[kept] / amplitudes.max(), frequencies[kept]
    noticed = np.flatnonzero(amplitudes >= LEAST_SHARE)
    amplitudes = amplitudes[noticed[0] : noticed[-1] + 1]
    frequencies = frequencies[noticed[0] : noticed[-1] + 1]
    span = frequencies[-1] - frequencies[0]
    if span <= 0.0:
        return 0.0
    return -float(np.hypot(np.diff(frequencies) / span, np.diff(amplitudes)).sum())
