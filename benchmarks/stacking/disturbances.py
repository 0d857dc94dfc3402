"""What is done to the cell while it works; each comes once per episode, at a time that the seed chooses."""

from __future__ import annotations

import enum

import numpy as np

from decider_node.stacking.bin import LENGTH_M, WIDTH_M
from decider_node.stacking.cell import BELT_Z_M
from handiwork_core.geometry import Pose, Rotation

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


PUSH_N, PUSH_S = 60.0, 0.15
SIDES = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
"""Which wall of a bin is on top."""

KILLED_IN = (("place_bin",), ("flip_bin", "place_bin"), ("pick_bin",))
"""What the network is at when it is killed; a bin that comes bottom up is not flipped."""


class Disturbance:
    """Waits for its bin and its moment, then acts once.

    ``nudge``: the bin on the belt is pushed and turned while the arm reaches for it. ``drop``: the cup lets go in
    mid-air on the way to the stack. ``suction-lost``: the seal opens right after the bin was lifted. ``moved``: a bin
    that is being placed is pushed sideways with 60 N while it goes down (even seeds), or shifted by 25 mm and turned
    right after it was let go (odd seeds). ``killed``: network, context and controller are thrown away, the arm is left
    alone for 2 s, then new ones begin knowing nothing; the cup keeps what it holds. ``on-side``: a bin comes lying on
    one of its sides.
    """

    def __init__(self, kind: Kind, seed: int, places: int) -> None:
        rng = np.random.default_rng(seed + 1000)
        self.kind, self.done = kind, kind is Kind.NONE
        self._after = int(rng.integers(0, places))
        self._angle = float(rng.uniform(-0.5, 0.5))
        self._side = float(rng.choice([-1.0, 1.0]))
        self._late = bool(seed % 2)
        self._pushed, self._push_until_s = "", 0.0

    def __call__(self, episode: Episode) -> None:
        """Acts when its moment is there."""
        if self._pushed and episode.time_s > self._push_until_s:
            episode.cell.world.data.body(self._pushed).xfrc_applied[:] = 0.0
            self._pushed = ""
        if self.done or len(episode.context.stacked) < self._after or episode.context.active is None:
            return
        path = episode.network.descent.path
        self.done = self._act(episode, path[-1].name if path else "", episode.context.active)

    def _act(self, episode: Episode, leaf: str, name: str) -> bool:
        context, cell = episode.context, episode.cell
        height = float(context.tip.translation_m[2])
        if self.kind is Kind.NUDGE and leaf == "pick_bin" and not context.is_attached:
            pose = context.bins[name].world_T_object
            near = np.linalg.norm(context.tip.translation_m[:2] - pose.translation_m[:2]) < 0.15
            if not near or height - pose.translation_m[2] < 0.1:
                return False
            turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), self._angle)
            at = pose.translation_m + (0.05 * self._side, 0.06, 0.005)
            cell.world.set_object_pose(name, Pose.of(at, turn @ pose.rotation))
            return True
        if self.kind is Kind.DROP and leaf == "place_bin" and context.tip.translation_m[1] < 0.1:
            cell.suck(on=False)
            return True
        if self.kind is Kind.SUCTION_LOST and leaf in ("place_bin", "flip_bin") and context.is_attached:
            cell.cup.let_go("the vacuum failed")
            return True
        if self.kind is Kind.MOVED and leaf == "place_bin" and context.target is not None:
            return self._shift(episode, name) if self._late else self._push(episode, name, height)
        if self.kind is Kind.KILLED and leaf in KILLED_IN[self._after % 3]:
            episode.begin_anew(2.0)
            return True
        if self.kind is Kind.ON_SIDE:
            return self._lay_down(episode)
        return False

    def _push(self, episode: Episode, name: str, height: float) -> bool:
        target = episode.context.target
        if target is None or not 0.03 < height - target.translation_m[2] < 0.08:
            return False
        self._pushed, self._push_until_s = name, episode.time_s + PUSH_S
        episode.cell.world.data.body(name).xfrc_applied[:2] = (-PUSH_N, 0.5 * self._side * PUSH_N)
        return True

    def _shift(self, episode: Episode, name: str) -> bool:
        locked = episode.network.descent.locked_at is not None
        if not locked or episode.cell.cup.object or episode.cell.cup.on:
            return False
        pose = episode.context.bins[name].world_T_object
        turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), 0.2 * self._angle)
        at = pose.translation_m + (-0.02, 0.015, 0.003)  # away from the neighbours, which are filled first
        episode.cell.world.set_object_pose(name, Pose.of(at, turn @ pose.rotation))
        return True

    def _lay_down(self, episode: Episode) -> bool:
        bins = episode.cell.bins()
        coming = [n for n in bins if bins[n].world_T_object.translation_m[1] > 1.0]
        if not coming:
            return False
        pose = bins[coming[-1]].world_T_object
        x, y = SIDES[self._after % len(SIDES)]
        turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), 6.0 * self._angle)
        up = Rotation.from_axis_angle((y, -x, 0.0), 0.5 * np.pi)  # the axis (x, y, 0) goes to the world's z
        at = (
            pose.translation_m[0],
            pose.translation_m[1],
            BELT_Z_M + 0.5 * abs(x) * LENGTH_M + 0.5 * abs(y) * WIDTH_M,
        )
        episode.cell.world.set_object_pose(coming[-1], Pose.of(np.array(at) + (0.0, 0.0, 0.003), turn @ up))
        return True
