"""A grasp in one call: ours with either engine, and cuRobo's own ``plan_grasp`` judged by our referee."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.mbm.rows import markdown
from benchmarks.planning.demo import down
from handiwork_core.contracts.planning import Engine, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.kinematics import forward
from handiwork_planning.grasp_planning import GraspRequest, plan_grasp
from handiwork_planning.search.requests import limits_of
from planner_node.engines import CpuEngine, CuroboEngine
from planner_node.engines.curobo.solvers.single_solvers import SEEDS
from planner_node.engines.curobo.solvers.spline import timed

from .machine import engine, fr3

PLACES, GRASPS = 20, 100
CUBE_M, TABLE_M = 0.05, (1.2, 1.6, 0.04)
BEFORE_M, LIFT_M = 0.1, 0.1
HEADS = ("planner", "planned", "clean by the referee", "ms p50", "ms p95", "off the line, mm, worst")


def main(_options: argparse.Namespace) -> int:
    rng, lines = np.random.default_rng(11), []
    asked = [request(rng) for _ in range(PLACES)]
    for kind in (CpuEngine, CuroboEngine):
        rows = [ours(engine(kind), each) for each in [asked[0], *asked]][1:]
        lines.append(_line(f"plan_grasp, {kind.name}", rows))
    theirs = Theirs(engine(CuroboEngine))
    rows = [theirs.run(each) for each in [asked[0], *asked]][1:]
    lines.append(_line("cuRobo's own plan_grasp", rows))
    theirs.close()
    print(markdown(HEADS, lines))
    return 0


def request(rng: np.random.Generator) -> GraspRequest:
    """Return a request: the cube somewhere in front of the arm, with grasps from above, turned and shifted.

    Args:
        rng: Random numbers.
    """
    robot, x, y = fr3(), rng.uniform(0.35, 0.6), rng.uniform(-0.3, 0.3)
    yaws, high = rng.uniform(-np.pi, np.pi, GRASPS), rng.uniform(0.02, 0.035, GRASPS)
    arm = robot.arm("")
    assert arm.gripper is not None
    return GraspRequest(
        "",
        np.array(arm.home_q),
        "cube",
        Pose.of((x, y, 0.5 * CUBE_M), Rotation.from_rpy(0.0, 0.0, float(rng.uniform(-np.pi, np.pi)))),
        tuple(down(robot, x, y, float(z), float(yaw)) for z, yaw in zip(high, yaws, strict=True)),
        arm.ee_link,
        (0.0, 0.0, -BEFORE_M),
        (0.0, 0.0, LIFT_M),
        closed_m=((arm.gripper.joint, 0.5 * CUBE_M),),
    )


def world_of(asked: GraspRequest) -> World:
    """Return a table and the cube on it.

    Args:
        asked: The request.
    """
    still = np.zeros(3)
    shapes = {"table": TABLE_M, "cube": (CUBE_M,) * 3}
    poses = {"table": Pose.of((0.35, 0.0, -0.5 * TABLE_M[2])), "cube": asked.world_T_object}
    objects = {
        name: WorldObject(name, (Shape(ShapeKind.BOX, np.array(size), Pose.identity()),))
        for name, size in shapes.items()
    }
    return World(0.0, 1, objects, {n: ObjectState(p, still, still, 0.0) for n, p in poses.items()})


def ours(planner: Engine, asked: GraspRequest) -> tuple[bool, bool, float, float]:
    """Plan with one of our engines.

    Args:
        planner: The engine.
        asked: The request.

    Returns:
        Whether it is planned, whether it is clean, the time, ms, and the largest distance from the lines, m.
    """
    planner.update_world(world_of(asked))
    before = time.perf_counter()
    plan = plan_grasp(planner, asked, lambda: False)
    spent = 1e3 * (time.perf_counter() - before)
    ways = [part.q for part in plan.parts]
    return plan.code is Code.OK, clean(planner, asked, ways), spent, off_line(ways)


def clean(planner: Engine, asked: GraspRequest, ways: Sequence[Array]) -> bool:
    """Check that the referee finds no fault; the first way avoids the cube, the later ones may touch it.

    Args:
        planner: The referee's engine.
        asked: The request.
        ways: Joint positions of each part, (k, n), rad.
    """
    arm = fr3().arm("")
    at = SceneQuery(ignored=frozenset({"cube"}))
    limits = limits_of(fr3(), arm, 1.0, 1.0)
    for q, scene in zip(ways, (asked.scene, at, at), strict=False):
        t = timed(q, limits, arm.joint_names)
        if planner.validate("", t, scene, q[0]).code is not Code.OK:
            return False
    return len(ways) == 3


def off_line(ways: Sequence[Array]) -> float:
    """Return the largest distance of the tool from the straight line, on the ways after the first, m.

    Args:
        ways: Joint positions of each part, (k, n), rad.
    """
    worst = 0.0
    for q in ways[1:]:
        points = np.array([forward(fr3(), "", row).translation_m for row in q])
        along = points[-1] - points[0]
        along = along / max(float(np.linalg.norm(along)), 1e-9)
        aside = (points - points[0]) - ((points - points[0]) @ along)[:, None] * along
        worst = max(worst, float(np.linalg.norm(aside, axis=1).max()))
    return worst


class Theirs:
    """cuRobo's planner, used as in its documentation, with the same robot, spheres and world."""

    def __init__(self, planner: Engine) -> None:
        assert isinstance(planner, CuroboEngine)
        self._engine = planner
        (self._solvers,) = planner._gpu._solvers.values()
        cuda, room = planner._gpu._cuda, self._solvers.room
        made = cuda.MotionPlannerCfg.create(
            robot=self._solvers.robot,
            collision_cache={"cuboid": room.boxes, "mesh": room.solids},
            num_trajopt_seeds=SEEDS,
            max_goalset=GRASPS,
        )
        self._planner = cuda.MotionPlanner(made)
        self._links = self._planner.kinematics.config.kinematics_config.grasp_contact_link_names

    def run(self, asked: GraspRequest) -> tuple[bool, bool, float, float]:
        """Plan as ``ours`` does; the trajectories are read at their knots and judged by our referee.

        Args:
            asked: The request.

        Returns:
            As ``ours``.
        """
        self._engine.update_world(world_of(asked))
        boxes = self._solvers.scene.data.cuboids
        for name in ("dims", "inv_pose", "enable", "count"):
            getattr(self._planner.scene_collision_checker.data.cuboids, name).copy_(getattr(boxes, name))
        rows = np.array([(*p.translation_m, *p.rotation.wxyz) for p in asked.world_T_ee])
        start = self._solvers._state(asked.start_q)
        before = time.perf_counter()
        result = self._planner.plan_grasp(
            self._solvers._goal(rows[None]),
            start,
            grasp_approach_offset=-BEFORE_M,
            grasp_lift_axis="z",
            grasp_lift_offset=LIFT_M,
            grasp_lift_in_tool_frame=False,
            disable_collision_links=self._links,
        )
        planned = bool(result.success is not None and result.success.any())
        spent = 1e3 * (time.perf_counter() - before)
        if not planned:
            return False, False, spent, 0.0
        parts = (result.approach_trajectory, result.grasp_trajectory, result.lift_trajectory)
        ways = [self._knots(part) for part in parts]
        return True, clean(self._engine, asked, ways), spent, off_line(ways)

    def _knots(self, moved: Any) -> Array:  # noqa: ANN401
        """Return the values (m, n) at the knots of the best trajectory."""
        columns = [list(moved.joint_names).index(name) for name in fr3().arm("").joint_names]
        points = moved.position.view(-1, moved.position.shape[-2], moved.position.shape[-1])[0]
        step = int(self._planner.trajopt_solver.interpolation_steps)
        return np.asarray(points[::step].double().cpu().numpy()[:, columns])

    def close(self) -> None:
        """Free the GPU."""
        self._planner.destroy()


def _line(name: str, rows: list[tuple[bool, bool, float, float]]) -> list[str]:
    planned, good, ms, off = (np.array(column) for column in zip(*rows, strict=True))
    return [
        name,
        f"{planned.sum()} of {len(rows)}",
        f"{good.sum()} of {len(rows)}",
        f"{np.median(ms):.1f}",
        f"{np.percentile(ms, 95):.1f}",
        f"{1e3 * off.max():.1f}",
    ]
