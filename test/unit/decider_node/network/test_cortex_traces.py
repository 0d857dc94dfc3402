"""With the rules of Cortex, every call comes in the order of the recorded traces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from decider_node.network.decider import Decider
from decider_node.network.network import Network
from decider_node.network.priority import Selector
from decider_node.network.states import Lock, SequenceDecider, State, StateMachineDecider, Unlock, Write
from decider_node.network.timed import RunFor, WaitState
from decider_node.network.traversal import Rules
from support.paths import DATA
from support.records.network_recorder import CountedSteps, Recorded, Script, graph

TRACES = json.loads((DATA / "deciders/cortex_traces.json").read_text())
SCENARIOS: dict[str, list[str]] = TRACES["scenarios"]
LETTERS = {"A": ["B", "E"], "B": ["C", "D"], "C": ["F"], "E": ["D", "F"]}
Plan = dict[str, str | None]
"""The new choice of each decider; the keys ``lock`` and ``unlock`` name a decider."""

PLANS: dict[str, list[Plan | None]] = {
    "same_path": [{"A": "B", "B": "C"}, {}, {}],
    "branch_deep_and_back": [{"A": "B", "B": "C", "C": "F"}, {"B": "D"}, {"B": "C"}],
    "branch_at_root_shared_leaf": [{"A": "B", "B": "D"}, {"A": "E", "E": "D"}],
    "path_shortens_then_same": [{"A": "B", "B": "C", "C": "F"}, {"C": None}, {}, {"C": "F"}],
    "path_lengthens": [{"A": "B", "B": None}, {"B": "C"}, {}],
    "lock_leaf": [{"A": "B", "B": "C"}, {"A": "E", "E": "F", "lock": "C"}, {}, {"unlock": "C"}],
    "two_locks_root_most_wins": [
        {"A": "B", "B": "C"},
        {"A": "E", "B": "D", "lock": "B"},
        {},
    ],
    "lock_survives_reset": [
        {"A": "B", "B": "C"},
        {"A": "E", "E": "F", "lock": "C"},
        None,
        {"A": "B", "B": "C"},
        {"A": "E", "E": "F"},
    ],
}


@pytest.mark.parametrize("name", PLANS)
def test_a_scripted_network_is_called_as_recorded(name: str) -> None:
    nodes, script = graph(LETTERS), Script()
    network = Network(nodes["A"], script, rules=Rules.CORTEX)
    for plan, expected in zip(PLANS[name], SCENARIOS[name], strict=True):
        if plan is None:
            network.reset()
        else:
            follow(plan, nodes, network)
            network.tick(0.0)
        assert script.take() == expected


def follow(plan: Plan, nodes: dict[str, Decider[Script]], network: Network[Script]) -> None:
    for key, value in plan.items():
        if key == "lock":
            network.descent.locks.take(nodes[str(value)], 0.0, 1.0)
            if value == "B":
                network.descent.locks.take(nodes["C"], 0.0, 1.0)
        elif key == "unlock":
            network.descent.locks.release(nodes[str(value)])
        else:
            network.context.choice[key] = value


@pytest.mark.parametrize("index", range(len(TRACES["random"])))
def test_a_random_network_is_called_as_recorded(index: int) -> None:
    case: dict[str, Any] = TRACES["random"][index]
    nodes, script = graph({k: v.split() for k, v in case["children"].items()}), Script()
    nodes.setdefault("n0", Recorded("n0"))
    network = Network(nodes["n0"], script, rules=Rules.CORTEX)
    for step in case["steps"]:
        if step == "reset":
            network.reset()
            continue
        choice, locked, log, path = step
        script.choice.update(choice)
        network.descent.locks.clear()
        for name in locked.split():
            network.descent.locks.take(nodes.get(name), 0.0, 1.0)
        network.tick(0.0)
        assert script.take() == log
        assert " ".join(decider.name for decider in network.descent.path) == path


def machine_network(state: State[Script], *others: str) -> Network[Script]:
    root = Recorded("R")
    root.children.update(
        {"m": StateMachineDecider("m", state), **{name.lower(): Recorded(name) for name in others}}
    )
    return Network(root, Script({"R": "m"}), rules=Rules.CORTEX)


# Recorded on a clock whose sums fell a little short of 0.05 s: hence the 1e-6 in the durations.
def run(
    network: Network[Script], name: str, choices: dict[int, str] | None = None, start_s: float = 0.0
) -> None:
    now_s = start_s
    for tick, expected in enumerate(SCENARIOS[name]):
        network.context.choice["R"] = (choices or {}).get(tick, network.context.choice["R"])
        network.tick(now_s)
        now_s += 1.0 / 60.0
        assert network.context.take() == expected, tick


def test_a_sequence_enters_the_next_state_in_the_tick_in_which_the_last_one_ends() -> None:
    run(
        machine_network(
            SequenceDecider([CountedSteps("s1", 2), CountedSteps("s2", 1), CountedSteps("s3", 1)])
        ),
        "sequence",
    )


def test_a_sequence_can_loop() -> None:
    run(
        machine_network(SequenceDecider([CountedSteps("s1", 1), CountedSteps("s2", 2)], loops=True)),
        "sequence_loop",
    )


def test_an_interrupted_sequence_begins_again() -> None:
    run(
        machine_network(SequenceDecider([CountedSteps("s1", 5)]), "O"),
        "sequence_interrupted_restarts",
        {2: "o", 3: "m"},
    )


def test_a_locked_sequence_is_not_pre_empted() -> None:
    sequence = SequenceDecider(
        [
            CountedSteps("reach", 2),
            Lock(9.0),
            CountedSteps("act", 3),
            Write(lambda c: c.log.append("write")),
            Unlock(),
        ]
    )
    run(machine_network(sequence, "O"), "locked_sequence_ignores_parent", {3: "o"})


def test_an_inner_decider_runs_for_its_time() -> None:
    network = machine_network(
        SequenceDecider([RunFor(Recorded("I"), 0.05 + 1e-6, Rules.CORTEX), CountedSteps("after", 1)])
    )
    run(network, "timed_decider_0.05s_at_60Hz")


def test_waiting_takes_its_time() -> None:
    run(
        machine_network(SequenceDecider([WaitState(0.05 + 1e-6), CountedSteps("after", 1)])),
        "wait_0.05s_at_60Hz",
    )


def test_no_time_is_one_tick() -> None:
    states = [RunFor(Recorded("I0"), 0.0, Rules.CORTEX), WaitState(0.0), CountedSteps("after", 1)]
    run(machine_network(SequenceDecider(states)), "zero_durations")


def test_an_empty_sequence_idles() -> None:
    run(machine_network(SequenceDecider([])), "empty_sequence")


def test_only_the_first_option_is_asked_whether_it_can_go_on() -> None:
    options = [Recorded("hi"), Recorded("mid"), Recorded("lo")]
    network: Network[Script] = Network(Selector("root", options, Rules.CORTEX), Script(), rules=Rules.CORTEX)
    plans: list[dict[str, bool]] = [
        {"lo.ent": True, "lo.run": True, "mid.ent": True, "mid.run": True},
        {"mid.ent": False},
        {},
        {"hi.ent": True, "hi.run": True},
        {"hi.ent": False},
        {},
    ]
    for plan, expected in zip(plans, SCENARIOS["rlds_hysteresis"], strict=True):
        network.context.holds.update(plan)
        network.tick(0.0)
        assert network.context.take() == expected
