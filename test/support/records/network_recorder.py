"""Deciders, states and options that record their calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from decider_node.network.decider import Decider, Decision, TickContext
from decider_node.network.priority import Option
from decider_node.network.states import State


@dataclass
class Script:
    """The choices of the recorded deciders, and the recorded calls."""

    choice: dict[str, str | None] = field(default_factory=dict)
    holds: dict[str, bool] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def take(self) -> str:
        """Return the calls since the last time."""
        calls, self.log = " ".join(self.log), []
        return calls


class Recorded(Option[Script]):
    def enter(self, moment: TickContext[Script]) -> None:
        moment.context.log.append(f"{self.name}+")

    def decide(self, moment: TickContext[Script]) -> Decision | None:
        moment.context.log.append(self.name)
        child = moment.context.choice.get(self.name)
        return None if child is None else Decision(child)

    def exit(self, moment: TickContext[Script]) -> None:
        moment.context.log.append(f"{self.name}-")

    def is_enterable(self, moment: TickContext[Script]) -> bool:
        moment.context.log.append(f"{self.name}?e")
        return moment.context.holds.get(f"{self.name}.ent", False)

    def is_runnable(self, moment: TickContext[Script]) -> bool:
        moment.context.log.append(f"{self.name}?r")
        return moment.context.holds.get(f"{self.name}.run", False)


class CountedSteps(State[Script]):
    """Ends with its n-th step."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count, self.left = name, count, count

    def enter(self, moment: TickContext[Script]) -> None:
        self.left = self.count
        moment.context.log.append(f"{self.name}+")

    def step(self, moment: TickContext[Script]) -> State[Script] | None:
        moment.context.log.append(f"{self.name}!")
        self.left -= 1
        return self if self.left > 0 else None

    def exit(self, moment: TickContext[Script]) -> None:
        moment.context.log.append(f"{self.name}-")


def graph(children: dict[str, list[str]]) -> dict[str, Decider[Script]]:
    """Recorded deciders by name."""
    names = [*children, *(name for group in children.values() for name in group)]
    nodes: dict[str, Decider[Script]] = {name: Recorded(name) for name in names}
    for name, group in children.items():
        nodes[name].children.update({child: nodes[child] for child in group})
    return nodes
