"""The default rules of the network: exits, locks, monitors, errors and resets."""

from __future__ import annotations

import pytest

from decider_node.network.decider import Decider, Decision, TickContext
from decider_node.network.errors import (
    CycleFound,
    DeciderFailed,
    LockNotReleased,
    MissingChild,
    MonitorFailed,
    NetworkStopped,
)
from decider_node.network.network import FunctionMonitor, Network
from decider_node.network.priority import Selector
from decider_node.network.states import Lock, SequenceDecider, StateMachineDecider, Unlock
from decider_node.network.text_view import draw
from decider_node.network.timed import Act, RunUntil
from support.records.network_recorder import CountedSteps, Recorded, Script, graph

CHAIN = {"A": ["B", "E"], "B": ["C", "D"], "C": ["F"], "E": ["D"]}


def made(**choice: str | None) -> tuple[Network[Script], dict[str, Decider[Script]]]:
    nodes = graph(CHAIN)
    return Network(nodes["A"], Script(dict(choice))), nodes


def calls(network: Network[Script], now_s: float = 0.0, **choice: str | None) -> str:
    network.context.choice.update(choice)
    network.tick(now_s)
    return network.context.take()


def test_what_leaves_a_shorter_path_gets_its_exit() -> None:
    network, _ = made(A="B", B="C", C="F")
    network.tick(0.0)
    network.context.take()
    assert calls(network, B=None) == "A B F- C-"


def test_what_stays_on_a_longer_path_is_left_alone() -> None:
    network, _ = made(A="B")
    assert calls(network) == "A+ A B+ B"
    assert calls(network, B="C") == "A B C+ C"


def test_exits_come_after_the_decision_and_before_the_entry_beside() -> None:
    network, _ = made(A="B", B="C", C="F")
    network.tick(0.0)
    network.context.take()
    assert calls(network, A="E", E="D") == "A F- C- B- E+ E D+ D"


def test_a_reset_gives_all_exits_and_releases_locks() -> None:
    network, nodes = made(A="B", B="C")
    network.tick(0.0)
    network.descent.locks.take(nodes["C"], 0.0, 9.0)
    network.context.take()
    network.reset()
    assert network.context.take() == "C- B- A-"
    assert nodes["C"] not in network.descent.locks
    assert calls(network, A="E") == "A+ A E+ E"


def test_a_lock_ends_with_the_session_of_its_decider() -> None:
    network, nodes = made(A="B", B="C")
    network.tick(0.0)
    network.descent.locks.take(nodes["B"], 0.0, 9.0)
    network.descent.locks.take(nodes["C"], 0.0, 9.0)
    network.context.take()
    assert calls(network, A="E", B="D") == "B C- D+ D"
    assert nodes["C"] not in network.descent.locks


def test_a_lock_never_released_stops_the_arm_and_a_reset_recovers() -> None:
    stops: list[str] = []
    root = Recorded("R")
    root.children["m"] = StateMachineDecider(
        "m", SequenceDecider([Lock(2.0), CountedSteps("endless", 10_000)])
    )
    network = Network(root, Script({"R": "m"}), stop=lambda: stops.append("stop"))
    network.tick(0.0)
    network.tick(2.0)
    with pytest.raises(LockNotReleased, match=r"'m' holds its lock for 2\.01 s, its limit is 2\.00 s"):
        network.tick(2.01)
    assert stops == ["stop"]
    assert network.descent.path == ()
    assert network.context.take().endswith("endless- R-")
    with pytest.raises(NetworkStopped, match="reset it first"):
        network.tick(3.0)
    network.reset()
    network.tick(3.0)
    assert [decider.name for decider in network.descent.path] == ["R", "m"]


def test_a_missing_child_is_named() -> None:
    network, _ = made(A="B", B="X")
    with pytest.raises(MissingChild, match=r"decider 'B' decided for child 'X'; it has C, D"):
        network.tick(0.0)
    assert network.context.take() == "A+ A B+ B B- A-"


def test_a_cycle_is_found_before_the_first_tick() -> None:
    nodes = graph({"A": ["B"], "B": ["C"]})
    nodes["C"].children["B"] = nodes["B"]
    with pytest.raises(CycleFound, match="A > B > C > B"):
        Network(nodes["A"], Script())


def test_a_cycle_made_later_ends_the_tick() -> None:
    nodes = graph({"A": ["B"], "B": []})
    network = Network(nodes["A"], Script({"A": "B", "B": "A"}))
    nodes["B"].children["A"] = nodes["A"]
    with pytest.raises(CycleFound, match="A > B > A"):
        network.tick(0.0)


