"""A managed node under hundreds of interleavings of requests, loading, closing and the end of its process."""

from __future__ import annotations

import random
from typing import Any

import pytest
from lifecycle_msgs.msg import Transition

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_ros.node import lifecycle, managed_node
from handiwork_ros.node.lifecycle import REQUESTS, SHUTDOWNS
from handiwork_ros.node.managed_node import ManagedNode
from support.interleaving import virtual_ros
from support.interleaving.interleaver import Interleaver

MODULES = [lifecycle, managed_node]
CONFIGURE, CLEANUP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE
STATES = {
    "configuring": ("unconfigured", CONFIGURE, "inactive"),
    "cleaningup": ("inactive", CLEANUP, "unconfigured"),
    "activating": ("inactive", ACTIVATE, "active"),
    "deactivating": ("active", DEACTIVATE, "inactive"),
}
"""Transition state -> its first state, the request that leads to it, and its goal, as the ROS 2 design has them."""
FIRSTS = dict(zip(("unconfigured", "inactive", "active"), SHUTDOWNS, strict=True))
LONG_S = 1e6


def next_state(state: str, before: str, transition: int | str) -> str:
    """Return the state after a request or the label of a result; an invalid one fails."""
    for passing, (first, request, goal) in STATES.items():
        if (state, transition) == (first, request):
            return passing
        if state == passing:
            return {
                "transition_success": goal,
                "transition_failure": first,
                "transition_error": "errorprocessing",
            }[str(transition)]
    if FIRSTS.get(state) == transition:
        return "shuttingdown"
    if state == "shuttingdown":
        return {"transition_success": "finalized", "transition_error": "errorprocessing"}[str(transition)]
    assert state == "errorprocessing", f"{transition} in {state}, from {before}"
    return "unconfigured" if transition == "transition_success" else "finalized"


class Machine(ManagedNode):
    """A node whose hooks take time of the run, and which notes when two of them run at once."""

    executor = property(lambda self: self.virtual.executor)  # type: ignore[assignment]

    def __init__(self, run: Interleaver, chance: random.Random) -> None:
        self.run, self.chance, self.virtual = run, chance, virtual_ros.Node(run)
        self.virtual.log.fatal = self.virtual.log.error  # type: ignore[attr-defined]
        threading: Any = managed_node.threading
        self.closing = threading.Event()
        self._loading, self._last_close = threading.Lock(), threading.Lock()
        self._last_close.locked = lambda: bool(self._last_close._depth)  # type: ignore[attr-defined]
        self.exit_code, self._fault_code, self._load_progress, self.status_text = None, 0, 0.0, ""
        self.on_state = lambda: None
        self._label, self._before, self._managed_entities, self._pauses = "unconfigured", "", set(), []
        self._poll = self.virtual.create_timer(lifecycle.POLL_S, self._end_pauses)
        self._poll.cancel()
        self.running: list[str] = []
        self.calls: list[str] = []
        self.wrong: list[str] = []
        self.has_ended = False

    def get_name(self) -> str:
        return "machine"

    def get_logger(self) -> Any:
        return self.virtual.log

    def publish_status(self) -> None:
        pass

    def offers(self, transition: int) -> bool:
        offered = [request for first, request, _ in STATES.values() if first == self._label]
        return transition in offered or FIRSTS.get(self._label) == transition

    def trigger(self, transition: int | str) -> None:
        self._label, self._before = next_state(self._label, self._before, transition), self._label

    def on_load(self, report: Any) -> None:
        self._hook("load", 3)
        if (
            fault := self.chance.choice([None, None, ConfigError("machine", ["planted"]), KeyError()])
        ) is not None:
            raise fault

    def on_prepare(self, report: Any) -> None:
        self._hook("prepare", 3)

    def on_close(self) -> None:
        self._hook("close", 1)

    def is_idle(self) -> bool:
        return self.chance.random() < 0.5

    def _hook(self, name: str, steps: int) -> None:
        where = f"seed {self.run.seed}: {name} after {self.calls}"
        if self.has_ended or self.running:  # the node takes an exception of a hook for its fault
            self.wrong.append(f"{where}, beside {self.running}, the process has ended: {self.has_ended}")
        self.calls.append(name)
        self.running.append(name)
        for _ in range(steps):
            if name == "close" or not self.closing.is_set():
                self.run.sleep(self.run.draw([0.0, 0.01, 0.2]))
        self.running.remove(name)


def ask(machine: Machine, seed: int) -> None:
    """Request transitions at any time; those that the state does not allow are refused."""
    chance = random.Random(seed)
    for _ in range(6):
        wanted = chance.choice([CONFIGURE, CONFIGURE, ACTIVATE, DEACTIVATE, CLEANUP, CLEANUP, *REQUESTS])
        machine.executor.create_task(machine.change_state, wanted)
        machine.run.sleep(chance.choice([0.0, 0.05, 0.3, 0.6]))


def end(machine: Machine) -> None:
    """End the process as ``main.run`` does, on the executor's thread, which serves nothing afterwards."""
    machine.begin_shutdown()
    machine.end_shutdown()
    machine.has_ended = True
    machine.run.sleep(LONG_S)


def played(seed: int, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Run two lifecycle managers and the end of the process, and check that every hook runs alone."""
    run, chance = Interleaver(seed, MODULES), random.Random(seed)
    monkeypatch.setattr(lifecycle, "Future", virtual_ros.Future)
    with run.patched():
        machine = Machine(run, chance)

        def watch() -> None:
            run.sleep(chance.choice([0.0, 0.02, 0.1, 0.4, 1.0, 2.0]))
            machine.executor.create_task(end, machine)
            assert run.wait(lambda: machine.has_ended, 30.0), f"seed {seed}: no end"
            run.sleep(5.0)  # in which a thread that was left behind would begin

        for number in range(2):
            run.spawn(lambda n=number: ask(machine, 100 * seed + n), f"manager {number}", daemon=True)  # type: ignore[misc]
        run.spawn(watch, "watch")
        run.run()
    return machine


@pytest.mark.parametrize("first", range(0, 120, 60))
def test_no_two_hooks_run_at_once_and_none_after_the_end(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [played(seed, monkeypatch) for seed in range(first, first + 60)]
    assert not [text for machine in ends for text in machine.wrong]
    assert all(not machine.running for machine in ends)
    assert (
        sum("close" in machine.calls[:-1] for machine in ends) > 10
    )  # some were cleaned up before their end


def test_a_run_is_repeated_by_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [played(11, monkeypatch) for _ in range(2)]
    assert runs[0].calls == runs[1].calls
    assert runs[0].run.steps == runs[1].run.steps
