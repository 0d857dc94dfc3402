"""simulation_interfaces served by the simulation: find, move, spawn, delete, pause, step, reset."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from geometry_msgs.msg import Vector3
from handiwork_msgs.msg import WorldObjects
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from handiwork_ros.conversions import time_from_msg
from handiwork_ros.rclpy_support.qos import CLOCK, LATCHED
from sim_bridge.node import SimBridge
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    SimulationState,
    SimulatorFeatures,
    SpawnEntity,
    TagsFilter,
)
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT

ROBOT, SCENE = ROBOTS / "fr3", ROOT / "config/scenes/tabletop.yaml"
NAMES = {
    "get_simulator_features": srv.GetSimulatorFeatures,
    "get_simulation_state": srv.GetSimulationState,
    "set_simulation_state": srv.SetSimulationState,
    "reset_simulation": srv.ResetSimulation,
    "step_simulation": srv.StepSimulation,
    "get_entities": srv.GetEntities,
    "get_entities_states": srv.GetEntitiesStates,
    "get_entity_state": srv.GetEntityState,
    "get_entity_info": srv.GetEntityInfo,
    "get_entity_bounds": srv.GetEntityBounds,
    "set_entity_state": srv.SetEntityState,
    "get_spawnables": srv.GetSpawnables,
    "spawn_entity": srv.SpawnEntity,
    "spawn_entities": srv.SpawnEntities,
    "delete_entity": srv.DeleteEntity,
}
OK, UNSUPPORTED, NOT_FOUND, FAILED = 1, 0, 2, 4
PLAYING, PAUSED = SimulationState.STATE_PLAYING, SimulationState.STATE_PAUSED
SCENE_NAMES = {"floor", "pedestal", "table", "cube", "bin", "can"}
BRICK = "{mass: 0.2, shapes: [{type: box, size: [0.1, 0.05, 0.03]}]}"


class Client:
    """A client that calls on the executor's thread and waits for the answers."""

    def __init__(self, on: Stage) -> None:
        self.node, self.executor = Node("client", context=on.context), on.executor
        self.services = {name: self.node.create_client(kind, name) for name, kind in NAMES.items()}
        self.steps = ActionClient(self.node, SimulateSteps, "simulate_steps")
        self.objects: set[str] = set()
        self.now_s = 0.0
        self.node.create_subscription(WorldObjects, "world/objects", self._on_objects, LATCHED)
        self.node.create_subscription(Clock, "/clock", self._on_clock, CLOCK)
        on.add(self.node)

    def _on_objects(self, message: WorldObjects) -> None:
        self.objects = {item.name for item in message.objects}

    def _on_clock(self, message: Clock) -> None:
        self.now_s = time_from_msg(message.clock)

    def answer(self, call: Any) -> Any:
        done, values = threading.Event(), []

        def start() -> None:
            call().add_done_callback(lambda future: (values.append(future.result()), done.set()))

        self.executor.create_task(start)
        assert done.wait(60.0), "no answer in time"
        return values[0]

    def ask(self, name: str, **fields: Any) -> Any:
        request = NAMES[name].Request(**fields)
        return self.answer(lambda: self.services[name].call_async(request))

    def code(self, name: str, **fields: Any) -> int:
        return int(self.ask(name, **fields).result.result)

    def spawn(self, name: str, z: float = 1.0, **fields: Any) -> Any:
        request = NAMES["spawn_entity"].Request(name=name, **fields)
        pose = request.initial_pose.pose
        pose.position.x, pose.position.y, pose.position.z = 0.5, 0.3, z
        return self.answer(lambda: self.services["spawn_entity"].call_async(request))

    def entities(self, **filters: Any) -> set[str]:
        answer = self.ask("get_entities", filters=EntityFilters(**filters))
        assert answer.result.result == OK, answer.result.error_message
        return set(answer.entities)


@pytest.fixture(scope="module")
def serving() -> Iterator[Client]:
    with stage() as on:
        values = {"robot_dir": str(ROBOT), "scene_file": str(SCENE)}
        arguments = [Parameter(name, value=value) for name, value in values.items()]
        node = SimBridge(context=on.context, parameter_overrides=arguments)
        on.add(node)
        made = Client(on)
        try:
            wait_for(lambda: node.is_active, 30.0)
            wait_for(lambda: all(one.service_is_ready() for one in made.services.values()))
            wait_for(made.steps.server_is_ready)
            yield made
        finally:
            on.end(node)


