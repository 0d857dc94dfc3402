"""Depth images and clouds of known scenes: which cells are occupied, and which are not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, WorldObject
from perception_bridge.obstacles.known_bodies import KnownBodies, KnownObjects
from perception_bridge.obstacles.obstacle_map import AGREE_S, CloudLook, DepthLook, ObstacleMap
from perception_bridge.obstacles.settings import DepthSpec, ObstacleSettings

CAMERA = Pose.of(
    (0.0, 0.0, 1.0), Rotation.from_matrix([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
)
"""A camera 1 m above the origin that looks straight down."""
FOCAL, ROWS, COLUMNS = 100.0, 121, 161
NOBODY = np.zeros((0, 4))
STILL = np.zeros(3)

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""The corners with the least and the greatest coordinates, m."""
GROUND: Box = ((-9.0, -9.0, -1.0), (9.0, 9.0, 0.0))


def drawn(boxes: list[Box]) -> NDArray[np.float32]:
    """Return the depth image of boxes; infinite where the camera sees none."""
    v, u = np.mgrid[0:ROWS, 0:COLUMNS]
    rays = np.stack([(u - 80.0) / FOCAL, (v - 60.0) / FOCAL, np.ones(u.shape)], axis=-1)
    world = rays @ CAMERA.rotation.matrix().T
    depth = np.full(u.shape, np.inf)
    for low, high in boxes:
        with np.errstate(divide="ignore", invalid="ignore"):
            a = (np.array(low) - CAMERA.translation_m) / world
            b = (np.array(high) - CAMERA.translation_m) / world
        near = np.nanmax(np.minimum(a, b), axis=-1)
        far = np.nanmin(np.maximum(a, b), axis=-1)
        depth = np.where((near <= far) & (near > 0.0) & (near < depth), near, depth)
    return depth.astype(np.float32)


def look(depth: NDArray[np.float32], stamp_s: float = 1.0) -> DepthLook:
    return DepthLook(depth, (FOCAL, FOCAL), (80.0, 60.0), CAMERA, stamp_s)


def known(spheres: Array = NOBODY, **boxes: Box) -> KnownBodies:
    objects, states = {}, {}
    for name, (low, high) in boxes.items():
        shape = Shape(ShapeKind.BOX, np.subtract(high, low), Pose.identity())
        objects[name] = WorldObject(name, (shape,))
        middle = 0.5 * np.add(low, high)
        states[name] = ObjectState(Pose.of(tuple(middle)), STILL, STILL, 0.0)
    return KnownBodies(spheres, KnownObjects().shapes(objects, states))


def settings(**changes: object) -> ObstacleSettings:
    values: dict[str, object] = {
        "cameras": (DepthSpec("depth", "depth/image_raw"),),
        "position": (0.0, 0.0, 0.2),
        "size": (0.8, 0.8, 0.6),
        "min_points": 1,
        **changes,
    }
    return ObstacleSettings(**values)  # type: ignore[arg-type]


def at(found: ObstacleMap, place: tuple[float, float, float], bodies: KnownBodies) -> bool:
    """Return whether the cell of a place is occupied."""
    voxels = found.map(bodies)
    cells, inside = voxels.grid.cells_of(np.array([place]))
    assert inside[0]
    return bool(voxels.occupied[tuple(cells[0])])


THING: Box = ((0.05, -0.05, 0.0), (0.15, 0.05, 0.11))
TOP = (0.11, 0.01, 0.11)


def test_a_thing_nobody_knows_is_occupied_and_the_known_ground_is_not() -> None:
    found, bodies = ObstacleMap(settings()), known(ground=GROUND)
    found.look("camera", look(drawn([GROUND, THING])), bodies)
    voxels = found.map(bodies)
    centres = voxels.centres()
    assert at(found, TOP, bodies)
    low, high = np.array(THING[0]), np.array(THING[1])
    assert ((centres > low - 0.02) & (centres < high + 0.02)).all()
    assert centres[:, 2].min() > 0.019  # what is nearer to the ground than the padding belongs to it


def test_a_known_thing_is_taken_out_and_debris_beside_it_stays() -> None:
    debris: Box = ((0.2, -0.02, 0.0), (0.24, 0.02, 0.05))
    found, bodies = ObstacleMap(settings()), known(ground=GROUND, thing=THING)
    found.look("camera", look(drawn([GROUND, THING, debris])), bodies)
    assert not at(found, TOP, bodies)
    assert at(found, (0.22, 0.0, 0.049), bodies)


def test_the_robots_own_body_is_taken_out() -> None:
    arm = np.array([[0.1, 0.0, 0.05, 0.09]])
    found, bodies = ObstacleMap(settings()), known(arm, ground=GROUND)
    found.look("camera", look(drawn([GROUND, THING])), bodies)
    assert not found.map(bodies).occupied.any()


