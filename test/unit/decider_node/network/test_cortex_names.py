"""The names of Isaac Cortex: networks made under them follow its order of calls."""

from __future__ import annotations

from decider_node.network import cortex as df
from decider_node.network.decider import TickContext


class Choice(df.DfDecider[list[str]]):
    """Decides for its child while there is a wish for it."""

    def decide(self, moment: TickContext[list[str]]) -> df.DfDecision | None:
        return df.DfDecision("leaf") if "go" in moment.context else None


class Leaf(df.DfAction[list[str]]):
    """Notes when it begins and ends."""

    def enter(self, moment: TickContext[list[str]]) -> None:
        moment.context.append("enter")

    def exit(self, moment: TickContext[list[str]]) -> None:
        moment.context.append("exit")


class Node(df.DfRldsNode[list[str]]):
    """Can begin while its name is wanted."""

    def is_enterable(self, moment: TickContext[list[str]]) -> bool:
        return self.name in moment.context


def test_a_path_that_becomes_shorter_gives_no_exit_as_there() -> None:
    context = ["go"]
    network = df.DfNetwork(Choice("root", {"leaf": Leaf("leaf")}), context)
    network.tick(0.0)
    context.remove("go")
    network.tick(0.1)
    assert context == ["enter"]


def test_the_node_that_was_added_last_has_the_highest_priority() -> None:
    context = ["low", "high"]
    network = df.DfNetwork(df.DfRldsDecider("rlds", [Node("low"), Node("high")]), context)
    network.tick(0.0)
    assert network.descent.path[-1].name == "high"


def test_a_lock_state_holds_the_path_and_another_one_releases_it() -> None:
    states = [df.DfSetLockState(True), df.DfWaitState(0.15), df.DfSetLockState(False), df.DfWaitState(9.0)]
    machine = df.DfStateMachineDecider("leaf", df.DfStateSequence(states))
    context = ["go"]
    network = df.DfNetwork(Choice("root", {"leaf": machine}), context)
    network.tick(0.0)
    context.clear()
    for now_s in (0.1, 0.2):
        network.tick(now_s)
        assert network.descent.path[-1].name == "leaf", now_s
    for now_s in (0.3, 0.4, 0.5):
        network.tick(now_s)
    assert network.descent.path[-1].name == "root"