@pytest.fixture
def client(serving: Client) -> Client:
    """Reset the scene and let it play."""
    serving.ask("set_simulation_state", state=SimulationState(state=PLAYING))
    assert serving.code("reset_simulation") == OK
    return serving


def test_it_tells_what_it_can_and_the_definitions_have(client: Client) -> None:
    features = client.ask("get_simulator_features").features
    assert SimulatorFeatures.SPAWNING in features.features
    assert SimulatorFeatures.SIMULATION_RESET_TIME not in features.features
    assert list(features.spawn_formats) == ["handiwork"]


def test_entities_are_found_by_name_category_and_place(client: Client) -> None:
    assert client.entities() == SCENE_NAMES
    assert client.entities(filter="^c") == {"cube", "can"}
    moving = EntityCategory(category=EntityCategory.CATEGORY_DYNAMIC_OBJECT)
    assert client.entities(categories=[moving]) == {"cube", "can"}
    cube = client.ask("get_entity_state", entity="cube").state.pose.position
    sphere = Bounds(type=Bounds.TYPE_SPHERE)
    sphere.points = [Vector3(x=cube.x, y=cube.y, z=cube.z + 0.03), Vector3(x=0.02)]
    assert client.entities(bounds=sphere) == {"cube"}
    tagged = EntityFilters(tags=TagsFilter(tags=["red"]))
    assert client.code("get_entities", filters=tagged) == UNSUPPORTED
    assert client.code("get_entities", filters=EntityFilters(filter="(")) == FAILED
    assert client.code("get_entity_state", entity="cup") == NOT_FOUND


@pytest.mark.parametrize("pattern", ["(a+)+$", "(.*)*.*=.*x", "(?=a)", "a" * 300])
def test_no_filter_stops_the_simulation(client: Client, pattern: str) -> None:
    name = "a" * 60 + "-1"
    assert client.spawn(name, resource_string=BRICK).result.result == OK
    answer = client.ask("get_entities", filters=EntityFilters(filter=pattern))
    assert answer.result.result in (OK, FAILED)
    before_s = client.now_s
    wait_for(lambda: client.now_s > before_s + 0.1)


@pytest.mark.parametrize(
    "file", ["/dev/zero", "/proc/self/fd/1", "/etc/passwd", "/etc/absent", "../../README.md"]
)
def test_meshes_outside_the_data_folders_are_refused_alike(client: Client, file: str) -> None:
    text = f"{{mass: 0.2, shapes: [{{type: mesh, file: {file}}}]}}"
    answer = client.spawn("thing", resource_string=text)
    assert answer.result.result == 108
    assert "is not a readable file below the data folders" in answer.result.error_message
    wanted = client.ask("get_spawnables", sources=[file])
    assert wanted.result.result == FAILED
    assert "is not a readable file below the data folders" in wanted.result.error_message


def test_too_many_objects_at_once_are_refused(client: Client) -> None:
    answer = client.ask("spawn_entities", spawn_requests=[SpawnEntity(name=f"o{i}") for i in range(101)])
    assert answer.result.error_message == "101 objects are asked for; ask for at most 100 at once"


def test_states_bounds_and_infos(client: Client) -> None:
    answer = client.ask("get_entities_states")
    assert set(answer.entities) == SCENE_NAMES
    assert {state.header.frame_id for state in answer.states} == {"world"}
    upper, lower = client.ask("get_entity_bounds", entity="cube").bounds.points
    assert (upper.x, upper.y, upper.z) == (-lower.x, -lower.y, -lower.z)
    info = client.ask("get_entity_info", entity="table").info
    assert info.category.category == EntityCategory.CATEGORY_STATIC_OBJECT


def test_a_state_is_set_with_its_twist(client: Client) -> None:
    assert client.code("set_simulation_state", state=SimulationState(state=PAUSED)) == OK
    state = client.ask("get_entity_state", entity="cube").state
    state.pose.position.z += 0.5
    state.twist.linear.x, state.twist.angular.z = 0.4, 1.0
    assert client.code("set_entity_state", entity="cube", state=state) == OK
    now = client.ask("get_entity_state", entity="cube").state
    assert now.pose.position.z == pytest.approx(state.pose.position.z)
    assert (now.twist.linear.x, now.twist.angular.z) == (pytest.approx(0.4), pytest.approx(1.0))
    assert client.code("set_entity_state", entity="table", state=state) == FAILED
    state.pose.orientation.w = math.nan
    assert client.code("set_entity_state", entity="cube", state=state) == 101
    state.header.frame_id = "table"
    assert client.code("set_entity_state", entity="cube", state=state) == 101


