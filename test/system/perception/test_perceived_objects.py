"""Pick and place in the running stack on detections alone; the judge looks at the simulation's own poses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from handiwork_msgs.action import Pick
from handiwork_msgs.msg import Contacts, ObjectStates
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

from handiwork_cli.stack.stack import Stack
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import ObjectState
from handiwork_ros.conversions import object_states_from_msg
from handiwork_ros.rclpy_support.qos import LATEST
from support.stack.rig import send_until, wait_for

INNER_M = 0.22
"""Inner edges of the bin, m."""


class Eyes:
    """The newest states of a topic."""

    def __init__(self, stack: Stack, topic: str) -> None:
        self.states: dict[str, ObjectState] = {}
        stack.client.node.create_subscription(ObjectStates, topic, self._take, LATEST)

    def _take(self, message: ObjectStates) -> None:
        self.states = object_states_from_msg(message)

    def place_in(self, name: str, other: str) -> np.ndarray:
        """Return the position of an object in the frame of another, (3,), m."""
        return (self.states[other].world_T_object.inverse() @ self.states[name].world_T_object).translation_m


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack({"perception": "detections", "real_time_factor": "2"}) as running:
        running.wait_active()
        yield running


def test_an_object_that_is_only_seen_is_picked_and_placed(stack: Stack) -> None:
    seen, true = Eyes(stack, "world/object_states"), Eyes(stack, "ground_truth/object_states")
    touched: list[Contacts] = []
    stack.client.node.create_subscription(Contacts, "world/contacts", touched.append, LATEST)
    wait_for("the seen cube", lambda: "cube" in seen.states and "cube" in true.states, 60.0)
    picked = stack.client.pick("cube")
    assert picked.ok, picked.outcome
    assert picked.held_object == "cube"
    wait_for("a seen cube in the air", lambda: seen.states["cube"].world_T_object.translation_m[2] > 0.05)
    assert true.states["cube"].world_T_object.translation_m[2] > 0.05
    placed = stack.client.place("cube", "bin")
    assert placed.ok, placed.outcome
    inside, reason = stack.settled("object_in_container", "{object: cube, container: bin}", 60.0)
    assert inside, reason
    assert np.abs(true.place_in("cube", "bin")[:2]).max() < INNER_M / 2, "by the true poses"
    assert true.place_in("cube", "bin")[2] < 0.08, "by the true poses"
    exact = [name for name in ("cube", "can") if _is_exact(seen.states[name], true.states[name])]
    assert not exact, "these came from the simulation, not from detections"
    assert not touched, "a real robot has no contacts to look at"


def test_a_camera_that_is_unplugged_in_a_goal_ends_it_and_nothing_is_lost(stack: Stack) -> None:
    """The pose is held for 5 s, and then it is unknown: the arm does not go on to where the object may not be."""
    seen = Eyes(stack, "world/object_states")
    wait_for("the seen can", lambda: "can" in seen.states, 60.0)
    slow = Pick.Goal(object="can", max_velocity_scaling_factor=0.02)
    run = send_until(stack.client.send, slow, "approach", 60.0)
    try:
        assert _changed(stack, Transition.TRANSITION_DEACTIVATE)
        outcome = run.result(120.0).outcome
        assert outcome.code is Code.STALE_WORLD, outcome
        assert "the pose of 'can' is not known any more; check its camera or detector" in outcome.message
        again = stack.client.pick("can").outcome
        assert again.code is Code.STALE_WORLD, "nothing moves while it is not seen"
        wait_for("the can to be unknown to all", lambda: "can" not in seen.states, 60.0)
    finally:
        assert _changed(stack, Transition.TRANSITION_ACTIVATE)
    wait_for("the can again", lambda: "can" in seen.states, 60.0)
    # How often a pick succeeds on noisy poses is measured by `soak --perception detections`; here it is to begin.
    run = send_until(stack.client.send, Pick.Goal(object="can"), "approach", 60.0)
    run.cancel()
    assert run.result(60.0).outcome.code is Code.CANCELED


def _changed(stack: Stack, transition: int) -> bool:
    request = ChangeState.Request(transition=Transition(id=transition))
    return bool(stack.call(ChangeState, "sim_detector/change_state", request).success)


def _is_exact(seen: ObjectState, true: ObjectState) -> bool:
    distance_m, angle_rad = seen.world_T_object.distance_to(true.world_T_object)
    return distance_m < 1e-6 and angle_rad < 1e-6
