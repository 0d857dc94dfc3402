"""What is done to the cell while it works; each comes once per episode, at a time that the seed chooses."""

from __future__ import annotations

import enum

import numpy as np

from handiwork_core.geometry import Pose, Rotation

from .episode import Episode


class Kind(enum.Enum):
    """Disturbances by name."""

    NONE = "none"
    NUDGE = "nudge"
    DROP = "drop"
    SUCTION_LOST = "suction-lost"
    MOVED = "moved"
    RESET = "reset"


class Disturbance:
    """Waits for its bin and its moment, then acts once.

    ``nudge``: the bin on the belt is pushed and turned while the arm reaches for it. ``drop``: the cup lets go in
    mid-air on the way to the stack. ``suction-lost``: the seal opens right after the bin was lifted. ``moved``: a bin
    is knocked sideways while it goes down onto its place. ``reset``: the network fails and is reset, as when the node
    is killed and comes back; the cup keeps what it holds.
    """

    def __init__(self, kind: Kind, seed: int, places: int) -> None:
        rng = np.random.default_rng(seed + 1000)
        self.kind, self.done = kind, kind is Kind.NONE
        self._after = int(rng.integers(0, places))
        self._angle = float(rng.uniform(-0.5, 0.5))
        self._side = float(rng.choice([-1.0, 1.0]))

    def __call__(self, episode: Episode) -> None:
        """Acts when its moment is there."""
        if self.done or len(episode.context.stacked) < self._after or episode.context.active is None:
            return
        path = episode.network.descent.path
        self.done = self._act(episode, path[-1].name if path else "", episode.context.active)

    def _act(self, episode: Episode, leaf: str, name: str) -> bool:
        context, cell = episode.context, episode.cell
        height = float(context.tip.translation_m[2])
        if self.kind is Kind.NUDGE and leaf == "pick_bin" and not context.is_attached:
            pose = context.bins[name].world_T_object
            near = np.linalg.norm(context.tip.translation_m[:2] - pose.translation_m[:2]) < 0.05
            if not near or height - pose.translation_m[2] < 0.15:
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
            low = height - context.target.translation_m[2]
            if not 0.03 < low < 0.08:
                return False
            joint = cell.world.data.joint(name)
            joint.qvel[:2] += np.array([self._side, 0.5]) * 0.4
            return True
        if self.kind is Kind.RESET and leaf == "place_bin":
            episode.network.reset()
            cell.stop()
            return True
        return False