def test_what_is_in_the_shadow_of_the_arm_stays_as_it_was() -> None:
    found, bodies = ObstacleMap(settings()), known(ground=GROUND)
    found.look("camera", look(drawn([GROUND, THING]), 1.0), bodies)
    above: Box = ((-0.05, -0.2, 0.4), (0.25, 0.2, 0.45))
    arm = np.array(
        [[x, y, 0.42, 0.06] for x in np.arange(-0.05, 0.26, 0.03) for y in np.arange(-0.2, 0.21, 0.03)]
    )
    hidden = known(arm, ground=GROUND)
    found.look("camera", look(drawn([GROUND, THING, above]), 9.0), hidden)
    assert at(found, TOP, hidden)  # the camera sees the arm before it
    found.look("camera", look(drawn([GROUND]), 12.0), bodies)
    assert not at(found, TOP, bodies)  # it was taken away, and the arm, too


def test_a_cell_that_one_camera_sees_occupied_is_not_freed_by_another_at_once() -> None:
    found, bodies = ObstacleMap(settings()), known(ground=GROUND)
    found.look("one", look(drawn([GROUND, THING]), 1.0), bodies)
    found.look("other", look(drawn([GROUND]), 1.0 + 0.5 * AGREE_S), bodies)
    assert at(found, TOP, bodies)
    found.look("other", look(drawn([GROUND]), 1.0 + 2.0 * AGREE_S), bodies)
    assert not at(found, TOP, bodies)


@pytest.mark.parametrize(("unseen", "occupied"), [("free", False), ("occupied", True)])
def test_unseen_space_is_as_asked(unseen: str, occupied: bool) -> None:
    found, bodies = ObstacleMap(settings(unseen=unseen)), known(ground=GROUND)
    tall: Box = ((-0.2, -0.2, 0.29), (0.2, 0.2, 0.31))
    found.look("camera", look(drawn([GROUND, tall])), bodies)
    assert at(found, (0.0, 0.0, 0.31), bodies)
    assert at(found, (0.0, 0.0, 0.15), bodies) is occupied  # below the plate
    assert not at(found, (0.0, 0.0, 0.45), bodies)  # above it
    assert not at(found, (0.0, 0.0, -0.05), bodies)  # in the known ground


def test_unseen_space_around_the_robot_is_not_occupied() -> None:
    arm = np.array([[0.0, 0.0, 0.2, 0.1]])
    found, bodies = ObstacleMap(settings(unseen="occupied")), known(arm, ground=GROUND)
    found.look("camera", look(np.full((ROWS, COLUMNS), np.nan, np.float32)), bodies)
    assert not at(found, (0.0, 0.0, 0.2), bodies)
    assert not at(found, (0.11, 0.0, 0.2), bodies)
    assert at(found, (0.2, 0.0, 0.2), bodies)


@pytest.mark.parametrize("nothing", [np.nan, 0.0, -1.0])
def test_pixels_without_a_depth_say_nothing(nothing: float) -> None:
    found, bodies = ObstacleMap(settings()), known(ground=GROUND)
    found.look("camera", look(drawn([GROUND, THING]), 1.0), bodies)
    found.look("camera", look(np.full((ROWS, COLUMNS), nothing, np.float32), 9.0), bodies)
    assert at(found, TOP, bodies)


def test_pixels_that_see_to_infinity_show_free_space() -> None:
    found, bodies = ObstacleMap(settings()), known()
    found.look("camera", look(drawn([THING]), 1.0), bodies)
    assert at(found, TOP, bodies)
    found.look("camera", look(np.full((ROWS, COLUMNS), np.inf, np.float32), 9.0), bodies)
    assert not at(found, TOP, bodies)


def test_a_cell_needs_its_points() -> None:
    depth = np.full((ROWS, COLUMNS), np.inf, np.float32)
    depth[60, 80] = 0.79  # one flying pixel
    for least, occupied in ((1, True), (2, False)):
        found, bodies = ObstacleMap(settings(min_points=least)), known()
        found.look("camera", look(depth), bodies)
        assert at(found, (0.0, 0.0, 0.21), bodies) is occupied


def test_a_cloud_replaces_the_one_before_and_nan_is_no_point() -> None:
    found, bodies = ObstacleMap(settings()), known(ground=GROUND)
    points = np.array(
        [[0.11, 0.01, 0.31], [np.nan, 0.0, 0.0], [np.inf, 0.0, 0.2], [5.0, 0.0, 0.0]], np.float32
    )
    found.look("octomap", CloudLook(points, Pose.identity(), 1.0), bodies)
    voxels = found.map(bodies)
    assert np.count_nonzero(voxels.occupied) == 1
    assert at(found, (0.11, 0.01, 0.31), bodies)
    found.look("octomap", CloudLook(points[1:], Pose.identity(), 1.1), bodies)
    assert not found.map(bodies).occupied.any()


def test_versions_rise_and_a_cleared_map_is_empty() -> None:
    found, bodies = ObstacleMap(settings()), known()
    found.look("camera", look(drawn([THING])), bodies)
    first = found.map(bodies)
    assert first.stamp_s == 1.0
    found.clear()
    second = found.map(bodies)
    assert second.version == first.version + 1
    assert not second.occupied.any()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"unseen": "maybe"}, "unseen"),
        ({"cell": 0.0}, "cell"),
        ({"cell": 0.001}, "cell"),
        ({"size": (0.0, 1.0, 1.0)}, "size"),
        ({"size": (9.0, 9.0, 9.0)}, "smaller box"),
        ({"rate": -1.0}, "rate"),
        ({"min_points": 0}, "min_points"),
        ({"least_depth": 5.0}, "least_depth"),
        ({"padding": float("nan")}, "padding"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, object], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        settings(**changes)


