"""The pecking behaviour known from Isaac Cortex, as a decider network of Handiwork: ``python examples/cortex_peck.py``.

The tool touches the table at points that are away from the blocks, and lifts at once when somebody moves a block to
where it is about to touch. The tool here is a point that moves in steps; a robot implements the same three methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from decider_node.network.decider import Decider, Decision, TickContext
from decider_node.network.network import FunctionMonitor, Network
from decider_node.network.states import SequenceDecider, State, StateMachineDecider

Point = NDArray[np.float64]
HOVER_M, TOUCH_M, CLEAR_M, NEAR_M = 0.15, 0.01, 0.1, 0.005


class Tool(Protocol):
    """The interface of the behaviour to a robot and its world."""

    def position(self) -> Point:
        """Return the position of the tip in world, (3,), m."""

    def blocks(self) -> list[Point]:
        """Return the positions of the blocks in world, (3,) each, m."""

    def go(self, target: Point) -> None:
        """Move towards a point; a new call replaces the target.

        Args:
            target: The point in world, (3,), m.
        """


@dataclass
class PeckContext:
    """The logical state. In Cortex it is a ``DfRobotApiContext``."""

    tool: Tool
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    blocks: list[Point] = field(default_factory=list)
    is_threatened: bool = False
    target: Point = field(default_factory=lambda: np.array([0.4, 0.0, HOVER_M]))
    pecks: int = 0

    def is_clear(self, point: Point) -> bool:
        """Check whether no block is near a point of the table.

        Args:
            point: The point in world, (3,), m.
        """
        return all(np.linalg.norm((block - point)[:2]) > CLEAR_M for block in self.blocks)


def see_blocks(context: PeckContext, _now_s: float) -> None:
    """Read the blocks. A monitor, in Cortex a function that is added by ``add_monitor``.

    Args:
        context: The logical state.
    """
    context.blocks = context.tool.blocks()
    context.is_threatened = not context.is_clear(context.target)


class Choose(State[PeckContext]):
    """Choose a clear point of the table; in Cortex a ``DfState`` that ends with its first step."""

    def step(self, moment: TickContext[PeckContext]) -> State[PeckContext] | None:
        """See the base."""
        context = moment.context
        for _ in range(100):
            place = context.rng.uniform((0.3, -0.3), (0.6, 0.3))
            context.target = np.array([*place, TOUCH_M])
            if context.is_clear(context.target):
                return None
        return self


class Go(State[PeckContext]):
    """Go to a height over the chosen point.

    Args:
        height_m: The height, m.
        counts: True for the touch.
    """

    def __init__(self, height_m: float, *, counts: bool = False) -> None:
        self._height_m, self._counts = height_m, counts

    def step(self, moment: TickContext[PeckContext]) -> State[PeckContext] | None:
        """See the base."""
        context = moment.context
        goal = np.array([*context.target[:2], self._height_m])
        context.tool.go(goal)
        if np.linalg.norm(context.tool.position() - goal) > NEAR_M:
            return self
        context.pecks += self._counts
        return None


class Lift(Decider[PeckContext]):
    """Lift the tool; in Cortex a ``DfAction``."""

    def decide(self, moment: TickContext[PeckContext]) -> Decision | None:
        """See the base."""
        place = moment.context.tool.position()
        moment.context.tool.go(np.array([*place[:2], HOVER_M]))
        return None


class Dispatch(Decider[PeckContext]):
    """Lift while the chosen point is threatened, otherwise peck; in Cortex a ``DfDecider`` with ``add_child``."""

    def decide(self, moment: TickContext[PeckContext]) -> Decision | None:
        """See the base."""
        return Decision("lift" if moment.context.is_threatened and self._is_low(moment) else "peck")

    def _is_low(self, moment: TickContext[PeckContext]) -> bool:
        return bool(moment.context.tool.position()[2] < HOVER_M - NEAR_M)


def make_network(tool: Tool) -> Network[PeckContext]:
    """Return the network; its caller ticks it. In Cortex this is ``make_decider_network(robot)``.

    Args:
        tool: The robot and its world.
    """
    steps = [Choose(), Go(HOVER_M), Go(TOUCH_M, counts=True), Go(HOVER_M)]
    peck = StateMachineDecider("peck", SequenceDecider[PeckContext](steps, loops=True))
    root = Dispatch("dispatch", {"peck": peck, "lift": Lift("lift")})
    return Network(root, PeckContext(tool), [FunctionMonitor("blocks", see_blocks)])


class PointTool:
    """A tool that moves 2 cm in each tick."""

    def __init__(self) -> None:
        self.tip, self.target = np.array([0.4, 0.0, HOVER_M]), np.array([0.4, 0.0, HOVER_M])
        self.seen = [np.array([0.45, 0.1, 0.02])]

    def position(self) -> Point:
        """See ``Tool``."""
        return self.tip

    def blocks(self) -> list[Point]:
        """See ``Tool``."""
        return self.seen

    def go(self, target: Point) -> None:
        """See ``Tool``."""
        self.target = target

    def move(self) -> None:
        """Move one step."""
        way = self.target - self.tip
        length = float(np.linalg.norm(way))
        self.tip = self.tip + way * min(1.0, 0.02 / max(length, 1e-9))


def main() -> None:
    """Peck ten times, and print what happens."""
    tool = PointTool()
    network = make_network(tool)
    tick = 0
    while network.context.pecks < 10:
        network.tick(0.02 * tick)
        tool.move()
        tick += 1
    print(f"{network.context.pecks} pecks in {0.02 * tick:.1f} s of the network's time")


if __name__ == "__main__":
    main()
