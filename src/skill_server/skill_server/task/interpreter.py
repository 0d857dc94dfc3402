"""Walks the tree of a task: the one interpreter of its control nodes. Skills, conditions and time are ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.execution.run import ExecutionResult

from .budget import budget_of
from .conditions import decided
from .model import (
    Barrier,
    Block,
    Check,
    Condition,
    Entry,
    ForEach,
    If,
    Node,
    Repeat,
    Retry,
    Task,
    TaskStep,
    Try,
)
from .parallel import Barriers, together
from .record import TaskRecord
from .scope import FINAL, Ports, Scope, SkillCount, of_all_arms
from .seeds import placed
from .task_paths import TaskPath


class Interpreter:
    """Runs the nodes of one task.

    Args:
        task: The task.
        ports: The robot and the monitor.
        record: Notes what happens.
    """

    def __init__(self, task: Task, ports: Ports, record: TaskRecord) -> None:
        self._task, self._ports, self._record = task, ports, record

    def run(self, begin: Mapping[str, TaskPath], token: Token) -> Outcome:
        """Run the whole task.

        Args:
            begin: Place of each arm to begin at.
            token: Ends the task when it is set.

        Returns:
            OK, or the failure that ended the task.
        """
        labels = self._task.labels
        whole = Scope(begin, token, SkillCount(self._record))
        for i, node in enumerate(self._task.steps):
            scope = whole.into(lambda word, i=i: labels.index(word) - i)  # type: ignore[misc]
            outcome = self._node(node, labels[i], scope)
            if not outcome.ok:
                return outcome
        return OK

    def _block(self, block: Block, label: str, scope: Scope) -> Outcome:
        for i, node in enumerate(block):
            part = scope.into(lambda word, i=i: int(word) - 1 - i)  # type: ignore[misc]
            outcome = self._node(node, f"{label}.{i + 1}", part)
            if not outcome.ok:
                return outcome
        return OK

    def _node(self, node: Node, label: str, scope: Scope) -> Outcome:
        before = scope.count.enter(budget_of(node))
        try:
            if scope.is_over(node):
                self._record.skip_node(node, label, scope.arm)
                return OK
            return self._ended(label, scope) if scope.token.is_set() else self._run(node, label, scope)
        finally:
            scope.count.leave(before)

    def _run(self, node: Node, label: str, scope: Scope) -> Outcome:
        match node:
            case Entry():
                return self._entry(node, label, scope)
            case TaskStep():
                return self._step(node, label, scope)
            case Repeat():
                return self._repeat(node, label, scope)
            case Retry():
                return self._retry(node, label, scope)
            case ForEach():
                return self._for_each(node, label, scope)
            case If():
                return self._if(node, label, scope)
            case Try():
                return self._try(node, label, scope)
            case Check():
                truth, outcome = self._ask(node.condition, label, scope)
                if truth is Truth.FALSE:
                    return self._failed(Code.CONDITION_FALSE, label, scope, outcome.message)
                return outcome
            case Barrier():
                show = self._shown(f"waiting for barrier {node.name}", label, scope)
                met = scope.barriers is None or scope.barriers.wait(node.name, scope.token, show)
                return OK if met else self._ended(label, scope)

    def _entry(self, entry: Entry, place: str, scope: Scope) -> Outcome:
        entry = placed(entry, place, self._task.seed)
        step = entry.step
        run: ExecutionResult | None
        try:
            self._record.begin(entry, place)
            run = self._ports.do(
                entry, scope.token, lambda one: self._record.progress(step, entry.arm, entry.skill.name, one)
            )
            outcome = run.outcome
        except Exception as error:  # noqa: BLE001 - the border of plug-in code; the other arms must be stopped
            run, outcome = None, Outcome(Code.INTERNAL, f"{entry.skill.name!r} raised {error!r}")
        self._record.end(entry, place, run, ok=outcome.ok)
        if outcome.ok:
            return OK
        text = f"step {step}, {entry.arm}, {entry.skill.name}: {outcome.message or outcome.code.name}"
        return replace(outcome, message=text)

    def _step(self, step: TaskStep, label: str, scope: Scope) -> Outcome:
        """Run the lists of all arms; the first failure also ends the others."""
        token, counts = scope.token.child(), list[SkillCount]()
        barriers = Barriers.of(step, scope.at)
        failures: list[Outcome] = []

        def run(arm: str, block: Block) -> None:
            own = Scope({arm: scope.at.get(arm)}, token, SkillCount(self._record), arm, barriers)
            counts.append(own.count)
            outcome = self._block(block, label, own)
            if not outcome.ok:
                failures.append(outcome)
                token.set(Code.CANCELED)

        bodies = [lambda arm=arm, block=block: run(arm, block) for arm, block in step.arms.items()]
        together(bodies, token)
        for count in counts:
            scope.count.least += count.least
            scope.count.most += count.most
        return of_all_arms(failures)

    def _repeat(self, node: Repeat, label: str, scope: Scope) -> Outcome:
        begin, body = self._first_turn(node.body, label, scope), budget_of(*node.body)
        is_within = bool(scope.words())
        for k in range(begin, node.times + 1):
            if node.until is not None and (k > begin or not is_within):
                truth, outcome = self._ask(node.until, label, scope)
                if truth is not Truth.FALSE:
                    return outcome
                scope.count.expect(body._replace(most=(node.times - k + 1) * body.most))
            outcome = self._turn(node.body, label, k, scope)
            if not outcome.ok:
                return outcome
        if node.until is None:
            return OK
        truth, outcome = self._ask(node.until, label, scope)
        if truth is not Truth.FALSE:
            return outcome
        text = (
            f"{outcome.message} after {node.times} turns, which are max; raise max or correct the condition"
        )
        return self._failed(Code.LOOP_BOUND, label, scope, text)

    def _retry(self, node: Retry, label: str, scope: Scope) -> Outcome:
        outcome, body = OK, budget_of(*node.body)
        for k in range(self._first_turn(node.body, label, scope), node.times + 1):
            scope.count.expect(body._replace(most=(node.times - k + 1) * body.most))
            outcome = self._turn(node.body, label, k, scope)
            if outcome.ok or scope.token.is_set() or outcome.code in FINAL:
                return outcome
            if k < node.times:
                self._record.go_on(scope.arm)
        return replace(outcome, message=f"{outcome.message}; {node.times} attempts of step {label} failed")

    def _first_turn(self, body: Block, label: str, scope: Scope) -> int:
        """Return the turn to begin with; the turns before it are noted as skipped."""
        in_node = [place for place in scope.at.values() if place is not None]
        begin = min((int(place[0][1:-1]) if place else 1 for place in in_node), default=1)
        for k in range(1, begin):
            self._record.turn(scope.arm, label, f"[{k}]", body)
            for i, node in enumerate(body):
                self._record.skip_node(node, f"{label}[{k}].{i + 1}", scope.arm)
        return begin

    def _turn(self, body: Block, label: str, turn: int, scope: Scope) -> Outcome:
        self._record.turn(scope.arm, label, f"[{turn}]", body)
        return self._block(body, f"{label}[{turn}]", scope.into(lambda word: int(word[1:-1]) - turn))

    def _for_each(self, node: ForEach, label: str, scope: Scope) -> Outcome:
        """Select the objects, check the body for all of them, and only then run it for one after the other."""
        named = [word[1:-1] for word in scope.words()]
        outcome, names = self._selected(node, label, scope, named)
        if not outcome.ok:
            return outcome
        try:
            bodies = {name: node.bind(name) for name in names}
        except ConfigError as error:
            return self._failed(Code.BAD_GOAL, label, scope, " | ".join(error.faults))
        scope.count.expect(budget_of(*(one for body in bodies.values() for one in body)))
        for name, body in bodies.items():
            self._record.turn(scope.arm, label, f"[{name}]", body)
        for i, (name, body) in enumerate(bodies.items()):
            part = scope.into(lambda word, i=i: names.index(word[1:-1]) - i)  # type: ignore[misc]
            outcome = self._block(body, f"{label}[{name}]", part)
            if not outcome.ok:
                return outcome
        return OK

    def _selected(
        self, node: ForEach, label: str, scope: Scope, named: Sequence[str]
    ) -> tuple[Outcome, list[str]]:
        """Return the objects of a loop in their order, from the first that a place names on."""
        order = list(node.among) or sorted({*self._ports.movable(), *named})
        first = min((order.index(name) for name in named), default=0)
        found = list[str]()
        for name in order[first:]:
            truth = Truth.TRUE
            if node.where is not None and name not in named:
                truth, outcome = self._ask(node.where_of(name), label, scope)
                if truth is Truth.UNKNOWN:
                    return outcome, []
            found += [name] if truth is Truth.TRUE else []
        if len(found) > node.limit:
            text = f"selects {len(found)} objects, {', '.join(found)[:200]}; max is {node.limit}, raise it"
            return self._failed(Code.LOOP_BOUND, label, scope, text), []
        return OK, found

    def _if(self, node: If, label: str, scope: Scope) -> Outcome:
        words = scope.words()
        truth = Truth.of(words[0] == "then") if words else Truth.UNKNOWN
        if not words:
            truth, outcome = self._ask(node.condition, label, scope)
            if truth is Truth.UNKNOWN:
                return outcome
        block = node.then if truth is Truth.TRUE else node.otherwise
        scope.count.expect(budget_of(*block))
        where = f"{label}.{'then' if truth is Truth.TRUE else 'else'}"
        return self._block(block, where, scope.into(lambda _word: 0))

    def _try(self, node: Try, label: str, scope: Scope) -> Outcome:
        begin = min((int(word[3:]) for word in scope.words()), default=1)
        failures: list[Outcome] = []
        for i, block in enumerate(node.alternatives[begin - 1 :], begin):
            scope.count.expect(budget_of(Try(node.path, node.alternatives[i - 1 :])))
            self._record.go_on(scope.arm)
            part = scope.into(lambda word, i=i: int(word[3:]) - i)  # type: ignore[misc]
            outcome = self._block(block, f"{label}.try{i}", part)
            if outcome.ok or scope.token.is_set() or outcome.code in FINAL:
                return outcome
            failures.append(outcome)
        text = "; ".join(one.message for one in failures)
        return replace(failures[-1], message=f"all alternatives of step {label} failed: {text}")

    def _ask(self, condition: Condition, label: str, scope: Scope) -> tuple[Truth, Outcome]:
        """Return the value of a condition, with the failure where it is UNKNOWN, the reason where FALSE."""
        if self._ports.conditions is None:
            return Truth.UNKNOWN, self._failed(Code.INTERNAL, label, scope, "there is no condition monitor")
        show = self._shown(f"condition {condition.text}", label, scope)
        found = decided(self._ports.conditions, condition, scope.token, self._ports.clock, show)
        if scope.token.is_set():
            return Truth.UNKNOWN, self._ended(label, scope)
        text = f"{condition.text} is {found.truth.name}: {found.reason}"
        if found.truth is Truth.UNKNOWN:
            return found.truth, self._failed(Code.CONDITION_UNKNOWN, label, scope, text)
        return found.truth, OK if found.truth is Truth.TRUE else Outcome(Code.OK, text)

    def _shown(self, stage: str, label: str, scope: Scope) -> Callable[[], None]:
        """Return the function that reports a control node which waits."""
        return lambda: self._record.progress(label, scope.arm, "", Progress(stage, 0, 1, 0.0))

    def _failed(self, code: Code, label: str, scope: Scope, text: str) -> Outcome:
        self._record.stop_at(scope.arm, label)
        return Outcome(code, f"step {label}{scope.arm and ', '}{scope.arm}: {text}")

    def _ended(self, label: str, scope: Scope) -> Outcome:
        """Return the outcome of a node that a request ended; an arm that began no skill goes on with the node."""
        if not any(scope.at.values()) and not self._record.ran.get(scope.arm):
            self._record.stop_at(scope.arm, label)
        return Outcome(scope.token.reason, f"{scope.token.reason.name.lower()} in step {label}")
