"""Previews of pick and place, and their execution, in the running stack: ``python -m benchmarks.skills.preview``.

One scattered scene for each seed: the wall time of a preview, the time of the planner in it and in the execution of the
plan, and beside them that of the same goal without a preview. ``--picture FILE`` draws a preview instead: the path of
the fingertips in a colour for each stage, and the hand before the grasp.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_msgs.srv import ResetWorld  # noqa: E402

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_cli.stack.stack import Stack  # noqa: E402
from handiwork_core.model.geometry import Array, Pose, frozen  # noqa: E402
from handiwork_core.model.world import Shape, ShapeKind  # noqa: E402
from handiwork_core.robot.kinematics import link_poses  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_ros.actions.skill_report import SkillReport  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import STILL_PX, Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from handiwork_viz.film.solids import BodyTriangles, joined, link_solids, solid_of  # noqa: E402
from skill_server.preview.rehearsed_run import preview_skill  # noqa: E402
from skill_server.preview.skill_plan import PlannedMotion  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.state.gripper_reach import hand_links  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

CAMERA = Camera(frozen([1.9, 1.0, 0.95]), frozen([0.33, 0.02, 0.28]), 30.0)
COLORS = ((0.12, 0.47, 0.71), (0.95, 0.45, 0.05), (0.17, 0.63, 0.17))
HANDS = (0.72, 0.84, 0.95)
GAP_M = 0.006
BEAD_M = 0.004
ARRIVED_S = 0.5
"""Time until the skill server has received the joints of a reset world, s."""


def beads(points: Array, radius_m: float, color: tuple[float, float, float]) -> BodyTriangles:
    """Return balls.

    Args:
        points: Their places, (n, 3), m.
        radius_m: Their radius, m.
        color: sRGB, 0 to 1.
    """
    ball = solid_of(Shape(ShapeKind.SPHERE, np.array([radius_m]), Pose.identity()), color, 0.0)
    return joined([ball.moved(Pose.of(point)) for point in points])


def tool_path(motion: PlannedMotion, robot: Robot, color: tuple[float, float, float]) -> BodyTriangles:
    """Return the path of the fingertips.

    Args:
        motion: Motion of a plan.
        robot: The robot.
        color: sRGB, 0 to 1.
    """
    gripper = robot.arm("").gripper
    assert gripper is not None
    tip = np.eye(3)[gripper.ee_axis] * gripper.tcp_offset_m
    path = np.array([pose.apply(tip) for pose in motion.world_T_ee[robot.arm("").name]])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    places = np.arange(0.0, along[-1], GAP_M)
    return beads(np.stack([np.interp(places, along, path[:, k]) for k in range(3)], axis=1), BEAD_M, color)


def hand_at_end(motion: PlannedMotion, robot: Robot, color: tuple[float, float, float]) -> BodyTriangles:
    """Return the hand at the end of a motion.

    Args:
        motion: Motion of a plan.
        robot: The robot.
        color: sRGB, 0 to 1.
    """
    arm = robot.arm("")
    assert arm.gripper is not None
    poses, end = link_poses(robot, {}), motion.world_T_ee[arm.name][-1]
    links = (*hand_links(robot, arm), *arm.gripper.finger_links)
    ee_T_root, solids = poses[arm.ee_link].inverse(), link_solids(robot, ROBOTS / robot.name)
    hand = joined([solids[one].moved(end @ ee_T_root @ poses[one]) for one in links if one in solids])
    return replace(hand, colors=np.tile(np.array(color) ** 2.2, (len(hand.colors), 1)))


def draw(path: Path) -> None:
    """Write a picture of the preview of a pick.

    Args:
        path: The PNG file.

    Raises:
        RuntimeError: The preview failed.
    """
    robot = load_robot(ROBOTS / "fr3")
    cell = SimulatedCell(robot, CpuEngine(robot, Pose.identity(), lambda _share, _text: None), "tabletop", 0)
    result = preview_skill(Pick(), PickParams(object="cube"), cell.context(0))
    if result.plan is None:
        raise RuntimeError(str(result.outcome))
    world = cell.snapshot()
    instant = Instant(world.joints.position, {n: state.world_T_object for n, state in world.states.items()})
    motions = result.plan.motions
    drawn = [tool_path(motion, robot, color) for motion, color in zip(motions, COLORS, strict=True)]
    drawn += [hand_at_end(motion, robot, HANDS) for motion in motions[:1]]
    recording = FilmRecording(cell.objects, cell.world_T_base(), (instant,))
    projection = Projection(recording, robot, ROBOTS / robot.name, CAMERA, SUN, tuple(drawn))
    write_still(projection.frames([instant], STILL_PX)[0], path)


def reset(stack: Stack, seed: int) -> None:
    """Scatter the scene.

    Args:
        stack: The stack.
        seed: Seed of the places.
    """
    answer = stack.call(ResetWorld, "sim/reset", ResetWorld.Request(seed=seed, randomize=True))
    if answer.outcome.code != answer.outcome.OK:
        raise RuntimeError(answer.outcome.message)
    threading.Event().wait(ARRIVED_S)


def good(report: SkillReport) -> SkillReport:
    """Return a report that is good.

    Args:
        report: The report.

    Raises:
        RuntimeError: It is not.
    """
    if not report.ok:
        raise RuntimeError(f"{report.outcome.code.name}: {report.message}")
    return report


def measure(stack: Stack, seed: int) -> dict[str, tuple[float, float, float]]:
    """Return for pick and place: wall time of the preview, planning time in it, and in the execution, all s.

    Args:
        stack: The stack.
        seed: Seed of the scene.
    """
    reset(stack, seed)
    found, client = {}, stack.client
    for skill, words in (("pick", {"object": "cube"}), ("place", {"container": "bin"})):
        began_s = time.monotonic()
        report = good(client.run(skill, {**words, "seed": seed}, plan_only=True))
        took_s = time.monotonic() - began_s
        assert report.plan is not None
        found[skill] = took_s, report.planning_time_s, good(client.execute(report.plan)).planning_time_s
    return found


def unseen(stack: Stack, seed: int) -> dict[str, float]:
    """Return the planning time of pick and place without a preview, s.

    Args:
        stack: The stack.
        seed: Seed of the scene.
    """
    reset(stack, seed)
    words = {"pick": {"object": "cube"}, "place": {"container": "bin"}}
    goals = {skill: {**keys, "seed": seed} for skill, keys in words.items()}
    return {skill: good(stack.client.run(skill, keys)).planning_time_s for skill, keys in goals.items()}


def main() -> None:
    """Print one row for each skill, or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--picture", type=Path, help="write a PNG of the preview of a pick")
    options = parser.parse_args()
    if options.picture:
        draw(options.picture)
        return
    with Stack({"engine": "cpu"}, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        measure(stack, 0)
        seeds = range(1, options.runs + 1)
        seen = [measure(stack, seed) for seed in progress(seeds, "previews", unit="scenes")]
        alone = [unseen(stack, seed) for seed in seeds]
    print(
        "| skill | preview p50 [ms] | p95 | planner in it p50 | planner in the execution | without a preview p50 |"
    )
    print("|---|---|---|---|---|---|")
    for skill in ("pick", "place"):
        rows = 1e3 * np.array([one[skill] for one in seen])
        middle, high = np.percentile(rows[:, 0], [50, 95])
        planned, most = np.median(rows[:, 1]), rows[:, 2].max()
        other = 1e3 * np.median([one[skill] for one in alone])
        print(f"| {skill} | {middle:.0f} | {high:.0f} | {planned:.0f} | {most:.0f} | {other:.0f} |")


if __name__ == "__main__":
    main()
