"""A picture of a pick that follows a pushed cube: ``python -m benchmarks.moving_targets.picture out/moving.png``.

The arm is where it braked. Pale blue: the way that was planned first. Orange: the way that replaces it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from benchmarks.skills.preview import CAMERA, tool_path  # noqa: E402
from handiwork_core.contracts.planning import ShouldStop  # noqa: E402
from handiwork_core.model.geometry import Pose  # noqa: E402
from handiwork_core.model.outcome import Outcome  # noqa: E402
from handiwork_core.model.trajectory import Trajectory  # noqa: E402
from handiwork_core.model.world import World  # noqa: E402
from handiwork_core.robot.kinematics import forward  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import SUN  # noqa: E402
from handiwork_viz.film.film import STILL_PX, Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.preview.skill_plan import PlannedMotion  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from support.cells.nudged_cell import NudgedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

FIRST, REPLACED = (0.62, 0.78, 0.92), (0.95, 0.45, 0.05)
PUSH_MPS = (0.35, 0.85, 0.0)
POSES = 60


class NotedCell(NudgedCell):
    """Notes the motions, and the world at the beginning of each."""

    noted: list[tuple[Trajectory, World]]

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``."""
        self.noted.append((trajectory, self.snapshot()))
        return super().follow(trajectory, should_stop=should_stop)


def main() -> None:
    """Run one pick, and draw the moment at which the second motion begins.

    Raises:
        RuntimeError: The pick failed.
    """
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    cell = NotedCell(robot, engine, "tabletop", 0)
    cell.noted = []
    cell.on_motion(1, 0.55, lambda: cell.push("cube", PUSH_MPS))
    run = run_skill(Pick(), PickParams(object="cube"), cell.context(0))
    if not run.outcome.ok:
        raise RuntimeError(str(run.outcome))
    (first, _), (second, world) = cell.noted[:2]

    def motion(path: Trajectory) -> PlannedMotion:
        times = np.linspace(0.0, path.duration_s, POSES)
        base = cell.world_T_base()
        poses = (base @ forward(robot, cell.spec.name, path.sample(float(t))[0]) for t in times)
        return PlannedMotion("approach", path, {robot.arm("").name: tuple(poses)})

    drawn = (tool_path(motion(first), robot, FIRST), tool_path(motion(second), robot, REPLACED))
    poses = {name: state.world_T_object for name, state in world.states.items()}
    instant = Instant(world.joints.position, poses)
    recording = FilmRecording(cell.objects, cell.world_T_base(), (instant,))
    projection = Projection(recording, robot, ROBOTS / robot.name, CAMERA, SUN, drawn)
    write_still(projection.frames([instant], STILL_PX)[0], Path(sys.argv[1]))
    engine.close()


if __name__ == "__main__":
    main()
