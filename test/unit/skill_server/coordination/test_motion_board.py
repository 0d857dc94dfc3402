"""The reservations: no motion is reserved that was not judged against all others, and waiting in a circle is found."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handiwork_core.model.trajectory import Trajectory
from skill_server.coordination.reservations import (
    LATE_S,
    ROW_RAD,
    MotionReservations,
    ReservedPath,
)

ARMS = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(st.sampled_from(ARMS), st.sampled_from(("look", "post", "begin", "end"))), max_size=60
)


def motion(to: float = 1.0, n: int = 101) -> Trajectory:
    q = np.linspace(0.0, to, n)[:, None] * np.ones((1, 2))
    return Trajectory(("j1", "j2"), np.linspace(0.0, 2.0, n), q, np.zeros_like(q), np.zeros_like(q))


@given(STEPS)
def test_a_motion_is_posted_only_if_it_was_judged_against_all_that_stand_there(
    steps: list[tuple[str, str]],
) -> None:
    board, looked = MotionReservations(ARMS), dict[str, tuple[int, dict[str, ReservedPath | None]]]()
    for arm, step in steps:
        if step == "look":
            looked[arm] = board.ways(arm)
        elif step == "post" and arm in looked:
            standing = {name: way for name, way in board.ways(arm)[1].items() if way is not None}
            if board.post(arm, motion(), looked[arm][0]):
                for name, way in standing.items():
                    seen = looked[arm][1][name]
                    assert seen is not None and seen.q is way.q
                assert board.moves(arm)
        elif step == "begin":
            board.begin(arm, 1.0)
        else:
            board.end(arm)
            assert not board.moves(arm)


def test_of_many_threads_one_posts_first() -> None:
    board, start, posted = MotionReservations(ARMS), threading.Barrier(3), list[str]()

    def run(arm: str) -> None:
        for _ in range(200):
            seen, ways = board.ways(arm)
            start.wait()
            if all(way is None for way in ways.values()) and board.post(arm, motion(), seen):
                posted.append(arm)
            start.wait()
            board.end(arm)
            start.wait()

    threads = [threading.Thread(target=run, args=(arm,)) for arm in ARMS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(posted) == 200  # exactly one of three in each round


@given(st.floats(0.0, 2.0), st.floats(0.0, LATE_S), st.floats(0.0, 5.0))
def test_what_is_left_of_a_way_holds_all_that_the_arm_may_still_come_to(
    at_s: float, late_s: float, begun_s: float
) -> None:
    board, trajectory = MotionReservations(ARMS), motion()
    assert board.post("a", trajectory, board.ways("a")[0])
    board.begin("a", begun_s)
    way = board.ways("b")[1]["a"]
    assert way is not None
    here = trajectory.sample(max(0.0, at_s - late_s))[0]
    left = way.left(begun_s + at_s, here)
    assert left[0].max() <= here.max() + ROW_RAD
    assert left[-1] == pytest.approx(trajectory.q[-1])
    assert np.abs(np.diff(way.q, axis=0)).max() <= ROW_RAD + 1e-9
    assert len(way.left(begun_s + 2.0 + LATE_S + 0.1, trajectory.q[-1])) == 1


def test_the_last_in_order_makes_room_in_a_circle_and_nobody_does_in_a_row() -> None:
    board = MotionReservations(ARMS)
    for arm, blocking_arm in (("a", "b"), ("b", "c")):
        board.wait(arm, blocking_arm, board.events(arm), 0.0)
    assert not any(board.should_yield(arm) for arm in ARMS)
    board.wait("c", "a", board.events("c"), 0.0)
    assert [board.should_yield(arm) for arm in ARMS] == [False, False, True]
    board.go_on("c")
    assert not any(board.should_yield(arm) for arm in ARMS)
    board.wait("b", "a", board.events("b"), 0.0)
    assert [board.should_yield(arm) for arm in ARMS] == [False, True, False]
    board.mark_irreversible("b", True)
    assert [board.should_yield(arm) for arm in ARMS] == [True, False, False]
    board.mark_irreversible("a", True)
    assert [board.should_yield(arm) for arm in ARMS] == [False, True, False]


def test_waiting_ends_with_the_motion_and_a_run_that_ends_leaves_nothing() -> None:
    board = MotionReservations(ARMS)
    board.enter("a")
    assert board.post("a", motion(), board.ways("a")[0])
    events, done = board.events("b"), threading.Event()
    thread = threading.Thread(target=lambda: board.wait("b", "a", events, 20.0) and done.set())
    thread.start()
    assert not done.wait(0.05)
    board.leave("a")
    assert done.wait(10.0)
    thread.join()
    assert not board.moves("a") and board.idle_s("a") < 10.0
    assert board.idle_s("c") == float("inf")
