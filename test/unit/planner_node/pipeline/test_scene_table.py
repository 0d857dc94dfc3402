"""The planner's own obstacles: changed as a whole or not at all, and never hidden."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.robot import Robot
from handiwork_core.voxels.voxel_map import UNMODELLED, VoxelGrid, VoxelMap
from planner_node.pipeline.planning_scene import PlanningScene
from planner_node.pipeline.request_checks import RequestRefused, check_scene


def box(name: str) -> WorldObject:
    """Return a box of 1 m.

    Args:
        name: Its name.
    """
    return WorldObject(name, (Shape(ShapeKind.BOX, np.ones(3), Pose.identity()),))


def received(*names: str) -> World:
    """Return a received world of version 3 with boxes at the origin.

    Args:
        names: Their names.
    """
    states = {n: ObjectState(Pose.identity(), np.zeros(3), np.zeros(3), 0.0) for n in names}
    return World(0.0, 3, {n: box(n) for n in names}, states)


def test_an_obstacle_is_added_and_removed_with_a_new_version() -> None:
    table = PlanningScene()
    assert table.update(received("cube"), [box("wall")], [Pose.of((1.0, 0.0, 0.0))], []) == 4
    merged = table.merged(received("cube"))
    assert sorted(merged.objects) == ["cube", "wall"]
    assert merged.version == 4
    assert merged.states["wall"].world_T_object.translation_m[0] == 1.0
    assert table.update(received("cube"), [], [], ["wall"]) == 5
    assert sorted(table.merged(received("cube")).objects) == ["cube"]


@pytest.mark.parametrize(
    ("add", "remove", "code", "field"),
    [
        (["post", "cube"], [], Code.CONTRADICTION, "add"),
        (["post"], ["nothing"], Code.UNKNOWN_OBJECT, "remove"),
    ],
)
def test_a_bad_transaction_changes_nothing(add: list[str], remove: list[str], code: Code, field: str) -> None:
    table = PlanningScene()
    with pytest.raises(RequestRefused) as caught:
        table.update(received("cube"), [box(n) for n in add], [Pose.identity()] * len(add), remove)
    assert caught.value.outcome.code is code
    assert caught.value.outcome.field_name == field
    merged = table.merged(received("cube"))
    assert (sorted(merged.objects), merged.version) == (["cube"], 3)


def test_an_obstacle_stays_when_the_world_takes_its_name_later() -> None:
    table = PlanningScene()
    table.update(received("cube"), [box("wall")], [Pose.of((1.0, 0.0, 0.0))], [])
    merged = table.merged(received("cube", "wall"))
    assert len(merged.objects) == 3
    assert any(s.world_T_object.translation_m[0] == 1.0 for s in merged.states.values())


def test_attachments_are_given_in_the_frames_in_which_geometry_is_published() -> None:
    table, world_T_wall = PlanningScene(), Pose.of((1.0, 0.0, 0.0))
    table.update(received("cube"), [box("wall")], [world_T_wall], [])
    grip = Pose.of((0.0, 0.2, 0.0))
    for name in ("cube", "wall"):
        table.attach(Attachment(name, "hand", grip))
    found = {item.object: item.link_T_object for item in table.attached(received("cube"))}
    assert found["cube"].translation_m.tolist() == [0.0, 0.2, 0.0]
    ((shape,),) = (item.shapes for item in table.own()[1])
    assert (found["wall"] @ shape.object_T_shape).translation_m.tolist() == [0.0, 0.2, 0.0]
    table.detach("")
    assert not table.attached(received("cube"))


VOXELS = VoxelMap.of_points(VoxelGrid.over((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0.1), np.zeros((1, 3)))


def test_each_map_of_unmodelled_obstacles_is_a_change_that_plans_quote() -> None:
    table = PlanningScene()
    before, _ = table.own()
    assert table.merged(received("cube")).voxels is None
    table.see(VOXELS)
    merged = table.merged(received("cube"))
    assert merged.voxels is VOXELS
    assert merged.version == 4
    assert table.own()[0] == before + 1  # so clients judge motions under way again
    table.see(None)
    assert table.merged(received("cube")).voxels is None
    assert table.merged(received("cube")).version == 5


def test_unmodelled_obstacles_can_be_ignored_only_where_there_are_some(robot: Robot) -> None:
    scene, table = SceneQuery(ignored=frozenset({UNMODELLED})), PlanningScene()
    with pytest.raises(RequestRefused, match=UNMODELLED):
        check_scene(scene, table.merged(received("cube")), robot)
    table.see(VOXELS)
    check_scene(scene, table.merged(received("cube")), robot)


def test_unmodelled_obstacles_may_be_allowed_to_touch_before_there_are_some(robot: Robot) -> None:
    allowed = frozenset({BodyPair(f"{robot.name}/{robot.links[-1]}", UNMODELLED)})
    check_scene(SceneQuery(allowed=allowed), PlanningScene().merged(received("cube")), robot)
