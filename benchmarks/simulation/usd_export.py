"""Time to export a scene file of many objects to an OpenUSD stage: reading both files, building, writing.

``python -m benchmarks.simulation.usd_export``; the first run, which also loads OpenUSD itself, is reported separately.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_cli.processes.progress import progress
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from isaac_bridge.usd.export import export_scene

TARGET_S = 2.0
KINDS = (
    "shapes: [{type: box, size: [0.05, 0.04, 0.03]}]",
    "shapes: [{type: cylinder, size: [0.02, 0.06]}]",
    "shapes: [{type: sphere, size: [0.025]}]",
    "shapes: [{type: mesh, file: rock.obj}]",
    "container: {inner: [0.08, 0.06, 0.04]}",
)


def write_scene(folder: Path, count: int) -> Path:
    """Write a scene of objects in rows, of all kinds in turn; the mesh is the hull of 200 points.

    Args:
        folder: Folder of the files.
        count: Number of objects.

    Returns:
        The scene file.
    """
    points = np.random.default_rng(1).normal(size=(200, 3))
    points *= 0.03 / np.linalg.norm(points, axis=1, keepdims=True)
    rows = [f"v {x} {y} {z}" for x, y, z in points.tolist()]
    (folder / "rock.obj").write_text("\n".join(rows), encoding="utf-8")
    lines = ["name: many", "objects:"]
    for index in range(count):
        place = f"{0.3 + 0.12 * (index % 8):.2f}, {-0.5 + 0.12 * (index // 8):.2f}, 0.05"
        lines.append(
            f"  thing_{index}: {{pose: {{position: [{place}]}}, mass: 0.1, {KINDS[index % len(KINDS)]}}}"
        )
    path = folder / "many.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=50)
    parser.add_argument("--robot", default="fr3")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    folder = robot_folder(options.robot)
    wall, processor = [], []
    with tempfile.TemporaryDirectory() as name:
        path = write_scene(Path(name), options.objects)
        for run in progress(range(options.runs + 1), "usd export"):
            start, used = time.perf_counter(), time.process_time()
            export_scene(load_scene(path), load_robot(folder), folder, Path(name) / f"stage_{run}.usda")
            wall.append(time.perf_counter() - start)
            processor.append(time.process_time() - used)
    print(f"{options.objects} objects and {options.robot} to .usda, {options.runs} runs after the first")
    print("| | first [s] | p50 [s] | p95 [s] |\n|---|---|---|---|")
    for label, values in (("wall", wall), ("processor", processor)):
        p50, p95 = np.percentile(values[1:], [50, 95])
        print(f"| {label} | {values[0]:.2f} | {p50:.2f} | {p95:.2f} |")
    worst = max(wall[0], float(np.percentile(wall[1:], 95)))
    print(f"at most {TARGET_S:g} s wanted: {'kept' if worst <= TARGET_S else 'not kept'}")


if __name__ == "__main__":
    main()