def test_a_monitor_that_raises_is_named_and_nothing_is_decided() -> None:
    def look(context: Script, now_s: float) -> None:
        if now_s > 1.0:
            raise ValueError("no picture")

    stops: list[str] = []
    network = Network(
        graph(CHAIN)["A"],
        Script(),
        [FunctionMonitor("camera", look)],
        stop=lambda: stops.append("stop"),
    )
    network.tick(1.0)
    network.context.take()
    with pytest.raises(MonitorFailed, match="monitor 'camera' raised ValueError: no picture"):
        network.tick(1.5)
    assert network.context.take() == "A-"
    assert stops == ["stop"]


@pytest.mark.parametrize("fault", ["missing child", "cycle", "monitor"])
def test_after_any_error_the_arm_has_stopped_and_a_reset_recovers(fault: str) -> None:
    broken, stops = [True], []

    def look(context: Script, now_s: float) -> None:
        if fault == "monitor" and broken[0]:
            raise ValueError("no picture")

    nodes = graph({"A": ["B"], "B": []})
    script = Script(
        {"A": "B"} | ({"B": "X" if fault == "missing child" else "A"} if fault != "monitor" else {})
    )
    network = Network(nodes["A"], script, [FunctionMonitor("look", look)], stop=lambda: stops.append("stop"))
    if fault == "cycle":
        nodes["B"].children["A"] = nodes["A"]
    with pytest.raises({"missing child": MissingChild, "cycle": CycleFound, "monitor": MonitorFailed}[fault]):
        network.tick(0.0)
    assert stops == ["stop"]
    assert network.descent.path == ()
    with pytest.raises(NetworkStopped, match="it stopped because: "):
        network.tick(0.1)
    broken[0] = False
    script.choice.pop("B", None)
    network.reset()
    network.tick(0.2)
    assert [decider.name for decider in network.descent.path] == ["A", "B"]


def test_monitors_run_in_order_before_the_decision() -> None:
    monitors = [
        FunctionMonitor[Script](name, lambda context, now_s, name=name: context.log.append(name))
        for name in ("one", "two")
    ]
    network = Network(graph(CHAIN)["A"], Script(), monitors)
    assert calls(network) == "one two A+ A"
    assert calls(network) == "one two A"


class Failing(Recorded):
    def exit(self, moment: TickContext[Script]) -> None:
        super().exit(moment)
        raise ValueError("cannot let go")


def test_all_exits_are_given_even_if_one_raises() -> None:
    a, b, c = Recorded("A"), Failing("B"), Recorded("C")
    a.children["B"], b.children["C"] = b, c
    network = Network(a, Script({"A": "B", "B": "C"}))
    network.tick(0.0)
    network.context.take()
    with pytest.raises(DeciderFailed, match="exit of decider 'B' raised ValueError: cannot let go"):
        calls(network, A=None)
    assert network.context.take() == "A C- B- A-"


class Given(Decider[Script]):
    def decide(self, moment: TickContext[Script]) -> Decision | None:
        if "child" in self.children:
            return Decision("child", moment.now_s)
        moment.context.log.append(f"{moment.given(float)}")
        return None


def test_parameters_are_bound_again_without_an_entry() -> None:
    network = Network(Given("root", {"child": Given("leaf")}), Script())
    assert [calls(network, now_s) for now_s in (1.0, 2.0)] == ["1.0", "2.0"]
    with pytest.raises(DeciderFailed, match="'leaf' needs parameters float, was given NoneType"):
        Network(Given("leaf"), Script()).tick(0.0)


def test_the_active_option_stays_while_it_can_go_on() -> None:
    network = Network(Selector("root", [Recorded("hi"), Recorded("lo")]), Script())
    network.context.holds.update({"lo.ent": True, "lo.run": True})
    network.tick(0.0)
    network.context.holds["lo.ent"] = False
    network.context.take()
    assert calls(network) == "hi?e lo?r lo"


def test_an_action_that_takes_too_long_is_an_error() -> None:
    network = Network(
        StateMachineDecider("m", SequenceDecider([Act("closing", lambda moment: False, 0.5)])), Script()
    )
    network.tick(0.0)
    network.tick(0.5)
    with pytest.raises(DeciderFailed, match=r"closing was not done within 0\.5 s"):
        network.tick(0.6)


def test_an_inner_decider_leaves_its_path_when_its_condition_holds() -> None:
    inner = Recorded("I")
    inner.children["J"] = Recorded("J")
    state = RunUntil(inner, lambda moment: moment.now_s >= 1.0)
    network = Network(StateMachineDecider("m", SequenceDecider([state, Unlock()])), Script({"I": "J"}))
    assert calls(network) == "I+ I J+ J"
    assert calls(network, 1.0) == "I J J- I-"


def test_the_picture_shows_path_and_lock() -> None:
    network, nodes = made(A="B", B="D")
    network.tick(0.0)
    network.descent.locks.take(nodes["B"], 0.0, 9.0)
    assert draw(network).splitlines() == [
        "> A",
        ">   B #",
        "      C",
        "        F",
        ">     D",
        "    E",
        "      D",
    ]
