"""Whole plans with every kind of shape: as an obstacle, in the hand, and as thin as nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from handiwork_core.contracts.planning import (
    Attachment,
    Engine,
    JointGoals,
    PlanRequest,
    SceneQuery,
)
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.kinematics import forward, link_poses
from handiwork_core.robot.robot import Robot
from support.planning.demo_world import box, world_of
from support.planning.solids import bowl, box_mesh, frame, mesh_shape

HULL = np.array([(x, y, z) for x in (-0.05, 0.05) for y in (-0.04, 0.06) for z in (-0.2, 0.2)])
TILTED = Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(0.1, 0.2, 0.3))
OBSTACLES = {
    "box": Shape(ShapeKind.BOX, np.array([0.1, 0.1, 0.4]), TILTED),
    "sphere": Shape(ShapeKind.SPHERE, np.array([0.12]), TILTED),
    "cylinder": Shape(ShapeKind.CYLINDER, np.array([0.06, 0.4]), TILTED),
    "capsule": Shape(ShapeKind.CAPSULE, np.array([0.06, 0.3]), TILTED),
    "convex": Shape(ShapeKind.CONVEX, np.zeros(0), TILTED, HULL),
    "hull as mesh": mesh_shape(
        HULL[np.unique(ConvexHull(HULL).simplices)], ConvexHull(HULL).simplices, TILTED
    ),
    "bowl": bowl(0.12, 0.006, pose=TILTED),
    "frame": frame(0.2, 0.1, 0.03, Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(np.pi / 2, 0.0, 0.0))),
}
HELD = {
    "box": Shape(ShapeKind.BOX, np.array([0.04, 0.06, 0.1]), TILTED),
    "sphere": Shape(ShapeKind.SPHERE, np.array([0.04]), TILTED),
    "cylinder": Shape(ShapeKind.CYLINDER, np.array([0.03, 0.1]), TILTED),
    "capsule": Shape(ShapeKind.CAPSULE, np.array([0.02, 0.08]), TILTED),
    "convex": Shape(ShapeKind.CONVEX, np.zeros(0), TILTED, 0.3 * HULL),
    "mesh": box_mesh(np.array([0.04, 0.06, 0.1]), TILTED),
    "bowl": bowl(0.06, 0.005, 24, 6, TILTED),
}


def never() -> bool:
    return False


def swing(robot: Robot) -> tuple[Array, Array]:
    """Plan from one side to the other, the hand passing in front."""
    a = np.array(robot.arm("").home_q)
    b = a.copy()
    a[0], b[0] = -1.2, 1.2
    return a, b


def direct(robot: Robot, a: Array, b: Array) -> Trajectory:
    """Return a quintic rest-to-rest motion in 4 s, written without the engine."""
    u = np.linspace(0.0, 1.0, 401)[:, None]
    d = b - a
    return Trajectory(
        robot.arm("").joint_names,
        4.0 * u.ravel(),
        a + (10 * u**3 - 15 * u**4 + 6 * u**5) * d,
        (30 * u**2 - 60 * u**3 + 30 * u**4) * d / 4.0,
        (60 * u - 180 * u**2 + 120 * u**3) * d / 16.0,
    )


def planned(engine: Engine, request: PlanRequest) -> Trajectory:
    """Return the engine's trajectory, which the referee must accept."""
    result = engine.plan(request, never)
    assert result.code is Code.OK, result.message
    assert result.trajectory is not None
    verdict = engine.validate("", result.trajectory, request.scene, request.start_q)
    assert verdict.code is Code.OK, verdict.message
    return result.trajectory


def middle_of_swing(robot: Robot) -> Array:
    a, b = swing(robot)
    return np.asarray(forward(robot, "", 0.5 * (a + b)).translation_m)


@pytest.mark.parametrize("kind", OBSTACLES)
def test_an_obstacle_of_every_kind_is_avoided(engine: Engine, robot: Robot, kind: str) -> None:
    a, b = swing(robot)
    at = middle_of_swing(robot) + (np.array([0.08, 0.0, 0.1]) if kind == "frame" else np.zeros(3))
    engine.update_world(world_of(("thing", (OBSTACLES[kind],), Pose.of(at))))
    blocked = engine.validate("", direct(robot, a, b), SceneQuery(), a)
    assert blocked.code is Code.TRAJECTORY_REFUSED
    assert blocked.blocking is not None and blocked.blocking.b == "thing"
    verdict = engine.explain(
        "", 0.5 * (a + b) if kind != "frame" else direct(robot, a, b).q[blocked.at + 2], SceneQuery()
    )
    assert verdict.blocking is not None and verdict.blocking.b == "thing" and verdict.clearance_m < 0.01
    planned(engine, PlanRequest("", a, JointGoals(b[None]), budget_s=60.0))