def test_an_object_is_spawned_falls_and_is_deleted(client: Client) -> None:
    answer = client.spawn("brick", resource_string=BRICK)
    assert (answer.result.result, answer.entity_name) == (OK, "brick")
    wait_for(lambda: "brick" in client.objects)
    wait_for(lambda: client.ask("get_entity_state", entity="brick").state.pose.position.z < 0.8)
    assert client.spawn("brick", resource_string=BRICK).result.result == 101
    again = client.spawn("brick", z=1.5, resource_string=BRICK, allow_renaming=True)
    assert again.entity_name == "brick_2"
    assert client.code("delete_entity", entity="brick") == OK
    wait_for(lambda: client.objects == SCENE_NAMES | {"brick_2"})
    assert client.code("delete_entity", entity="brick") == NOT_FOUND


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, 104),
        ({"uri": "robot.usd"}, 103),
        ({"resource_string": "{mas: 1}"}, 106),
        ({"resource_string": BRICK, "entity_namespace": "a"}, 105),
    ],
)
def test_what_cannot_be_spawned_is_refused(client: Client, fields: dict[str, Any], code: int) -> None:
    answer = client.spawn("thing", **fields)
    assert answer.result.result == code
    assert answer.result.error_message
    assert client.entities() == SCENE_NAMES


def test_spawnables_can_be_spawned_several_at_once(client: Client) -> None:
    uris = [spawnable.uri for spawnable in client.ask("get_spawnables").spawnables]
    (can,) = [uri for uri in uris if uri.endswith("#can")]
    requests = [SpawnEntity(name="can_a"), SpawnEntity(name="cube")]
    for number, request in enumerate(requests):
        request.entity_resource.uri = can
        request.initial_pose.pose.position.y, request.initial_pose.pose.position.z = 0.5 * number, 1.0
    answer = client.ask("spawn_entities", spawn_requests=requests)
    assert answer.result.result == 150
    assert [one.result.result for one in answer.results] == [OK, 101]
    assert client.entities() == SCENE_NAMES | {"can_a"}


def test_a_reset_takes_what_its_scope_says(client: Client) -> None:
    assert client.spawn("brick", resource_string=BRICK).result.result == OK
    assert client.code("delete_entity", entity="can") == OK
    assert client.code("reset_simulation", scope=1) == UNSUPPORTED
    assert client.code("reset_simulation", scope=2) == OK
    assert client.entities() == SCENE_NAMES | {"brick"}
    before_s = client.now_s
    answer = client.ask("reset_simulation", scope=4)
    assert (answer.result.result, answer.result.error_message) == (OK, "")
    assert client.entities() == SCENE_NAMES
    assert "time continues" in client.ask("reset_simulation").result.error_message
    wait_for(lambda: client.now_s > before_s)


def test_steps_need_a_pause_and_are_counted(client: Client) -> None:
    assert client.code("step_simulation", steps=1) == FAILED
    assert client.code("set_simulation_state", state=SimulationState(state=PLAYING)) == 101
    assert (
        client.code("set_simulation_state", state=SimulationState(state=SimulationState.STATE_QUITTING))
        == UNSUPPORTED
    )
    assert client.code("set_simulation_state", state=SimulationState(state=PAUSED)) == OK
    assert client.ask("get_simulation_state").state.state == PAUSED
    before = client.ask("get_entity_state", entity="cube").state.header.stamp
    assert client.code("step_simulation", steps=7) == OK
    after = client.ask("get_entity_state", entity="cube").state.header.stamp
    assert time_from_msg(after) - time_from_msg(before) == pytest.approx(0.07)
    counts: list[int] = []
    goal = SimulateSteps.Goal(steps=5)
    handle = client.answer(
        lambda: client.steps.send_goal_async(
            goal, feedback_callback=lambda message: counts.append(message.feedback.completed_steps)
        )
    )
    ended = client.answer(handle.get_result_async)
    assert ended.result.result.result == OK
    wait_for(lambda: counts == [1, 2, 3, 4, 5])
    wait_for(lambda: client.now_s == pytest.approx(time_from_msg(after) + 0.05))


def test_steps_are_canceled(client: Client) -> None:
    assert client.code("set_simulation_state", state=SimulationState(state=PAUSED)) == OK
    handle = client.answer(lambda: client.steps.send_goal_async(SimulateSteps.Goal(steps=50_000)))
    client.answer(handle.cancel_goal_async)
    ended = client.answer(handle.get_result_async)
    assert ended.status == 5
    assert "canceled after" in ended.result.result.error_message
