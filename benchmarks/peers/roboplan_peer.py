"""RoboPlan: RRT-Connect, shortcuts and TOPP-RA in C++ over Pinocchio and Coal. Runs in its own environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from roboplan import core, rrt, toppra

from benchmarks.peers.job import CLOCKS, RANGE_RAD, STEP_RAD, Answer, Job, Motion, Task, serve

GREY = np.array([0.5, 0.5, 0.5, 1.0])
ROOM = 200_000


def make(job: Job) -> Callable[[Task], Answer]:
    """Return a function that solves one task.

    Args:
        job: The job.
    """
    scene = core.Scene("benchmark", core.loadUrdfSceneDescription(job.urdf))
    scene.importSrdf(Path(job.srdf).read_text(encoding="utf-8"))
    scene.allowAdjacentLinkCollisions()
    limits = Path(job.srdf).with_name("limits.yaml")
    limits.write_text(limits_text(job), encoding="utf-8")
    scene.importJointLimitsFromConfig(core.loadJointLimitsConfig(limits))
    clock, present = CLOCKS[job.clock], list[str]()

    def solve(task: Task) -> Answer:
        put_world(scene, task, present)
        options = rrt.RRTOptions(
            group_name=job.group,
            max_nodes=ROOM,
            max_connection_distance=RANGE_RAD,
            collision_check_step_size=STEP_RAD,
            rrt_connect=True,
            max_planning_time=job.limit_s,
        )
        planner = rrt.RRT(scene, options)
        planner.setRngSeed(0)
        start = core.JointConfiguration(job.joints, np.array(task.start))
        goal = core.JointConfiguration(job.joints, np.array(task.goals[0]))
        began = clock()
        try:
            rough = planner.plan(start, goal)
        except RuntimeError as error:
            spent = clock() - began
            return Answer(task.id, spent, spent, None, why=str(error))
        planned = clock()
        shortcut = core.PathShortcuttingOptions(group_name=job.group, max_step_size=STEP_RAD)
        path = core.PathShortcutter(scene, shortcut).shortcut(rough)
        simplified = clock()
        points = np.array(path.positions).tolist()
        motion = timed(scene, job, path)
        return Answer(task.id, planned - began, simplified - began, points, clock() - began, motion)

    return solve


def limits_text(job: Job) -> str:
    """Return the accelerations in RoboPlan's format; a URDF cannot hold them.

    Args:
        job: The job.
    """
    lines = [
        f"  {name}:\n    max_acceleration: [{limit}]"
        for name, limit in zip(job.joints, job.acceleration, strict=True)
    ]
    return "\n".join(["joint_limits:", *lines, ""])


def put_world(scene: core.Scene, task: Task, present: list[str]) -> None:
    """Remove the last task's bodies and add this one's; bodies may overlap each other.

    Args:
        scene: RoboPlan's scene.
        task: The task.
        present: Names of the bodies in the scene; changed.
    """
    for name in present:
        scene.removeGeometry(name)
    present[:] = [body.name for body in task.bodies]
    for body in task.bodies:
        if body.kind == "box":
            scene.addBoxGeometry(body.name, "universe", core.Box(*body.size), body.pose, GREY)
        elif body.kind == "cylinder":
            scene.addCylinderGeometry(body.name, "universe", core.Cylinder(*body.size), body.pose, GREY)
        else:
            scene.addSphereGeometry(body.name, "universe", core.Sphere(*body.size), body.pose, GREY)
    pairs = [(a, b) for i, a in enumerate(present) for b in present[i + 1 :]]
    scene.setCollisions(pairs, False)


def timed(scene: core.Scene, job: Job, path: core.JointPath) -> Motion | None:
    """Time a path by TOPP-RA through a spline; None if that fails.

    Args:
        scene: RoboPlan's scene.
        job: The job.
        path: The path.
    """
    try:
        motion = toppra.PathParameterizerTOPPRA(scene, job.group).generate(path)
    except RuntimeError:
        return None
    rows = [np.array(part).tolist() for part in (motion.positions, motion.velocities, motion.accelerations)]
    return Motion(np.array(motion.times).tolist(), *rows)


if __name__ == "__main__":
    serve(make)
