"""Two arms that need each other's place, under hundreds of interleavings: one makes room, both reach their places."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.trajectory import Trajectory
from skill_server.coordination import arm_coordinator, reservations
from skill_server.coordination.arm_coordinator import ArmTraffic
from skill_server.coordination.reservations import MotionReservations
from support.interleaving.interleaver import Interleaver

MODULES = [arm_coordinator, reservations]
PLACES = {"left": ("here", "there"), "right": ("there", "here")}
PATIENCE_S = 60.0
ROUNDS = 2


def motion() -> Trajectory:
    q = np.linspace(0.0, 1.0, 3)[:, None]
    return Trajectory(("j",), np.array([0.0, 1.0, 2.0]), q, q * 0, q * 0)


class Cell:
    """Two places, each for one arm; an arm moves from one to the other and home."""

    def __init__(self, run: Interleaver) -> None:
        self.run, self.board = run, MotionReservations(tuple(PLACES))
        self.at: dict[str, str] = {}
        self.going: dict[str, str] = {}
        self.made_room: list[str] = []
        self.done: list[str] = []

    def traffic(self, arm: str) -> ArmTraffic:
        """Return an arm's access to the others.

        Args:
            arm: Name of the arm.
        """
        spec: Any = SimpleNamespace(name=arm)
        clock: Any = SimpleNamespace(now_s=lambda: self.run.now_s)
        nothing: Any = None
        return ArmTraffic(self.board, nothing, spec, nothing, clock, lambda _arm: {}, PATIENCE_S)

    def serve(self, arm: str) -> None:
        """Run all rounds of an arm: visit its places, make room when required, and move home.

        Args:
            arm: Name of the arm.
        """
        for _ in range(ROUNDS):
            traffic = self.traffic(arm)
            traffic.enter(lambda _progress: None)(Progress("work", 0, 1, 0.0))
            while not all(self.go(arm, place, traffic) for place in PLACES[arm]):
                self.made_room.append(arm)
                self.go_home(arm, traffic)
                traffic.yield_until_clear(lambda: False)
            self.go_home(arm, traffic)
            self.done.append(arm)
            traffic.leave()

    def go(self, arm: str, place: str, traffic: ArmTraffic) -> bool:
        """Move to a place when it is free.

        Args:
            arm: Name of the arm.
            place: Name of the place.
            traffic: The arm's access to the others.

        Returns:
            False when this arm must make room.
        """
        while True:
            events = self.board.events(arm)
            seen, ways = self.board.ways(arm)
            blocking_arm = self.at.get(place, "")
            blocking_arm = next(
                (o for o, way in ways.items() if way and self.going.get(o) == place), blocking_arm
            )
            if blocking_arm in ("", arm):
                self.going[arm] = place
                if traffic.post(motion(), seen):
                    traffic.go_on()
                    self.move(arm, place, traffic)
                    return True
            elif not traffic.wait(blocking_arm, None, events, lambda: False):
                assert "makes room" in traffic.why, f"seed {self.run.seed}: {arm}: {traffic.why}"
                return False

    def go_home(self, arm: str, traffic: ArmTraffic) -> None:
        """Move home, which is no other arm's place.

        Args:
            arm: Name of the arm.
            traffic: The arm's access to the others.
        """
        self.going[arm] = ""
        while not traffic.post(motion(), self.board.ways(arm)[0]):
            pass
        self.move(arm, "", traffic)

    def move(self, arm: str, place: str, traffic: ArmTraffic) -> None:
        """Occupy the new place, move, leave the old one; at home an arm occupies none.

        Args:
            arm: Name of the arm.
            place: Name of the place.
            traffic: The arm's access to the others.
        """
        if place:
            assert self.at.get(place, arm) == arm, f"seed {self.run.seed}: two arms in one place"
            self.at[place] = arm
        traffic.begin()
        self.run.sleep(self.run.draw([0.0, 0.1, 0.7]))
        for other in [name for name, who in self.at.items() if who == arm and name != place]:
            del self.at[other]
        traffic.end()


def played(seed: int) -> Cell:
    """Run both arms, and check that all rounds are done.

    Args:
        seed: Seed of the interleaving.
    """
    run = Interleaver(seed, MODULES)
    with run.patched():
        cell = Cell(run)
        for arm in PLACES:
            run.spawn(lambda arm=arm: cell.serve(arm), arm)  # type: ignore[misc]
        run.run()
    assert sorted(cell.done) == sorted(list(PLACES) * ROUNDS), f"seed {seed}"
    assert not any(cell.board.moves(arm) or cell.board.waits_for(arm) for arm in PLACES), f"seed {seed}"
    return cell


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_arms_that_need_each_others_place_come_through(first: int) -> None:
    rooms = [played(seed).made_room for seed in range(first, first + 50)]
    assert any(rooms), "in no interleaving did they wait for each other"
    # A busy arm may also be the first in order: then its partner has continued meanwhile, and both continue.
    assert all(len(made) <= 2 * ROUNDS for made in rooms)
