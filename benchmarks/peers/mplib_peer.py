"""MPlib: OMPL's RRT-Connect over FCL, its path simplification and TOPP-RA. Runs in its own environment."""

from __future__ import annotations

from collections.abc import Callable

import mplib
import numpy as np
from mplib import Pose
from mplib.collision_detection import fcl

from benchmarks.peers.job import CLOCKS, RANGE_RAD, Answer, Body, Job, Motion, Task, serve

SAMPLE_S = 0.02


def make(job: Job) -> Callable[[Task], Answer]:
    """Return a function that solves one task.

    Args:
        job: The job.
    """
    planner = mplib.Planner(
        urdf=job.urdf,
        move_group=job.ee_link,
        srdf=job.srdf,
        joint_vel_limits=job.velocity,
        joint_acc_limits=job.acceleration,
    )
    clock, present = CLOCKS[job.clock], list[str]()

    def solve(task: Task) -> Answer:
        for name in present:
            planner.planning_world.remove_object(name)
        present[:] = [body.name for body in task.bodies]
        for body in task.bodies:
            planner.planning_world.add_object(solid(body))
        planner.robot.set_qpos(np.array(task.start), True)
        goals = [np.array(goal) for goal in task.goals]
        began = clock()
        status, path = planner.planner.plan(
            np.array(task.start), goals, time=job.limit_s, range=RANGE_RAD, simplify=False
        )
        planned = clock()
        if status != "Exact solution":
            return Answer(task.id, planned - began, planned - began, None, why=str(status))
        path = planner.planner.simplify_path(path)
        simplified = clock()
        motion = timed(planner, path)
        full_s = clock() - began
        points = np.array(path).tolist()
        return Answer(task.id, planned - began, simplified - began, points, full_s, motion)

    return solve


def solid(body: Body) -> fcl.FCLObject:
    """Return a body for FCL.

    Args:
        body: The body.
    """
    shape = {"box": lambda: fcl.Box(body.size), "cylinder": lambda: fcl.Cylinder(*body.size)}.get(
        body.kind, lambda: fcl.Sphere(*body.size)
    )()
    place = Pose(body.pose)
    return fcl.FCLObject(body.name, Pose(), [fcl.CollisionObject(shape, place)], [place])


def timed(planner: mplib.Planner, path: np.ndarray) -> Motion | None:
    """Time a path by TOPP-RA through a spline; None if that fails.

    Args:
        planner: The planner.
        path: Way points, (k, dof), rad.
    """
    try:
        t, q, qd, qdd, _ = planner.TOPP(np.array(path), SAMPLE_S)
    except RuntimeError:
        return None
    return Motion(t.tolist(), q.tolist(), qd.tolist(), qdd.tolist())


if __name__ == "__main__":
    serve(make)
