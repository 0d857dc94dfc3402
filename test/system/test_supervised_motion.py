"""An obstacle appears in the way of a moving arm: the arm brakes before it, and nothing is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from handiwork_msgs.msg import Contacts
from handiwork_msgs.srv import SetObjectPose, UpdateScene

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_ros.clients.skill_client import GoalHandle, SkillReport
from handiwork_ros.clients.skill_goals import plan_goal, skill_goal
from handiwork_ros.conversions import pose_to_msg, world_object_to_msg
from handiwork_ros.rclpy_support.qos import LATEST
from simulation_interfaces.srv import DeleteEntity, SpawnEntity
from support.stack.rig import Rig, wait_for

WALL = "{static: true, shapes: [{type: box, size: [0.5, 0.02, 0.5]}]}"
BLOCK = "{static: true, shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}"
RIGHT, LEFT = [0.45, -0.35, 0.35], [0.45, 0.35, 0.35]
SLOW = 0.12
"""The share of full speed: the motion from one side to the other then takes 3.4 s of the world's time."""
LAUNCH_ARGUMENTS = {"real_time_factor": "0.5"}
"""The share of the motion within which the obstacle appears, also on a busy machine."""
MOVING, RESTING = 0.1, 0.02
"""The speeds of the fastest joint, rad/s."""
EARLY_RAD, HALF_RAD = 0.04, 0.16
"""The turn of the first joint at an eighth, and at half of the motion, rad."""


