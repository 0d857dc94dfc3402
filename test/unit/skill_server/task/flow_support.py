"""A monitor and a robot for tests of control flow: facts that skills change, and skills that fail as planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.execution.run import ExecutionResult
from skill_server.task.conditions import Decision, Examined
from skill_server.task.model import Entry, Task
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from skill_server.task.record import Report, TaskProgress
from skill_server.task.run import TaskResult, run_task
from skill_server.task.scope import Ports
from skill_server.task.task_paths import starts

from .test_task_file import CATALOG, two_armed, world
from .test_task_run import StepClock

GOOD_WORDS = ("on", "full", "never", "always")


@dataclass
class Facts:
    """A monitor whose conditions are texts such as ``on(cube)``; ``true`` lists those that hold."""

    clock: StepClock = field(default_factory=StepClock)
    true: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    old_s: float = 0.0

    def examine(self, text: str) -> Examined:
        word, _, inner = text.partition("(")
        faults = (
            () if word in GOOD_WORDS else (f"name: no predicate {word!r}; use one of {list(GOOD_WORDS)}",)
        )
        return Examined(faults, tuple(name for name in (inner.rstrip(")"),) if name))

    def decide(self, text: str, *, should_stop: ShouldStop) -> Decision:
        self.asked.append(text)
        truth = Truth.UNKNOWN if text in self.unknown else Truth.of(text in self.true)
        return Decision(truth, "as planned", self.clock.time_s - self.old_s)


@dataclass
class Robot:
    """Skills that succeed, and change facts and hands.

    Attributes:
        facts: The monitor.
        fails: Codes with which a skill ends, in turn, by ``<step> <skill> <object>`` or a part of it.
        after: What a skill does besides, by the same words.
    """

    facts: Facts = field(default_factory=Facts)
    fails: dict[str, list[Code]] = field(default_factory=dict)
    after: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    hands: dict[str, str] = field(default_factory=dict)

    def __call__(self, entry: Entry, token: Token, report: Report) -> ExecutionResult:
        names = {"pick": "object", "place": "container"}
        what = getattr(entry.params, names.get(entry.skill.name, ""), "")
        text = f"{entry.step} {entry.skill.name} {what}".strip()
        self.log.append(text)
        self.seeds.append(entry.params.seed)
        report(Progress("select", 0, 1, 0.0))
        codes = next((codes for words, codes in self.fails.items() if words in text and codes), [])
        code = codes.pop(0) if codes else Code.OK
        outcome = OK if code is Code.OK else Outcome(code, "as planned")
        if outcome.ok and entry.skill.name == "pick":
            self.hands[entry.arm] = entry.params.object
        elif outcome.ok and entry.skill.name == "place":
            self.hands.pop(entry.arm, None)
        for words, act in self.after.items():
            if words in text:
                act()
        return ExecutionResult(outcome, (), 1.0, 0.0, 1, entry.params.seed)

    def ports(self) -> Ports:
        movable = ("ball", "cube")
        return Ports(self, self.facts.clock, lambda arm: self.hands.get(arm, ""), self.facts, lambda: movable)


def read_flow(text: str, *, seed: int | None = None) -> Task:
    """Read a task of the two-armed robot in the world of the other tests, with ``Facts`` as its monitor."""
    return read_task(text, "flow.yaml", Site(CATALOG, two_armed(), world(), conditions=Facts()), seed)


def steps(*lines: str) -> str:
    """Return a task whose one group has the given steps."""
    return "seed: 5\nskills:\n- gantry:\n" + "\n".join(f"  - {line}" for line in lines)


def run_flow(
    text: str, robot: Robot, start: str = "", token: Token | None = None
) -> tuple[TaskResult, list[TaskProgress]]:
    """Read and run a task.

    Returns:
        The result, and every progress.
    """
    task, seen = read_flow(text), list[Progress]()
    ended = run_task(task, starts(task, start), robot.ports(), token or Token(), seen.append)
    return ended, [one for one in seen if isinstance(one, TaskProgress)]


def run_log(text: str, robot: Robot, start: str = "") -> list[str]:
    """Run a task that must succeed, and return the skills that ran."""
    ended, _ = run_flow(text, robot, start)
    assert ended.outcome.ok, ended.outcome
    return robot.log