@pytest.mark.parametrize("kind", HELD)
def test_a_held_object_of_every_kind_is_carried_around(engine: Engine, robot: Robot, kind: str) -> None:
    a, b = swing(robot)
    gripper = robot.arm("").gripper
    assert gripper is not None
    # The wall ends below the hand, so that only the held object is in the way.
    x, _, z = middle_of_swing(robot)
    wall = z - gripper.tcp_offset_m - 0.06
    link_T_object = Pose.of((0.0, 0.0, gripper.tcp_offset_m + 0.05))
    engine.update_world(
        world_of(
            ("wall", (box((0.2, 0.02, wall)),), Pose.of((x, 0.0, 0.5 * wall))),
            ("thing", (HELD[kind],), forward(robot, "", a) @ link_T_object),
        )
    )
    scene = SceneQuery(attached=(Attachment("thing", robot.arm("").ee_link, link_T_object),))
    alone = SceneQuery(ignored=frozenset({"thing"}))
    assert engine.validate("", direct(robot, a, b), alone, a).code is Code.OK
    blocked = engine.validate("", direct(robot, a, b), scene, a)
    assert blocked.code is Code.TRAJECTORY_REFUSED
    assert blocked.blocking is not None and set(blocked.blocking) == {"thing", "wall"}
    planned(engine, PlanRequest("", a, JointGoals(b[None]), scene, budget_s=60.0))


def crossings(robot: Robot, t: Trajectory, half: tuple[float, float], middle: Array) -> int:
    """Count the passes of a sphere's centre through y = 0 inside the plate, from 250 samples; that is tunnelling."""
    places = []
    for time_s in np.linspace(0.0, t.duration_s, 250):
        q, _ = t.sample(float(time_s))
        links = link_poses(robot, dict(zip(t.joint_names, q.tolist(), strict=True)))
        places.append(np.concatenate([links[s.link].apply(s.centers) for s in robot.spheres if len(s.radii)]))
    y = np.array(places)[:, :, 1]
    inside = (np.abs(np.array(places)[:, :, [0, 2]] - middle[[0, 2]]) < np.array(half)).all(axis=2)
    return int(((y[1:] * y[:-1] < 0.0) & inside[1:]).sum())


@pytest.mark.parametrize("thick", [0.005, 0.0005])
@pytest.mark.parametrize("kind", ["box", "mesh"])
@pytest.mark.parametrize("scaling", [1.0, 0.1])
def test_a_thin_plate_between_start_and_goal_is_gone_around(
    engine: Engine, robot: Robot, thick: float, kind: str, scaling: float
) -> None:
    a, b = swing(robot)
    middle = np.array([0.55, 0.0, 0.4])
    size = np.array([0.5, thick, 0.5])
    plate = box_mesh(size) if kind == "mesh" else box((0.5, thick, 0.5))
    engine.update_world(world_of(("plate", (plate,), Pose.of(middle))))
    inner = (0.5 * size[0] - 0.01, 0.5 * size[2] - 0.01)
    assert crossings(robot, direct(robot, a, b), inner, middle) > 0
    for seed in range(2):
        request = PlanRequest("", a, JointGoals(b[None]), velocity_scaling=scaling, budget_s=60.0, seed=seed)
        assert crossings(robot, planned(engine, request), inner, middle) == 0


@pytest.mark.parametrize("thick", [0.005, 0.0005])
def test_thin_walls_around_the_base_are_never_passed(engine: Engine, robot: Robot, thick: float) -> None:
    """Only a folded arm gets to the other side, through the gap above its own base."""
    a, b = swing(robot)
    walls = [((1.5, thick, 4.0), (0.93, 0.0, 0.0)), ((1.5, thick, 4.0), (-0.93, 0.0, 0.0))]
    lid = ("lid", (box((4.0, 2.0, thick)),), Pose.of((0.0, 0.0, 0.9)))
    items = [(f"wall{i}", (box(size),), Pose.of(place)) for i, (size, place) in enumerate(walls)]
    engine.update_world(world_of(*items, lid))
    assert crossings(robot, direct(robot, a, b), (0.74, 1.99), np.array(walls[0][1])) > 0
    request = PlanRequest("", a, JointGoals(b[None]), budget_s=60.0)
    for seed in range(2):
        trajectory = planned(engine, replace(request, seed=seed))
        assert [crossings(robot, trajectory, (0.74, 1.99), np.array(place)) for _, place in walls] == [0, 0]