def box_at(found: ObstacleMap, place: tuple[float, float, float]) -> tuple[list[float], list[float]]:
    """Return the corners of the box in the cell of a place, m from the cell's least corner."""
    voxels = found.map(known())
    cells, _ = voxels.grid.cells_of(np.array([place]))
    (row,) = np.flatnonzero((np.argwhere(voxels.occupied) == cells[0]).all(axis=1))
    low, high = voxels.corners()
    corner = np.asarray(voxels.grid.corner_m) + voxels.grid.cell_m * cells[0]
    return (low[row] - corner).tolist(), (high[row] - corner).tolist()


def test_a_cell_keeps_the_box_around_what_was_seen_in_it_until_it_was_free() -> None:
    found, bodies = ObstacleMap(settings(grain=0.004)), known()
    found.look("depth", look(drawn([GROUND, THING]), 1.0), bodies)
    low, high = box_at(found, TOP)  # its top is 0.11 m up, in the middle of a cell
    assert low[2] == pytest.approx(0.008, abs=2e-4)
    assert high[2] == pytest.approx(0.012, abs=2e-4)
    lower: Box = (THING[0], (0.15, 0.05, 0.104))
    found.look("depth", look(drawn([GROUND, lower]), 2.0), bodies)
    assert box_at(found, TOP)[0][2] == pytest.approx(0.002, abs=2e-4), "what was seen before still counts"
    assert box_at(found, TOP)[1][2] == pytest.approx(0.012, abs=2e-4)
    found.look("depth", look(drawn([GROUND]), 4.0), bodies)
    assert not at(found, TOP, bodies)
    found.look("depth", look(drawn([GROUND, lower]), 6.0), bodies)
    assert box_at(found, TOP)[1][2] == pytest.approx(0.006, abs=2e-4), "it was free meanwhile"


def test_all_of_a_cell_of_a_cloud_counts_and_of_any_where_the_grain_is_a_cell() -> None:
    found, bodies = ObstacleMap(settings(grain=0.004)), known()
    found.look("depth", look(drawn([GROUND, THING]), 1.0), bodies)
    points = np.array([TOP], np.float32)
    found.look("cloud", CloudLook(points, Pose.identity(), 1.0), bodies)
    assert box_at(found, TOP) == (pytest.approx([0.0] * 3, abs=1e-9), pytest.approx([0.02] * 3))
    whole = ObstacleMap(settings(grain=0.02))
    whole.look("depth", look(drawn([GROUND, THING]), 1.0), bodies)
    assert whole.map(bodies).boxes is None


def test_the_boxes_hold_all_points_that_were_seen() -> None:
    aside = (0.0013, 0.0017, 0.2021)  # so that no point lies between two cells
    found, bodies = ObstacleMap(settings(grain=0.002, position=aside)), known()
    depth = drawn([GROUND, THING])
    found.look("depth", look(depth), bodies)
    voxels = found.map(bodies)
    v, u = np.mgrid[0:ROWS, 0:COLUMNS]
    rays = np.stack([(u - 80.0) / FOCAL, (v - 60.0) / FOCAL, np.ones(u.shape)], axis=-1)
    points = CAMERA.apply((rays * depth[..., None].astype(np.float64)).reshape(-1, 3))
    cells, inside = voxels.grid.cells_of(points)
    cells, points = cells[inside], points[inside]
    rows = np.cumsum(voxels.occupied.ravel()).reshape(voxels.grid.shape)[tuple(cells.T)] - 1
    low, high = voxels.corners()
    assert voxels.occupied[tuple(cells.T)].all()
    assert (low[rows] <= points + 1e-6).all()
    assert (high[rows] >= points - 1e-6).all()


def test_what_was_seen_of_an_object_before_it_was_known_is_no_obstacle_while_it_is_there() -> None:
    found = ObstacleMap(settings())
    mug: Box = ((0.05, 0.1, 0.0), (0.11, 0.16, 0.1))
    found.look("depth", look(drawn([GROUND, THING, mug]), 1.0), known(ground=GROUND))
    assert at(found, TOP, known(ground=GROUND))
    bodies = known(ground=GROUND, thing=THING)
    assert not at(found, TOP, bodies)
    voxels, count = found.map(bodies), int(found.map(known(ground=GROUND)).occupied.sum())
    low, high = voxels.corners()
    assert 0 < len(low) < count
    assert (high[:, 1] > 0.09).all(), "the mug stays, and nothing of the thing"
    assert low[:, 1].min() < 0.11
    assert at(found, TOP, known(ground=GROUND)), "it is there until a camera has seen that it is not"
    found.look("depth", look(drawn([GROUND, mug]), 3.0), known(ground=GROUND))
    assert not at(found, TOP, known(ground=GROUND))
