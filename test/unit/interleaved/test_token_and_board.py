"""Tokens and the motion board under hundreds of interleavings."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from handiwork_core.contracts import skill
from handiwork_core.contracts.skill import Stopped, Token
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from skill_server.coordination import reservations as board_module
from skill_server.coordination.reservations import MotionReservations
from support.interleaving.interleaver import Interleaver

HERE = sys.modules[__name__]
SEEDS = range(300)
REASONS = (Code.CANCELED, Code.PREEMPTED, Code.SHUTDOWN)


class FormerToken:
    """A former version of tokens: two threads that set one at the same time could both succeed."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.reason = Code.OK

    def set(self, reason: Code) -> None:
        """Set the token, if it is not set yet.

        Args:
            reason: The reason that readers get.
        """
        if not self._event.is_set():
            self.reason = reason
            self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()


def reasons_seen(kind: Callable[[], Token | FormerToken], seed: int) -> set[Code]:
    """Return the reasons that a reader gets of one token that three threads set.

    Args:
        kind: Class of the token.
        seed: Seed of the interleaving.
    """
    run, seen = Interleaver(seed, [skill, HERE]), set[Code]()
    with run.patched():
        token = kind()

        def read() -> None:
            for _ in range(20):
                if token.is_set():
                    seen.add(token.reason)
                run.give_way()

        for reason in REASONS:
            run.spawn(lambda reason=reason: token.set(reason), reason.name)  # type: ignore[misc]
        run.spawn(read, "reader")
        run.run()
    return seen | {token.reason}


def test_the_reason_of_a_token_never_changes() -> None:
    assert all(len(reasons_seen(Token, seed)) == 1 for seed in SEEDS)


def test_the_runner_finds_the_race_of_former_tokens() -> None:
    bad = [seed for seed in SEEDS if len(reasons_seen(FormerToken, seed)) > 1]
    assert bad
    assert len(reasons_seen(FormerToken, bad[0])) > 1, "found again by its seed"


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_every_child_is_set_and_revoked_with_its_parent(first: int) -> None:
    for seed in range(first, first + 50):
        run, children = Interleaver(seed, [skill]), list[Token]()
        with run.patched():
            parent = Token()

            def grow(parent: Token = parent, children: list[Token] = children) -> None:
                for _ in range(3):
                    child = parent.child()
                    children.extend((child, child.child()))

            run.spawn(grow, "grow")
            run.spawn(lambda: parent.set(Code.CANCELED, "why"), "set")  # noqa: B023 - run within this turn
            run.spawn(parent.revoke, "revoke")
            run.run()
        for child in children:
            assert child.is_set() and child.is_revoked, f"seed {seed}"
            assert (child.reason, child.detail) == (parent.reason, parent.detail), f"seed {seed}"


def motion() -> Trajectory:
    q = np.linspace(0.0, 1.0, 3)[:, None]
    return Trajectory(("j",), np.array([0.0, 1.0, 2.0]), q, q * 0, q * 0)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_no_two_arms_post_motions_that_were_not_judged_against_each_other(first: int) -> None:
    for seed in range(first, first + 50):
        run, arms = Interleaver(seed, [board_module]), ("a", "b", "c")
        moving: list[str] = []
        with run.patched():
            board = MotionReservations(arms)

            def drive(
                arm: str, board: MotionReservations = board, moving: list[str] = moving, seed: int = seed
            ) -> None:
                visit = board.enter(arm)
                for _ in range(2):
                    while True:
                        events = board.events(arm)
                        seen, ways = board.ways(arm)
                        busy = [other for other, way in ways.items() if way is not None]
                        if not busy and board.post(arm, motion(), seen, visit):
                            break
                        if busy:
                            board.wait(arm, busy[0], events, 1.0, visit)
                    board.go_on(arm, visit)
                    moving.append(arm)
                    assert moving == [arm], f"seed {seed}: {moving} at once"
                    board.begin(arm, 0.0, visit)
                    moving.remove(arm)
                    board.end(arm, visit)
                board.leave(arm, visit)

            for arm in arms:
                run.spawn(lambda arm=arm: drive(arm), arm)  # type: ignore[misc]
            run.run()
            assert not any(board.moves(arm) or board.waits_for(arm) for arm in arms), f"seed {seed}"


def test_an_evicted_run_leaves_no_motion_behind_in_any_interleaving() -> None:
    for seed in SEEDS:
        run = Interleaver(seed, [board_module])
        with run.patched():
            board = MotionReservations(("a", "b"))
            old = board.enter("a")

            def abandoned(board: MotionReservations = board, old: int = old) -> None:
                try:
                    for _ in range(3):
                        board.post("a", motion(), board.ways("a")[0], old)
                        board.begin("a", 0.0, old)
                except Stopped:
                    pass
                finally:
                    board.leave("a", old)

            def successor(board: MotionReservations = board) -> None:
                board.evict("a")
                visit = board.enter("a")
                assert board.post("a", motion(), board.ways("a")[0], visit)
                board.mark_irreversible("a", True, visit)

            run.spawn(abandoned, "abandoned")
            run.spawn(successor, "successor")
            run.run()
            assert board.moves("a") and board.idle_s("a") == 0.0, f"seed {seed}"
            assert board.ways("b")[1]["a"].begun_s is None, (
                f"seed {seed}: the old run began the new one's motion"
            )
