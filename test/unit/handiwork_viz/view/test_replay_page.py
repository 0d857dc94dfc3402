"""The page of a bundle: the world, the call and the ghost at any time, and the pair that touched at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.bundles.bundle import Bundle, Call, Head, Seen
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_viz.view.model.replay import active_call, ghost_positions, instants_of, moment_html
from handiwork_viz.view.model.texts import cup_text
from handiwork_viz.view.ros.page.bundle_page import BundlePage
from handiwork_viz.view.ros.page.scene_view import RED, ring

pytest.importorskip("viser", reason="needs viser; pip install -r requirements/show.txt")
FOLDER = share_of("robot_description") / "robots/fr3"
CUBE = WorldObject("cube", (Shape(ShapeKind.BOX, frozen([0.05] * 3), Pose.identity()),))
BEGAN_S = 100.0


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(FOLDER)


def world(robot: Robot, at_s: float) -> World:
    arm = robot.arm("")
    state = ObjectState(Pose.of((0.4, 0.01 * at_s, 0.1)), np.zeros(3), np.zeros(3), at_s)
    q = dict(zip(arm.joint_names, (arm.home_q + 0.1 * at_s).tolist(), strict=True))
    return World(at_s, 0, {"cube": CUBE}, {"cube": state}, joints=JointState(at_s, q))


@pytest.fixture
def bundle(robot: Robot) -> Bundle:
    """A goal that begins at 100 s and ends at 102 s, in a motion that touches the cube."""
    names = robot.arm("").joint_names
    rows = np.linspace(np.zeros(len(names)), np.ones(len(names)), 3)
    way = Trajectory(names, np.array([0.0, 0.5, 1.0]), rows, rows, rows)
    pair = BodyPair("fr3/fr3_hand", "cube")
    outcome = Outcome(Code.PATH_TOLERANCE, "left its path", "approach", "", pair)
    head = Head("pick", "pick", "fr3_arm", "fr3", str(FOLDER), outcome, "2026-01-02T12:00:00")
    follow = Call(
        "follow", "fr3_arm", 101.0, 102.0, way, Outcome(Code.PATH_TOLERANCE, "left"), world(robot, 1.0)
    )
    seen = tuple(Seen(BEGAN_S + at_s, world(robot, at_s)) for at_s in (-1.0, 0.0, 2.0))
    return Bundle(head, began_s=BEGAN_S, ended_s=102.0, calls=(follow,), seen=seen)


def test_the_snapshots_of_calls_stand_between_the_others(bundle: Bundle) -> None:
    assert [one.at_s for one in instants_of(bundle)] == [-1.0, 0.0, 1.0, 2.0]


def test_each_time_has_its_call_in_words_and_its_ghost(bundle: Bundle) -> None:
    follow = bundle.calls[0]
    assert active_call(bundle, 0.5) is None
    assert active_call(bundle, 1.5) is follow
    names = follow.request.joint_names
    assert ghost_positions(follow, (), 1.5) == dict.fromkeys(names, 1.0)
    assert ghost_positions(follow, (follow.request,), 0.5) == pytest.approx(dict.fromkeys(names, 0.5))
    assert ghost_positions(None, (), 0.5) == {}
    assert "fr3_arm follows a motion: PATH_TOLERANCE" in moment_html(bundle, follow, 1.5)
    assert "before the goal" in moment_html(bundle, None, -0.5)
    unanswered = replace(follow, answer=None, arm="<b>")
    assert "&lt;b&gt; follows a motion: no answer" in moment_html(bundle, unanswered, 1.5)


@pytest.fixture
def page(bundle: Bundle, robot: Robot) -> Iterator[BundlePage]:
    made = BundlePage(bundle, robot, FOLDER, ["what <happened>"], (), "127.0.0.1", 0)
    yield made
    made.close()


def test_the_slider_shows_the_recorded_world(page: BundlePage) -> None:
    scene = page._scene
    hand, cube, mesh = scene._roots["fr3/fr3_hand"], scene._roots["cube"], scene._meshes["cube"]
    assert mesh.color == RED  # the page opens at the end, where they touched
    page._time.value = 0.0
    begun = np.array(hand.position)
    assert cube.position == pytest.approx([0.4, 0.0, 0.1])
    assert scene.marked == ()
    page._time.value = 1.2
    assert cube.position == pytest.approx([0.4, 0.01, 0.1])
    assert np.linalg.norm(np.array(hand.position) - begun) > 0.01
    assert scene._ghosts["fr3_hand"].visible
    page._time.value = 2.0
    assert scene.marked == ("fr3/fr3_hand", "cube")


def test_a_cup_says_what_it_does_and_has_a_rim_across_its_axis() -> None:
    assert cup_text(SuctionState(0.0, on=False, sealed=False)) == "off"
    assert cup_text(SuctionState(0.0, on=True, sealed=False, why="gap of 4 mm")) == "on, gap of 4 mm"
    assert cup_text(SuctionState(0.0, on=True, sealed=True, object="box")) == "holds box"
    rim = ring(0.02, axis=2)
    assert np.all(rim[..., 2] == 0.0)
    assert np.linalg.norm(rim, axis=2) == pytest.approx(0.02)
