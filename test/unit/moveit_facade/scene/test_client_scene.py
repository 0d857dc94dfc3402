"""The additions of clients, and what the planner is sent of them."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.voxels.voxel_map import UNMODELLED, VoxelGrid, VoxelMap
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.acm import OCTOMAP, AllowedCollisions, pair_of
from moveit_facade.scene.client_scene import AttachedBody, ClientObject, ClientOctomap, ClientScene
from moveit_facade.scene.frames import Frames, checked_link
from support.planning.moveit import at_home, load

CUBE = Shape(ShapeKind.BOX, np.array([0.1, 0.1, 0.1]), Pose.identity())
WORLD = ("table",)


def item(name: str, x: float = 0.5) -> ClientObject:
    body = WorldObject(name, (CUBE,), is_static=True)
    return ClientObject(body, Pose.of((x, 0.0, 0.2)), {"top": Pose.of((0.0, 0.0, 0.05))})


def test_an_added_object_is_told_and_a_second_one_of_its_name_replaces_it() -> None:
    first = ClientScene().added(item("box"), WORLD)
    assert [one.body.name for one in ClientScene().change_to(first).add] == ["box"]
    second = first.added(item("box", 0.7), WORLD)
    change = first.change_to(second)
    assert change.remove == ("box",) and change.add[0].world_T_object.translation_m[0] == 0.7


def test_an_object_of_the_world_is_neither_replaced_nor_moved_and_stays_when_it_is_removed() -> None:
    with pytest.raises(RequestError, match="'table' is an object of the world"):
        ClientScene().added(item("table"), WORLD)
    with pytest.raises(RequestError, match="an object of the world"):
        ClientScene().moved("table", Pose.identity(), WORLD)
    scene = ClientScene()
    assert scene.change_to(scene.removed("table", WORLD)).is_empty


def test_an_unknown_object_cannot_be_removed() -> None:
    with pytest.raises(RequestError, match="'ghost' does not exist") as refused:
        ClientScene().removed("ghost", WORLD)
    assert refused.value.value is ErrorCode.INVALID_OBJECT_NAME


def test_an_empty_name_removes_all_but_the_attached_ones() -> None:
    scene = ClientScene().added(item("a"), WORLD).added(item("b"), WORLD)
    scene = scene.with_attached("b", AttachedBody("fr3_hand", Pose.identity()))
    assert set(scene.removed("", WORLD).objects) == {"b"}


def test_appended_shapes_keep_their_place_in_the_world() -> None:
    scene = ClientScene().added(item("box"), WORLD).appended(item("box", 0.8), WORLD)
    body = scene.objects["box"].body
    assert len(body.shapes) == 2
    assert np.allclose(body.shapes[1].object_T_shape.translation_m, (0.3, 0.0, 0.0))


def test_a_detached_object_stays_where_the_link_has_brought_it() -> None:
    scene = ClientScene().added(item("box"), WORLD)
    held = scene.with_attached("box", AttachedBody("fr3_hand", Pose.of((0.0, 0.0, 0.1))))
    assert [name for name, _ in scene.change_to(held).attach] == ["box"]
    free = held.detached(["box"], {"fr3_hand": Pose.of((0.2, 0.3, 0.4))})
    change = held.change_to(free)
    assert change.detach == ("box",) and change.remove == ("box",)
    assert np.allclose(change.add[0].world_T_object.translation_m, (0.2, 0.3, 0.5))


def test_an_attached_object_that_is_replaced_is_attached_again() -> None:
    held = (
        ClientScene()
        .added(item("box"), WORLD)
        .with_attached("box", AttachedBody("fr3_hand", Pose.identity()))
    )
    new = held.added(item("box", 0.9), WORLD)
    assert held.change_to(new).detach == ("box",) and not new.attached


def frames(scene: ClientScene) -> Frames:
    situation = at_home()

    def look_up(name: str) -> Pose:
        raise HandiworkError(Outcome(Code.UNKNOWN_FRAME, f"no {name}"))

    poses = {"table": Pose.of((1.0, 0.0, 0.0))}
    return Frames(situation.robot, Pose.identity(), situation.positions, scene, poses, look_up)


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("", 0.0),
        ("world", 0.0),
        ("fr3_link0", 0.0),
        ("fr3/fr3_link0", 0.0),
        ("table", 1.0),
        ("box", 0.5),
        ("box/top", 0.5),
    ],
)
def test_frames_are_links_objects_and_subframes(name: str, x: float) -> None:
    found = frames(ClientScene().added(item("box"), WORLD)).world_T(name, "frame")
    assert abs(found.translation_m[0] - x) < 1e-9


def test_a_subframe_of_an_attached_object_moves_with_the_link() -> None:
    scene = (
        ClientScene()
        .added(item("box"), WORLD)
        .with_attached("box", AttachedBody("fr3_hand", Pose.identity()))
    )
    one = frames(scene)
    assert np.allclose(
        one.world_T("box/top", "f").translation_m, one.link("fr3_hand").apply((0.0, 0.0, 0.05))
    )


def test_an_unknown_frame_and_an_unknown_link_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(RequestError, match=r"header\.frame_id: frame 'fr3_lin0'.*fr3_link0") as refused:
        frames(ClientScene()).world_T("fr3_lin0", "header.frame_id")
    assert refused.value.value is ErrorCode.FRAME_TRANSFORM_FAILURE
    with pytest.raises(RequestError, match="fr3_hand_tcp") as refused:
        checked_link(load("fr3"), "fr3_hand_tpc", "link_name")
    assert refused.value.value is ErrorCode.INVALID_LINK_NAME


def test_the_matrix_of_a_robot_adds_no_exception_to_its_own() -> None:
    robot = load("fr3")
    matrix = AllowedCollisions.of_robot(robot)
    assert not matrix.exceptions(robot, ["box"]) and not matrix.refused_checks(robot)
    index = matrix.names.index
    assert matrix.rows()[index("fr3_link0")][index("fr3_link1")]


def test_a_row_of_an_object_allows_it_against_links_and_not_against_objects() -> None:
    robot = load("fr3")
    base = AllowedCollisions.of_robot(robot)
    pairs = {pair_of("box", link) for link in robot.links} | {pair_of("box", "table")}
    found = AllowedCollisions((*base.names, "box", "table"), base.allowed | pairs).exceptions(
        robot, ["box", "table"]
    )
    assert BodyPair(*sorted(("box", "fr3/fr3_hand"))) in {BodyPair(*sorted(pair)) for pair in found}
    assert len(found) == len(robot.links)


def test_a_default_allows_an_object_against_all_links_that_no_row_decides() -> None:
    robot = load("fr3")
    base = AllowedCollisions.of_robot(robot)
    found = AllowedCollisions(base.names, base.allowed, {"box": True}).exceptions(robot, ["box"])
    assert len(found) == len(robot.links)
    assert not AllowedCollisions(base.names, base.allowed, {"ghost": True}).exceptions(robot, ["box"])


def test_a_check_that_the_robots_files_leave_out_is_listed() -> None:
    robot = load("fr3")
    base = AllowedCollisions.of_robot(robot)
    pair = pair_of("fr3_link0", "fr3_link1")
    assert AllowedCollisions(base.names, base.allowed - {pair}).refused_checks(robot) == (pair,)


def test_an_octomap_is_told_when_it_is_another_one_and_stays_while_objects_change() -> None:
    grid = VoxelGrid((0.0, 0.0, 0.0), 0.1, (1, 1, 1))
    octomap = ClientOctomap(VoxelMap(grid, np.ones((1, 1, 1), np.bool_)))
    scene = ClientScene(octomap=octomap)
    assert ClientScene().change_to(scene).is_other_octomap
    assert not ClientScene().change_to(scene).is_empty
    later = scene.added(item("box"), WORLD).with_attached("box", AttachedBody("hand", Pose.identity()))
    later = later.detached(["box"], {"hand": Pose.identity()}).removed("", WORLD)
    assert later.octomap is octomap
    assert scene.change_to(later).is_empty
    assert later.change_to(ClientScene()).is_other_octomap


def test_the_octomap_in_the_matrix_is_what_nobody_modelled_in_the_planner() -> None:
    robot = load("fr3")
    base, pair = AllowedCollisions.of_robot(robot), pair_of("fr3_hand", OCTOMAP)
    found = AllowedCollisions((*base.names, OCTOMAP), base.allowed | {pair}).exceptions(robot, [])
    assert [set(one) for one in found] == [{"fr3/fr3_hand", UNMODELLED}]
    all_links = AllowedCollisions(base.names, base.allowed, {OCTOMAP: True}).exceptions(robot, ["box"])
    assert {set(one) - {UNMODELLED} != set() for one in all_links} == {True}
    assert len(all_links) == len(robot.links)
