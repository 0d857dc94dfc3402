"""Disturbances of the cell while it works; each comes once per episode, at a time that the seed chooses."""

from __future__ import annotations

import enum
from collections.abc import Callable

import numpy as np

from decider_node.stacking.bin import LENGTH_M, WIDTH_M, open_side
from handiwork_core.model.geometry import Pose, Rotation

from .episode import Episode


class Kind(enum.Enum):
    """Disturbances by name."""

    NONE = "none"
    NUDGE = "nudge"
    DROP = "drop"
    SUCTION_LOST = "suction-lost"
    MOVED = "moved"
    KILLED = "killed"
    ON_SIDE = "on-side"
    TOUCHING = "touching"
    BELT = "belt"
    REMOVED = "removed"
    BLIND = "blind"


UP = (0.0, 0.0, 1.0)
PUSH_N, PUSH_S = 60.0, 0.15
SIDES = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
"""The wall of a bin that is on top."""

KILLED_IN = (("place_bin",), ("flip_bin", "place_bin"), ("pick_bin",))
"""The behavior of the network at which it is killed; a bin that comes bottom up is not flipped."""


class Disturbance:
    """Waits for its bin and its moment, then acts once.

    * ``nudge``: the bin on the belt is pushed and turned while the arm reaches for it.
    * ``drop``: the cup lets go in mid-air on the way to the stack.
    * ``suction-lost``: the seal opens right after the bin was lifted.
    * ``moved``: a bin that is being placed is pushed sideways with 60 N while it goes down (even seeds), or shifted by
      25 mm and turned right after it was let go (odd seeds).
    * ``killed``: network, context and controller are deleted, the arm gets no command for 2 s, then new ones begin
      without any state; the cup keeps the bin that it holds.
    * ``on-side``: a bin comes lying on one of its sides.
    * ``touching``: two bins come side against side.
    * ``belt``: the belt is driven by hand for a second, forward or back, while the arm reaches for the bin on it.
    * ``removed``: a bin is taken out of the stack and out of the cell while the next one is carried.
    * ``blind``: the stream of bin poses stops for 1 to 2 s, and the bin that the arm reaches for is shifted meanwhile
      (even seeds), or the arm carries one (odd seeds).
    """

    def __init__(self, kind: Kind, seed: int, places: int) -> None:
        rng = np.random.default_rng(seed + 1000)  # beside the cell's own
        self.kind, self.done = kind, kind is Kind.NONE
        self._after = int(rng.integers(0, places))
        self._angle = float(rng.uniform(-0.5, 0.5))
        self._side = float(rng.choice([-1.0, 1.0]))
        self._late = bool(seed % 2)
        self._pushed, self._push_until_s = "", 0.0
        self._belt_mps = self._side * float(rng.uniform(0.1, 0.3))
        self._lasts_s = float(rng.uniform(1.0, 2.0))
        self._belt_until_s = 0.0

    def __call__(self, episode: Episode) -> None:
        """Act when the moment of the disturbance has come.

        Args:
            episode: The episode.
        """
        if self._pushed and episode.time_s > self._push_until_s:
            episode.cell.world.data.body(self._pushed).xfrc_applied[:] = 0.0
            self._pushed = ""
        self._drive_belt(episode)
        if self.done or len(episode.context.stacked) < self._after or episode.context.active is None:
            return
        path = episode.network.descent.path
        self.done = self._act(episode, path[-1].name if path else "", episode.context.active)

    def _act(self, episode: Episode, leaf: str, name: str) -> bool:
        """Do the disturbance of this kind, if now is its moment; return whether it was."""
        acts: dict[Kind, Callable[[Episode, str, str], bool]] = {
            Kind.NUDGE: self._nudge,
            Kind.DROP: self._drop,
            Kind.SUCTION_LOST: self._lose_suction,
            Kind.MOVED: self._shift if self._late else self._push,
            Kind.KILLED: self._kill,
            Kind.ON_SIDE: self._lay_down,
            Kind.TOUCHING: self._bring_two,
            Kind.BELT: self._take_belt,
            Kind.REMOVED: self._remove,
            Kind.BLIND: self._blind,
        }
        return acts[self.kind](episode, leaf, name)

    def _nudge(self, episode: Episode, leaf: str, name: str) -> bool:
        if not _reaches_for(episode, leaf, name):
            return False
        pose = episode.context.bins[name].world_T_object
        turn = Rotation.from_axis_angle(UP, self._angle)
        at = pose.translation_m + (0.05 * self._side, 0.06, 0.005)
        episode.cell.world.set_object_pose(name, Pose.of(at, turn @ pose.rotation))
        return True

    def _drop(self, episode: Episode, leaf: str, name: str) -> bool:
        if leaf != "place_bin" or episode.context.tip.translation_m[1] >= 0.1:
            return False
        episode.cell.suck(on=False)
        return True

    def _lose_suction(self, episode: Episode, leaf: str, name: str) -> bool:
        if leaf not in ("place_bin", "flip_bin") or not episode.context.is_attached:
            return False
        episode.cell.cup.let_go("the vacuum failed")
        return True

    def _kill(self, episode: Episode, leaf: str, name: str) -> bool:
        if leaf not in KILLED_IN[self._after % 3]:
            return False
        episode.restart(2.0)
        return True

    def _bring_two(self, episode: Episode, leaf: str, name: str) -> bool:
        """Let another bin, of the same heading, touch the last one from behind, well on the belt."""
        cell, first = episode.cell, _coming(episode)
        if first is None:
            return False
        second = cell.feed()
        if second is None:
            return False
        bins = cell.true_bins()
        pose, its = bins[first].world_T_object, bins[second].world_T_object
        axes = pose.rotation.matrix()[:, :2] * (LENGTH_M + 0.001, WIDTH_M + 0.001)
        beside = [np.sign(axis[1]) * axis + pose.translation_m for axis in axes.T]
        at = min(beside, key=lambda p: abs(p[0]))
        over = open_side(pose)[2] * open_side(its)[2] < 0.0
        turn = Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi if over else 0.0)
        cell.world.set_object_pose(second, Pose.of(at, pose.rotation @ turn))
        return True

    def _take_belt(self, episode: Episode, leaf: str, name: str) -> bool:
        if not _reaches_for(episode, leaf, name) or name not in _on_belt(episode):
            return False
        self._belt_until_s = episode.time_s + 0.5 * self._lasts_s
        return True

    def _drive_belt(self, episode: Episode) -> None:
        if episode.time_s < self._belt_until_s:
            episode.cell.drive_belt(self._belt_mps)
        elif self._belt_until_s:
            self._belt_until_s = 0.0
            episode.cell.release_belt()

    def _remove(self, episode: Episode, leaf: str, name: str) -> bool:
        stacked = episode.context.stacked
        if leaf != "place_bin" or not episode.context.is_attached or not stacked:
            return False
        episode.cell.take_out(stacked[-1 - self._after // 2])
        return True

    def _blind(self, episode: Episode, leaf: str, name: str) -> bool:
        cell = episode.cell
        if self._late:
            if leaf != "place_bin" or not episode.context.is_attached:
                return False
            cell.lose_sight(self._lasts_s)
            return True
        if not _reaches_for(episode, leaf, name):
            return False
        cell.lose_sight(self._lasts_s)
        pose = cell.true_bins()[name].world_T_object
        turn = Rotation.from_axis_angle(UP, 0.5 * self._angle)
        at = pose.translation_m + (0.03 * self._side, 0.03, 0.003)
        cell.world.set_object_pose(name, Pose.of(at, turn @ pose.rotation))
        return True

    def _push(self, episode: Episode, leaf: str, name: str) -> bool:
        context = episode.context
        if leaf != "place_bin" or context.target is None:
            return False
        if not 0.03 < context.tip.translation_m[2] - context.target.translation_m[2] < 0.08:
            return False
        self._pushed, self._push_until_s = name, episode.time_s + PUSH_S
        episode.cell.world.data.body(name).xfrc_applied[:2] = (-PUSH_N, 0.5 * self._side * PUSH_N)
        return True

    def _shift(self, episode: Episode, leaf: str, name: str) -> bool:
        locked = leaf == "place_bin" and episode.network.descent.locked_at is not None
        if not locked or episode.cell.cup.object or episode.cell.cup.on:
            return False
        pose = episode.context.bins[name].world_T_object
        turn = Rotation.from_axis_angle(UP, 0.2 * self._angle)
        at = pose.translation_m + (-0.02, 0.015, 0.003)  # away from the neighbours, which are filled first
        episode.cell.world.set_object_pose(name, Pose.of(at, turn @ pose.rotation))
        return True

    def _lay_down(self, episode: Episode, leaf: str, name: str) -> bool:
        coming = _coming(episode)
        if coming is None:
            return False
        pose = episode.cell.true_bins()[coming].world_T_object
        x, y = SIDES[self._after % len(SIDES)]
        turn = Rotation.from_axis_angle(UP, 6.0 * self._angle)
        over = Rotation.from_axis_angle((y, -x, 0.0), 0.5 * np.pi)  # the axis (x, y, 0) goes to the world's z
        z = episode.cell.site.belt.top_z + 0.5 * abs(x) * LENGTH_M + 0.5 * abs(y) * WIDTH_M
        at = np.array([*pose.translation_m[:2], z + 0.003])
        episode.cell.world.set_object_pose(coming, Pose.of(at, turn @ over))
        return True


def _coming(episode: Episode) -> str | None:
    """Return the bin that was put onto the belt last and is still far back."""
    bins = episode.cell.true_bins()
    coming = [n for n in bins if bins[n].world_T_object.translation_m[1] > 1.0 and n in _on_belt(episode)]
    return coming[-1] if coming else None


def _on_belt(episode: Episode) -> list[str]:
    bins = episode.cell.true_bins()
    at = {n: bins[n].world_T_object.translation_m for n in bins}
    belt = episode.cell.site.belt
    return [
        n for n in bins if belt.end_y < at[n][1] < belt.start_y and abs(at[n][0] - belt.x) < 0.5 * belt.width
    ]


def _reaches_for(episode: Episode, leaf: str, name: str) -> bool:
    """Check whether the arm is above its bin, 10 cm or more, and near."""
    if leaf != "pick_bin" or episode.context.is_attached:
        return False
    away = episode.context.tip.translation_m - episode.context.bins[name].world_T_object.translation_m
    return bool(np.linalg.norm(away[:2]) < 0.15 and away[2] >= 0.1)
