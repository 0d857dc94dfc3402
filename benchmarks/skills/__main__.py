"""CPU time of choices: ``python -m benchmarks.skills [--runs 200]``: placing, annotated grasps, overlaps."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.testing.gantry import gantry
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.geometry.solids import OrientedBox
from skill_server.grasping.graspnet_rows import RatioRange, annotated
from skill_server.placing.box_overlap import iou
from skill_server.placing.candidates import PlaceSetting, releases
from skill_server.placing.params import PlaceParams
from skill_server.placing.release_points import Held

N_RELEASES, N_GRASPS = 3000, 6000
DOWN = OrientationFilter("z", "downward", 0.0, 40.0)
ALIGNED = PlaceParams(
    container="bin",
    orientation_filters=(DOWN,),
    align_pick_obj_axis=(1.0, 0.2, 0.0),
    align_place_obj_axis=(0.0, 1.0, 0.1),
    align_obj_tol_deg=15.0,
)
TWO_FILTERS = replace(ALIGNED, orientation_filters=(DOWN, OrientationFilter("x", "forward", 0.0, 120.0)))


def setting() -> PlaceSetting:
    held = Held(Pose.of((0.4, 0.1, 0.3)), Pose.of((0.0, 0.01, 0.1), Rotation.from_rpy(3.1, 0.1, 0.4)))
    container = Pose.of((0.5, -0.3, 0.0), Rotation.from_rpy(0.0, 0.0, 0.3))
    low, high = np.array([0.4, -0.4, 0.0]), np.array([0.6, -0.2, 0.1])
    return PlaceSetting(
        held, container, low, high, Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(0.0, 0.0, 0.2))
    )


def rows(n: int, rng: np.random.Generator) -> Array:
    """Return random annotated grasps, (n, 17).

    Args:
        n: Number of grasps.
        rng: Random numbers.
    """
    made = rng.random((n, 17))
    axes, _ = np.linalg.qr(rng.normal(size=(n, 3, 3)))
    made[:, 4:13] = (axes * np.linalg.det(axes)[:, None, None]).reshape(n, 9)
    return made


def spent(work: Callable[[], object], runs: int) -> Array:
    """Return the CPU time of each run, (runs,), ms.

    Args:
        work: The work.
        runs: Number of runs.
    """
    found = []
    for _ in progress(range(runs), "skills"):
        before = time.thread_time()
        work()
        found.append(1e3 * (time.thread_time() - before))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    rng, here = np.random.default_rng(0), setting()
    gripper = gantry().arms["arm"].gripper
    assert gripper is not None
    hand, annotation, part = gripper, rows(N_GRASPS, rng), RatioRange(2, 0.1, 0.9)
    a = OrientedBox(Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(0.1, 0.2, 0.3)), np.array([0.1, 0.2, 0.3]))
    b = OrientedBox(Pose.of((0.02, 0.03, 0.04), Rotation.from_rpy(0.5, 0.1, 0.9)), np.array([0.2, 0.1, 0.2]))
    table: dict[str, Callable[[], object]] = {
        f"place {N_RELEASES}, filter, alignment": lambda: releases(ALIGNED, here, rng, N_RELEASES),
        f"place {N_RELEASES}, 2 filters, alignment": lambda: releases(TWO_FILTERS, here, rng, N_RELEASES),
        "place 64, filter, alignment": lambda: releases(ALIGNED, here, rng, 64),
        f"grasp rows {N_GRASPS}": lambda: annotated(annotation, hand, part=part),
        "overlap of two boxes": lambda: iou(a, b),
    }
    print(f"{'CPU time [ms]':<34}{'p50':>9}{'p95':>9}{'p99':>9}{'runs':>7}")
    for name, work in table.items():
        work()
        ms = spent(work, runs)
        p50, p95, p99 = np.percentile(ms, [50, 95, 99])
        print(f"{name:<34}{p50:>9.2f}{p95:>9.2f}{p99:>9.2f}{runs:>7}")


if __name__ == "__main__":
    main()
