"""A cup is put on places where its rim fits, it can bear the load and its holder is free."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import ContainerSpec
from handiwork_core.scene.mesh import closed_mesh
from skill_server.grasping.suction_grasps import cup_tool, suction_grasps
from skill_server.grasping.suction_sites import places
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "ur10_suction")
ARM = ROBOT.arm("")
assert ARM.gripper is not None
TOOL = cup_tool(ROBOT, ARM, ARM.gripper)
FLAT = Pose.identity()


def box(*edges: float, at: Pose = FLAT) -> Shape:
    return Shape(ShapeKind.BOX, frozen(edges), at)


def tips(body: WorldObject, pose: Pose = FLAT) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles (n, 3) of the rim and the axes out of the cup (n, 3) in the world."""
    made = suction_grasps(body, pose, TOOL).grasps
    axes = np.array([g.world_T_ee.rotation.matrix()[:, 2] for g in made]).reshape(-1, 3)
    return np.array([g.world_T_ee.translation_m for g in made]).reshape(-1, 3) + 0.161709 * axes, axes


def test_the_best_grasps_of_a_box_press_on_the_middle_of_its_top() -> None:
    made, axes = tips(WorldObject("box", (box(0.2, 0.16, 0.1),), mass_kg=0.5))
    assert made[0] == pytest.approx([0.0, 0.0, 0.05 - 0.0015], abs=1e-9)
    assert axes[0] == pytest.approx([0.0, 0.0, -1.0], abs=1e-9)
    on_top = axes[:, 2] < -0.99
    rims = np.abs(made[on_top][:, :2]).max(axis=0) + 0.02
    assert (rims <= [0.1, 0.08]).all()
    assert (~on_top).any(), "sides are grasped too"


def test_a_turned_box_is_met_square() -> None:
    pose = Pose.of((0.5, 0.1, 0.2), Rotation.from_rpy(0.3, -0.2, 0.7))
    _, axes = tips(WorldObject("box", (box(0.2, 0.16, 0.1),), mass_kg=0.5), pose)
    faces = pose.rotation.matrix()
    assert np.abs(np.abs(axes @ faces).max(axis=1) - 1.0).max() < 1e-9


@pytest.mark.parametrize("edges", [(0.04, 0.3, 0.03), (0.043, 0.043, 0.04)])
def test_what_is_smaller_than_the_cup_has_no_place(edges: tuple[float, float, float]) -> None:
    found = suction_grasps(WorldObject("stick", (box(*edges),), mass_kg=0.1), FLAT, TOOL)
    assert not found.grasps
    assert "smaller than the cup" in found.removed


def test_a_load_beside_the_middle_is_left_out() -> None:
    light, _ = tips(WorldObject("plank", (box(0.8, 0.1, 0.05),), mass_kg=0.2))
    heavy, _ = tips(WorldObject("plank", (box(0.8, 0.1, 0.05),), mass_kg=2.0))
    assert np.abs(light[:, 0]).max() > 0.3
    assert np.abs(heavy[:, 0]).max() <= 0.7 * 2.0 / (2.0 * 9.81) + 1e-6


def test_an_open_container_is_taken_at_its_floor_and_upside_down_from_above() -> None:
    bin_ = WorldObject("bin", ContainerSpec((0.2, 0.3, 0.13), 0.01).shapes(), mass_kg=0.5)
    made, axes = tips(bin_)
    floor = made[(axes[:, 2] < -0.99) & (np.abs(made[:, 0]) < 0.1) & (np.abs(made[:, 1]) < 0.15)]
    assert len(floor)
    assert floor[:, 2] == pytest.approx(0.01 - 0.0015)
    assert np.abs(floor[:, 0]).max() <= 0.1 - 0.03 + 1e-6, "the holder keeps clear of the walls"
    over = Pose.of((0.0, 0.0, 0.14), Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi))
    best, down = tips(bin_, over)
    assert best[0] == pytest.approx([0.0, 0.0, 0.14 - 0.0015], abs=1e-9)
    assert down[0] == pytest.approx([0.0, 0.0, -1.0], abs=1e-9)


def test_what_stands_on_a_face_is_avoided() -> None:
    shapes = (box(0.2, 0.2, 0.05), box(0.05, 0.05, 0.1, at=Pose.of((0.0, 0.0, 0.075))))
    made, axes = tips(WorldObject("knob", shapes, mass_kg=0.3))
    plate = made[(axes[:, 2] < -0.99) & (np.abs(made[:, 2] - 0.0235) < 1e-6)]
    assert len(plate)
    beside = np.linalg.norm(np.maximum(np.abs(plate[:, :2]) - 0.025, 0.0), axis=1)
    assert beside.min() >= 0.028, "the holder, which is wider than the cup, keeps clear of the knob"


def test_round_things_need_a_wide_curve() -> None:
    def count(radius: float) -> int:
        return len(list(places(Shape(ShapeKind.SPHERE, frozen((radius,)), FLAT), 0.02, 0.003)))

    assert count(0.03) == 0
    assert count(0.10) > 0
    can = Shape(ShapeKind.CYLINDER, frozen((0.04, 0.11)), FLAT)
    assert {round(float(p.normal[2])) for p in places(can, 0.02, 0.003)} == {-1, 1}


def test_faces_of_a_hull_and_of_a_mesh_are_those_of_the_box() -> None:
    corners = np.array(np.meshgrid((-0.1, 0.1), (-0.08, 0.08), (-0.05, 0.05))).reshape(3, 8).T
    hull = Shape(ShapeKind.CONVEX, frozen(()), FLAT, frozen(corners))
    made = {tuple(np.round(p.point + 0.0, 6)) for p in places(hull, 0.02, 0.003)}
    assert made == {tuple(np.round(p.point + 0.0, 6)) for p in places(box(0.2, 0.16, 0.1), 0.02, 0.003)}
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], dtype=np.int64)
    vertices, closed = closed_mesh(corners, triangles)
    mesh = Shape(ShapeKind.MESH, frozen(()), FLAT, frozen(vertices), closed)
    assert {tuple(np.round(p.point + 0.0, 6)) for p in places(mesh, 0.02, 0.003)} == made
