"""The goals that a page shows, what of the scene it sends, and what it says."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Contact, World
from handiwork_viz.show.page_guard import keeps_token, offers_token
from handiwork_viz.view.model.goals import KEPT, LABELS, STAGES, GoalBoard, GoalEnd, GoalState, StageView
from handiwork_viz.view.model.scene_state import Moved, Pace, bodies_of, contact_lines, positions_along
from handiwork_viz.view.model.texts import conditions_html, goals_html, network_html, nodes_html
from handiwork_viz.view.ros.page.server import address_of, token_for


def running(board: GoalBoard, goal_id: str = "a", at_s: float = 0.0) -> None:
    assert board.status(goal_id, "run_skill", GoalState.EXECUTING, at_s)


def test_a_goal_has_its_stages_with_their_times() -> None:
    board = GoalBoard()
    board.name("a", "pick cube")
    running(board)
    board.feedback("a", "select", 0, 3, 0.1, 0.2, 1.0)
    board.feedback("a", "approach", 1, 3, 0.4, 0.5, 3.0)
    goal = board.running()[0]
    assert (goal.title, goal.stage, goal.fraction) == ("pick cube", "approach", 0.4)
    assert [(one.name, one.duration_s) for one in goal.stages] == [("select", 2.0)]
    board.end("a", GoalState.ABORTED, GoalEnd("PATH_BLOCKED", "it touched", BodyPair("fr3/hand", "bin")), 4.0)
    ended = board.all()[0]
    assert not board.running() and bodies_of(ended.end and ended.end.blocking) == ("fr3/hand", "bin")
    text = goals_html(board.all(), 9.0)
    assert "ABORTED" in text and "it touched" in text and "4.0 s" in text


def test_goals_of_others_are_shown_and_old_ones_are_not() -> None:
    board = GoalBoard()
    assert not board.status("old", "pick", GoalState.SUCCEEDED, 0.0)
    assert board.status("other", "pick", GoalState.ACCEPTED, 0.0)
    assert not board.status("other", "pick", GoalState.CANCELING, 1.0)
    assert board.running()[0].title == "pick"
    board.status("other", "pick", GoalState.CANCELED, 2.0)
    assert not board.running()
    for number in range(2 * KEPT):
        running(board, str(number))
        board.status(str(number), "run_skill", GoalState.SUCCEEDED, 1.0)
    assert len(board.all()) == KEPT


def test_an_endless_goal_keeps_the_newest_stages_and_all_planning_time() -> None:
    board = GoalBoard()
    running(board)
    for number in range(3 * STAGES):
        board.feedback("a", f"stage {number}", number, 0, 0.0, 0.5 * number, float(number))
    stages = board.running()[0].stages
    assert [one.name for one in stages] == [f"stage {n}" for n in range(2 * STAGES - 1, 3 * STAGES - 1)]
    assert {one.planning_time_s for one in stages} == {0.5}
    many = tuple(StageView(str(n), 1.0, 0.0) for n in range(3 * STAGES))
    board.end("a", GoalState.SUCCEEDED, GoalEnd("OK", stages=many), 1.0)
    ended = board.all()[0]
    assert ended.end is not None
    assert len(ended.stages) == len(ended.end.stages) == STAGES


def test_labels_of_goals_that_never_came_are_bounded() -> None:
    board = GoalBoard()
    for number in range(3 * LABELS):
        board.name(str(number), f"pick {number}")
    running(board, "0")
    running(board, str(3 * LABELS - 1))
    assert [goal.title for goal in board.running()] == [f"pick {3 * LABELS - 1}", "run_skill"]


def test_goals_end_with_their_server() -> None:
    board = GoalBoard()
    running(board)
    board.lose(3.0, "the server is gone")
    assert not board.running() and "the server is gone" in goals_html(board.all(), 4.0)


def test_only_what_has_moved_is_sent() -> None:
    moved, here = Moved(), {"cube": Pose.of((0.1, 0.0, 0.0)), "bin": Pose.identity()}
    assert dict(moved.changes(here)).keys() == {"cube", "bin"}
    assert not list(moved.changes(here))
    there = {**here, "cube": Pose.of((0.1, 0.0, 2e-3))}
    assert [name for name, _ in moved.changes(there)] == ["cube"]
    moved.forget("bin")
    assert [name for name, _ in moved.changes(there)] == ["bin"]


def test_contacts_become_points_with_forces() -> None:
    contact = Contact("cube", "table", np.array([0.0, 0.0, 5.0]), np.array([0.3, 0.0, 0.1]))
    found = contact_lines(World(0.0, contacts=(contact,)))
    assert np.allclose(found.lines[0], [[0.3, 0.0, 0.1], [0.3, 0.0, 0.12]])
    assert contact_lines(World(0.0)).points.shape == (0, 3)


def test_the_pace_of_time_is_measured() -> None:
    pace = Pace()
    for step in range(5):
        pace.see(0.5 * step, 0.25 * step)
    assert pace.text() == "2.00 x real time"
    for step in range(5, 12):
        pace.see(2.0, 0.25 * step)
    assert pace.is_paused and pace.text() == "paused"


def test_a_preview_is_gone_through_motion_by_motion() -> None:
    def motion(low: float, high: float) -> Trajectory:
        zero = np.zeros((2, 1))
        return Trajectory(("j",), np.array([0.0, 1.0]), np.array([[low], [high]]), zero, zero)

    motions = [motion(0.0, 1.0), motion(1.0, 3.0)]
    assert [positions_along(motions, share)["j"] for share in (0.0, 0.5, 1.0)] == pytest.approx(
        [0.0, 1.0, 3.0]
    )
    assert positions_along([], 0.5) == {}


def test_texts_of_others_are_escaped() -> None:
    times = SimpleNamespace(sec=1, nanosec=0)
    evil = SimpleNamespace(
        key="<b>", value=2, margin=0.1, since=times, reason="<script>", evidence=[], expression="a()"
    )
    text = conditions_html([evil], 3.0)
    assert "TRUE" in text and "for 2 s" in text
    for made in (text, network_html("> <script>\n  other"), nodes_html({"<script>": (3, "")}, "1", {})):
        assert "<script>" not in made and "&lt;script&gt;" in made


def test_a_token_guards_an_address_that_others_reach() -> None:
    assert token_for("127.0.0.1") == ""
    token = token_for("0.0.0.0")
    assert len(token) >= 32 and token != token_for("0.0.0.0")
    assert address_of("0.0.0.0", 8080, token).endswith(f"/?token={token}")
    assert offers_token(f"/?token={token}", token)
    assert not offers_token("/?token=", token) and not offers_token("/", token)
    assert keeps_token([f"a=b; handiwork_token={token}"], token)
    assert not keeps_token(["handiwork_token=x"], token) and not keeps_token([], token)
