"""OMPL's RRT-Connect and PathSimplifier, with Pinocchio and Coal as its checker. Runs in their own environment.

OMPL's Python bindings test validity by a call into Python, so the time includes that call as a user's would.
"""

from __future__ import annotations

from collections.abc import Callable

import coal
import numpy as np
import pinocchio as pin
from ompl import base, geometric, util

from benchmarks.peers.job import CLOCKS, RANGE_RAD, STEP_RAD, Answer, Body, Job, Task, serve

SIMPLIFY_S = 1.0
"""Longest time of OMPL's simplification, s; it mostly ends by itself far earlier."""


def make(job: Job) -> Callable[[Task], Answer]:
    """Return a function that solves one task.

    Args:
        job: The job.
    """
    util.setLogLevel(util.LOG_NONE)
    util.RNG.setSeed(1)
    model = pin.buildModelFromUrdf(job.urdf)
    shapes = pin.buildGeomFromUrdf(model, job.urdf, pin.GeometryType.COLLISION)
    links = [model.frames[shape.parentFrame].name for shape in shapes.geometryObjects]
    checked = {frozenset(pair) for pair in job.pairs}
    for i, a in enumerate(links):
        for j in range(i + 1, len(links)):
            if frozenset((a, links[j])) in checked:
                shapes.addCollisionPair(pin.CollisionPair(i, j))
    space = base.RealVectorStateSpace(len(job.joints))
    bounds = base.RealVectorBounds(len(job.joints))
    for i, (low, high) in enumerate(zip(job.lower, job.upper, strict=True)):
        bounds.setLow(i, low)
        bounds.setHigh(i, high)
    space.setBounds(bounds)
    return lambda task: solve(job, task, space, checker(model, shapes, len(links), task))


def checker(
    model: pin.Model, shapes: pin.GeometryModel, robot_shapes: int, task: Task
) -> Callable[[base.State], bool]:
    """Return a check whether a state of OMPL is free.

    Args:
        model: The robot's kinematics.
        shapes: Its geometry.
        robot_shapes: Number of its shapes.
        task: The task with the world.
    """
    world = shapes.copy()
    for body in task.bodies:
        place = pin.SE3(np.array(body.pose))
        added = world.addGeometryObject(pin.GeometryObject(body.name, 0, 0, place, solid(body)))
        for i in range(robot_shapes):
            world.addCollisionPair(pin.CollisionPair(i, added))
    data, places, q = model.createData(), pin.GeometryData(world), np.zeros(model.nq)

    def free(state: base.State) -> bool:
        for i in range(model.nq):
            q[i] = state[i]
        return not pin.computeCollisions(model, data, world, places, q, True)

    return free


def solid(body: Body) -> coal.CollisionGeometry:
    """Return a body for Coal.

    Args:
        body: The body.
    """
    if body.kind == "box":
        return coal.Box(*body.size)
    return coal.Cylinder(*body.size) if body.kind == "cylinder" else coal.Sphere(*body.size)


def solve(
    job: Job, task: Task, space: base.RealVectorStateSpace, free: Callable[[base.State], bool]
) -> Answer:
    """Plan, then simplify.

    Args:
        job: The job.
        task: The task.
        space: The state space.
        free: The check of a state.
    """
    setup, clock, dof = geometric.SimpleSetup(space), CLOCKS[job.clock], len(job.joints)
    setup.setStateValidityChecker(free)
    info = setup.getSpaceInformation()
    info.setStateValidityCheckingResolution(STEP_RAD / space.getMaximumExtent())
    start, goal = space.allocState(), space.allocState()
    for i in range(dof):
        start[i], goal[i] = task.start[i], task.goals[0][i]
    setup.setStartAndGoalStates(start, goal)
    planner = geometric.RRTConnect(info)
    planner.setRange(RANGE_RAD)
    setup.setPlanner(planner)
    setup.setup()
    began = clock()
    setup.solve(job.limit_s)
    planned = clock()
    if not setup.haveExactSolutionPath():
        return Answer(task.id, planned - began, planned - began, None, why="no exact solution")
    path = setup.getSolutionPath()
    geometric.PathSimplifier(info).simplify(path, SIMPLIFY_S)
    simplified = clock()
    points = [[path.getState(k)[i] for i in range(dof)] for k in range(path.getStateCount())]
    return Answer(task.id, planned - began, simplified - began, points)


if __name__ == "__main__":
    serve(make)
