"""Times, lengths and speeds of the network's actions. The defaults are those of the standard cell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


def _above_zero(section: object, *names: str) -> None:
    for name in names:
        value = getattr(section, name)
        if value is not None and value <= 0.0:
            raise ValueError(f"{name}: is {value}; write more than 0")


def _not_below_zero(section: object, *names: str) -> None:
    for name in names:
        if getattr(section, name) < 0.0:
            raise ValueError(f"{name}: is {getattr(section, name)}; write 0 or more")


def _at_most_one(section: object, *names: str) -> None:
    for name in names:
        if getattr(section, name) > 1.0:
            raise ValueError(f"{name}: is {getattr(section, name)}; write a share, at most 1")


class DispatchKind(Enum):
    """The decisions of the root.

    ``RECOVERING``: each action that a state of the cell needs, such as lifting a bin that hangs in the cup after a
    restart, with ``Rules.STRICT``. ``CORTEX``: home, pick, flip and place, as in Isaac Cortex, with ``Rules.CORTEX``;
    a bin for which no place is open is held.
    """

    RECOVERING = "recovering"
    CORTEX = "cortex"


@dataclass(frozen=True, slots=True)
class Waits:
    """Times by the ticks, s.

    Attributes:
        before_closing: Rest at a bin before the cup is switched on.
        before_opening: Rest over a place before the bin is let go.
        on_shelf: Rest over the shelf before the bin is let go.
        closing: Time for a seal, after which the bin is approached again; None: for ever.
        lock: Longest time of a locked action, after which the network stops with an error; None: for ever.
    """

    before_closing: float = 0.4
    before_opening: float = 0.3
    on_shelf: float = 0.2
    closing: float | None = 3.0
    lock: float | None = 15.0

    def __post_init__(self) -> None:
        _not_below_zero(self, "before_closing", "before_opening", "on_shelf")
        _above_zero(self, "closing", "lock")


@dataclass(frozen=True, slots=True)
class Lift:
    """A straight way up.

    Attributes:
        height: Its length, m.
        longest: Time after which it ends wherever the cup is then, s; None: it ends by its height alone.
        speed: Share of the speed limits.
    """

    height: float
    longest: float | None = None
    speed: float = 1.0

    def __post_init__(self) -> None:
        _above_zero(self, "height", "longest", "speed")
        _at_most_one(self, "speed")


@dataclass(frozen=True, slots=True)
class Funnel:
    """A straight approach to a target, see ``Approach``.

    Attributes:
        length: Its length, m.
        deviation: Standard deviation across it, m: beside the line by much more, the tip aims at its beginning.
    """

    length: float
    deviation: float = 0.005

    def __post_init__(self) -> None:
        _above_zero(self, "length", "deviation")


@dataclass(frozen=True, slots=True)
class Arrival:
    """When a target is reached.

    Attributes:
        distance: Largest distance of the tip, m.
        turn: Largest difference of the rotations; see ``are_close``.
    """

    distance: float
    turn: float

    def __post_init__(self) -> None:
        _above_zero(self, "distance", "turn")


@dataclass(frozen=True, slots=True)
class Correction:
    """How the target over a place is corrected at each tick by the pose of the held bin that is measured.

    Attributes:
        share: Share of the misalignment.
        near: Distance of the tip from its target below which that is done, m.
        most: Largest deviation of the bin below from its place that is followed, m.
        turns: True to correct the heading as well.
    """

    share: float = 0.1
    near: float = 0.03
    most: float = 0.004
    turns: bool = True

    def __post_init__(self) -> None:
        _not_below_zero(self, "share", "most")
        _above_zero(self, "near")
        _at_most_one(self, "share")


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of the network.

    Attributes:
        dispatch: The decisions of the root.
        waits: Times.
        pick_lift: Way of the cup with a bin that was picked.
        leave: Way of the cup away from a bin that was placed.
        inside: Funnel onto the bottom of an upright bin, from inside.
        outside: Funnel onto the bottom of any other bin, or onto a wall.
        shelf: Funnel with a bin onto the shelf.
        place: Funnel with a bin onto its place.
        place_speed: Share of the speed limits down that funnel. Joints at their limits let the tip swing out of it.
        at_bin: When a bin is reached.
        at_shelf: When the shelf is reached.
        at_place: When a place is reached.
        correction: How places are corrected.
    """

    dispatch: DispatchKind = DispatchKind.RECOVERING
    waits: Waits = Waits()
    pick_lift: Lift = Lift(0.3, speed=0.5)
    leave: Lift = Lift(0.12, speed=0.6)
    inside: Funnel = Funnel(0.195)
    outside: Funnel = Funnel(0.1)
    shelf: Funnel = Funnel(0.25, 0.02)
    place: Funnel = Funnel(0.3)
    place_speed: float = 0.4
    at_bin: Arrival = Arrival(0.0015, 0.02)
    at_shelf: Arrival = Arrival(0.006, 0.03)
    at_place: Arrival = Arrival(0.003, 0.01)
    correction: Correction = Correction()

    def __post_init__(self) -> None:
        _above_zero(self, "place_speed")
        _at_most_one(self, "place_speed")
