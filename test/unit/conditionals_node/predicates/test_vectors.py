"""Predicates against the verdicts of another implementation; see test/data/conditionals/README.md."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from conditionals_node.batch import Worlds, evaluate
from conditionals_node.predicates.containment import ObjectInHull
from conditionals_node.predicates.direction import (
    Direction,
    ObjectBehind,
    ObjectInFrontOf,
    ObjectLeftOf,
    ObjectRightOf,
    Seen,
)
from conditionals_node.predicates.motion import Axis, ObjectStationary, ObjectUpright
from conditionals_node.predicates.nearby import Along, ObjectBetween, ObjectNextTo, ObjectsInLine
from conditionals_node.predicates.vertical import (
    ComparedPart,
    Extent,
    ObjectAbove,
    ObjectAboveBottom,
    ObjectBelow,
    ObjectBelowTop,
    ObjectCenterOf,
    ObjectOnBottom,
    ObjectOnCenter,
)
from conditionals_node.views.views import Point
from handiwork_core.contracts.predicate import Predicate, Truth
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from support.records.vectors import SINGLE_PRECISION, load, mesh, poses, single


def agree(
    predicate: Predicate, worlds: Worlds, verdicts: np.ndarray, guard: float, rows: np.ndarray | bool = True
) -> Array:
    """Check that a batch and single worlds give the verdicts where the margin is not round-off; return the margins."""
    margin = evaluate(predicate, worlds).margin
    sure = (np.abs(margin) > guard) & rows
    assert sure.mean() > 0.9
    wrong = np.flatnonzero(((margin > 0.0) != verdicts) & sure)
    assert not len(wrong), (predicate, wrong[:5], margin[wrong[:5]])
    for i in range(0, worlds.n, 7):
        found = predicate.evaluate(single(worlds, i))
        assert found.margin == pytest.approx(margin[i], abs=1e-12)
        assert found.truth is Truth.of(bool(margin[i] > 0.0))
    return margin


def test_containment() -> None:
    data = load("containment")
    seen = 0
    for c, container in enumerate(data["container_names"]):
        for o, item in enumerate(data["object_names"]):
            rows = np.flatnonzero((data["container_id"] == c) & (data["object_id"] == o))
            worlds = Worlds(
                {"c": mesh("c", data[f"mesh_c_{container}"]), "o": mesh("o", data[f"mesh_o_{item}"])},
                {"c": poses(data, "container", rows), "o": poses(data, "object", rows)},
            )
            mean = Point.VERTEX_MEAN
            for predicate, key in (
                (ObjectInHull("o", "c", point=mean), "in_container"),
                (ObjectInHull("o", "c", point=mean), "inside"),
                (ObjectInHull("o", "c", point=mean, closed=True), "enclosed"),
                (ObjectInHull("o", "c"), "inside_with_volume_centroid"),
            ):
                margin = agree(predicate, worlds, data[key][rows], SINGLE_PRECISION)
                if key == "in_container":
                    assert (data["outside_of"][rows] != data[key][rows]).all()
                if key in ("in_container", "enclosed"):
                    distance = data["margin_open" if key == "in_container" else "margin_full"][rows]
                    assert margin == pytest.approx(-distance, abs=5e-6)
            seen += len(rows)
    assert seen == 1248


def direction_worlds(data: Mapping[str, np.ndarray]) -> Worlds:
    """Return objects whose centroids lie where those of the vectors do."""
    objects = {}
    for name in ("a", "b"):
        turns = [Rotation.from_wxyz(q).matrix() for q in data[f"{name}_quat"]]
        offsets = data[f"centroid_{name}"] - data[f"{name}_pos"]
        local = np.einsum("nji,nj->ni", turns, offsets)
        assert np.ptp(local, axis=0).max() < 1e-6
        shape = Shape(ShapeKind.BOX, frozen((0.01, 0.01, 0.01)), Pose.of(local.mean(axis=0)))
        objects[name] = WorldObject(name, (shape,))
    objects["cam"] = objects["a"]
    return Worlds(
        objects,
        {name: poses(data, name) for name in ("a", "b", "cam")},
        frames={"robot": poses(data, "robot")},
    )


@pytest.mark.parametrize("kind", [ObjectLeftOf, ObjectRightOf, ObjectInFrontOf, ObjectBehind])
def test_directions(kind: type[Direction]) -> None:
    data = load("directional")
    worlds, tried = direction_worlds(data), 0
    # Two objects in one place, to single precision, have no direction.
    apart = np.linalg.norm((data["a_pos"] - data["b_pos"])[:, :2], axis=1) > 1e-5
    assert (~apart).sum() < 30
    for frame in ("robot", "world", "cam"):
        for mirrored, tag in ((False, "nat"), (True, "mir")):
            for cone in (45, 20, 90):
                key = f"{kind.name.removeprefix('object_')}__{frame}__{tag}__{cone}"
                for prefix, level in (("base", None), ("cond", 0.1)):
                    predicate = kind(
                        "a",
                        "b",
                        frame_of_reference=frame,
                        mirrored=mirrored,
                        cone_deg=float(cone),
                        level_tolerance=level,
                        seen=Seen.ORIGIN,
                    )
                    agree(predicate, worlds, data[f"{prefix}__{key}"], SINGLE_PRECISION, apart)
                    tried += 1
    assert tried == 36


BOX_CASES: dict[str, Predicate] = {
    "above": ObjectAbove("a", "b", z_margin=0.0, extent=Extent.BOX),
    "above_bottom": ObjectAboveBottom("a", "b", z_margin=0.0, extent=Extent.BOX),
    "above_margin": ObjectAbove("a", "b", z_margin=0.03, extent=Extent.BOX),
    "above_centroid": ObjectAbove("a", "b", z_margin=0.0, mode=ComparedPart.CENTROID, extent=Extent.BOX),
    "below": ObjectBelow("a", "b", z_margin=0.0, extent=Extent.BOX),
    "below_top": ObjectBelowTop("a", "b", z_margin=0.0, extent=Extent.BOX),
    "between": ObjectBetween("a", "b", "c", along=Along.AXIS),
    "between_noalign": ObjectBetween("a", "b", "c", check_alignment=False, along=Along.AXIS),
    "center_of": ObjectCenterOf("a", "b"),
    "next_to": ObjectNextTo("a", "b", min_overlap=0.0, extent=Extent.BOX),
    "next_to_2cm": ObjectNextTo("a", "b", dist=0.02, min_overlap=0.0, extent=Extent.BOX),
    "on_center": ObjectOnCenter("a", "b", tolerance=0.05),
    "on_bottom": ObjectOnBottom("a", "b", z_margin=0.0, extent=Extent.BOX),
    "stationary": ObjectStationary("a"),
    "stationary_lin": ObjectStationary("a", check_angular=False),
    "upright": ObjectUpright("a"),
    "upright_x": ObjectUpright("a", tolerance=0.5, up_axis=Axis.X),
}


def box_worlds() -> Worlds:
    data = load("boxes")
    return Worlds(
        {name: mesh(name, data[f"{name}_local_corners"]) for name in "abc"},
        {name: poses(data, name) for name in "abc"},
        velocities={name: data[f"{name}_vel"][:, :3] for name in "abc"},
        turn_rates={name: data[f"{name}_vel"][:, 3:] for name in "abc"},
    )


@pytest.mark.parametrize("name", sorted(BOX_CASES))
def test_boxes_rest_and_tilt(name: str) -> None:
    data = load("boxes")
    assert (data[f"batched__{name}"] == data[f"scalar__{name}"]).all()
    agree(BOX_CASES[name], box_worlds(), data[f"batched__{name}"], SINGLE_PRECISION)


@pytest.mark.parametrize(
    ("name", "predicate"),
    [
        ("in_line3", ObjectsInLine(("a", "b", "c"))),
        ("in_line3_x", ObjectsInLine(("a", "b", "c"), axis=Axis.X)),
        ("in_line2", ObjectsInLine(("a", "b"))),
    ],
)
def test_in_line_is_that_of_the_scalar_path(name: str, predicate: Predicate) -> None:
    data = load("boxes")
    agree(predicate, box_worlds(), data[f"scalar__{name}"], SINGLE_PRECISION)
    assert (data[f"batched__{name}"] != data[f"scalar__{name}"]).any()
