"""A picture of a task with a loop and a branch: ``python -m benchmarks.skills.task_picture out/task.png``.

``config/tasks/sort.yaml`` in physics, without ROS: the table as it was, the first and the last object over the bin, and
the cleared table with the arm at home.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_core.model.geometry import Pose, Rotation, frozen  # noqa: E402
from handiwork_data.dataset.generate import Sources, make_setup  # noqa: E402
from handiwork_data.episodes.episode import Episode  # noqa: E402
from handiwork_data.episodes.run import run_episode  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

TASK, SETTINGS = ROOT / "config/tasks/sort.yaml", ROOT / "config/tasks/tidy_episodes.yaml"
SCENE = ROOT / "config/scenes/tabletop.yaml"
CAMERA = Camera(frozen([1.85, 0.60, 0.95]), frozen([0.42, 0.0, 0.10]), 32.0)
VIEW_PX = (400, 320)
EPISODE = 3
"""Number of the episode: in some the cube comes to rest on the can, as the task lets it."""


def instant(made: Episode, row: int) -> Instant:
    """Return the cell at a sample of an episode.

    Args:
        made: The episode.
        row: Index of the sample.
    """
    joints, poses = made.columns["joint_position"][row], made.columns["object_pose"][row]
    places = {
        name: Pose.of(pose[:3], Rotation.from_wxyz(pose[3:] / np.linalg.norm(pose[3:])))
        for name, pose in zip(made.meta.objects, poses, strict=True)
    }
    return Instant(dict(zip(made.meta.joints, joints.tolist(), strict=True)), places)


def main() -> None:
    """Run the task once, and draw four moments of it.

    Raises:
        RuntimeError: The task failed.
    """
    setup = make_setup(Sources(SETTINGS, SCENE, ROBOTS / "fr3"))
    task = replace(setup.task, path=str(TASK), text=TASK.read_text(encoding="utf-8"))
    made = run_episode(replace(setup, task=task), EPISODE)
    if not made.meta.ok:
        raise RuntimeError(f"{made.meta.code} in {made.meta.failed_stage}: {made.meta.reason}")
    times = made.columns["time"]
    lowered = [one.end_s for one in made.meta.stages if one.stage == "transit"]
    ends = [0.0, lowered[0], lowered[-1], float(times[-1])]
    shown = tuple(instant(made, min(int(np.searchsorted(times, at)), len(times) - 1)) for at in ends)
    objects = {item.name: item.body for item in setup.scene.objects}
    recording = FilmRecording(objects, setup.scene.world_T_base, shown)
    views = Projection(recording, setup.robot, ROBOTS / "fr3", CAMERA, SUN).frames(list(shown), VIEW_PX)
    write_still(np.vstack([np.hstack(views[:2]), np.hstack(views[2:])]), Path(sys.argv[1]))
    setup.engine.close()


if __name__ == "__main__":
    main()