class Scene:
    """The rig with a wall that can be put anywhere, and the greatest contact force on the robot."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.names = rig, set[str]()
        self.force_n: dict[str, float] = {}
        rig.client.node.create_subscription(Contacts, "world/contacts", self._note, LATEST)

    def put(self, name: str, text: str, x: float, y: float, z: float) -> None:
        request = SpawnEntity.Request(name=name, resource_string=text)
        if hasattr(request, "entity_resource"):  # newer versions
            request.entity_resource.resource_string = text
        request.initial_pose.header.frame_id = "world"
        place = request.initial_pose.pose.position
        place.x, place.y, place.z = x, y, z
        answer = self.rig.stack.call(SpawnEntity, "spawn_entity", request)
        assert answer.result.result == 1, answer.result.error_message
        self.names.add(name)

    def take(self, name: str) -> None:
        self.names.discard(name)
        answer = self.rig.stack.call(DeleteEntity, "delete_entity", DeleteEntity.Request(entity=name))
        assert answer.result.result == 1, answer.result.error_message

    def go(self, place: list[float], speed: float) -> GoalHandle[SkillReport]:
        parameters = {"position": place, "max_velocity_scaling_factor": speed}
        return self.rig.client.send(skill_goal("goto_pose", parameters))

    def under_way(self, place: list[float], turned_rad: float) -> GoalHandle[SkillReport]:
        """Send a motion, and return when the first joint has turned by an angle."""
        return self.turned(lambda: self.go(place, SLOW), turned_rad)

    def turned(
        self, send: Callable[[], GoalHandle[SkillReport]], turned_rad: float
    ) -> GoalHandle[SkillReport]:
        """Send a goal, and return when the first joint has turned by an angle."""
        joints = self.rig.joints
        begun = joints.next().positions[0]
        run = send()
        wait_for("the arm on its way", lambda: run.done or joints.newest.positions[0] - begun > turned_rad)
        assert not run.done, run.result(1.0).outcome
        return run

    def _note(self, message: Contacts) -> None:
        for contact in message.contacts:
            bodies = sorted((contact.a, contact.b))
            if any(body.startswith("fr3/") for body in bodies):
                force = contact.force
                size = float(np.linalg.norm([force.x, force.y, force.z]))
                key = " ".join(bodies)
                self.force_n[key] = max(self.force_n.get(key, 0.0), size)

    def assert_untouched(self, name: str) -> None:
        touched = {key: force for key, force in self.force_n.items() if name in key.split()}
        assert not touched, f"greatest forces [N]: {touched}"
        assert self.rig.contacts.of(name) <= {"table", "floor"}


@pytest.fixture
def scene(rig: Rig) -> Iterator[Scene]:
    made = Scene(rig)
    assert made.go(RIGHT, 1.0).result(60.0).ok
    rig.joints.clear()
    rig.contacts.clear()
    made.force_n.clear()
    yield made
    for name in sorted(made.names):
        made.take(name)


def stops(rig: Rig) -> int:
    """Return how often the arm came to rest after a motion; vibrations at either end do not count."""
    count, is_moving = 0, False
    for sample in rig.joints.samples:
        if sample.speed > MOVING:
            is_moving = True
        elif sample.speed < RESTING and is_moving:
            count, is_moving = count + 1, False
    return count


def test_a_wall_put_across_the_way_is_never_touched(scene: Scene) -> None:
    run = scene.under_way(LEFT, EARLY_RAD)
    scene.put("wall", WALL, 0.45, 0.06, 0.25)
    report = run.result(120.0)
    scene.rig.joints.assert_rests()
    scene.assert_untouched("wall")
    assert report.outcome.code in (Code.OK, Code.PATH_BLOCKED), report.outcome
    assert stops(scene.rig) >= 1
    if not report.ok:
        assert report.outcome.blocking is not None and "wall" in report.outcome.blocking


def test_a_previewed_motion_that_gets_blocked_is_not_replaced(scene: Scene) -> None:
    parameters = {"position": LEFT, "max_velocity_scaling_factor": SLOW}
    plan = scene.rig.client.run("goto_pose", parameters, plan_only=True).plan
    assert plan is not None
    run = scene.turned(lambda: scene.rig.client.send(plan_goal(plan)), EARLY_RAD)
    scene.put("wall", WALL, 0.45, 0.06, 0.25)
    report = run.result(120.0)
    scene.rig.joints.assert_rests()
    scene.assert_untouched("wall")
    assert report.outcome.code is Code.PATH_BLOCKED, report.outcome
    assert (report.planning_time_s, stops(scene.rig)) == (0.0, 1)


def test_a_goal_that_gets_blocked_on_the_way_names_what_blocks_it(scene: Scene) -> None:
    run = scene.under_way(LEFT, EARLY_RAD)
    scene.put("block", BLOCK, *LEFT)
    report = run.result(120.0)
    scene.rig.joints.assert_rests()
    scene.assert_untouched("block")
    assert report.outcome.code is Code.PATH_BLOCKED, report.outcome
    assert report.outcome.blocking is not None and "block" in report.outcome.blocking
    assert report.outcome.stage
    assert "the arm braked" in report.outcome.message


def test_a_block_that_only_the_planner_knows_stops_the_arm(scene: Scene) -> None:
    shape = Shape(ShapeKind.BOX, np.full(3, 0.2), Pose.identity())
    add = UpdateScene.Request(
        add=[world_object_to_msg(WorldObject("fence", (shape,)))], add_poses=[pose_to_msg(Pose.of(LEFT))]
    )
    run = scene.under_way(LEFT, EARLY_RAD)
    try:
        assert scene.rig.stack.call(UpdateScene, "planner/update_scene", add).outcome.code == Code.OK
        report = run.result(120.0)
    finally:
        remove = UpdateScene.Request(remove=["fence"])
        scene.rig.stack.call(UpdateScene, "planner/update_scene", remove)
    scene.rig.joints.assert_rests()
    assert report.outcome.code is Code.PATH_BLOCKED, report.outcome
    assert report.outcome.blocking is not None and "fence" in report.outcome.blocking
    assert "the arm braked" in report.outcome.message


@pytest.mark.parametrize("what", ["far away", "behind the arm"])
def test_what_is_not_in_the_way_stops_nothing(scene: Scene, what: str) -> None:
    run = scene.under_way(LEFT, HALF_RAD)
    if what == "far away":
        scene.put("block", BLOCK, 1.5, 1.2, 0.3)
        request = SetObjectPose.Request(object="block")
        request.pose.header.frame_id = "world"
        request.pose.pose.position.x, request.pose.pose.position.y = 1.4, 1.3
        request.pose.pose.position.z, request.pose.pose.orientation.w = 0.4, 1.0
        scene.rig.stack.call(SetObjectPose, "sim/set_object_pose", request)
    else:
        scene.put("block", BLOCK, 0.25, -0.6, 0.35)
    assert not run.done, "the arm was still under way"
    report = run.result(120.0)
    assert report.ok, report.outcome
    assert stops(scene.rig) == 1, "it stood still at its goal only"


def test_a_wall_that_is_taken_away_again_ends_nothing(scene: Scene) -> None:
    run = scene.under_way(LEFT, EARLY_RAD)
    scene.put("wall", WALL, 0.45, 0.06, 0.25)
    scene.take("wall")
    report = run.result(120.0)
    assert report.ok, report.outcome
    scene.assert_untouched("wall")
