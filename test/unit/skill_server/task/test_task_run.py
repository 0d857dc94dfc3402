"""Running tasks: order, barriers, arms at the same time, the first failure, resuming, repeating."""

from __future__ import annotations

import threading

import pytest

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.execution.run import ExecutionResult
from skill_server.task.model import Entry
from skill_server.task.record import Report, TaskEntryState, TaskProgress
from skill_server.task.run import TaskResult, run_task
from skill_server.task.scope import Do, Ports
from skill_server.task.task_paths import starts

from .test_task_file import GOOD, read

LIMIT_S = 60.0
LEFT = "skills[0].gantry[0].left"


class StepClock:
    """Time that advances only in ``sleep``, by all threads."""

    def __init__(self) -> None:
        self.time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        if not should_stop():
            self.time_s += seconds


class Doer:
    """Records the skills that run; ``meet``: paths that wait for one another; ``fails``, ``waits``: paths."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.fails: dict[str, Outcome] = {}
        self.waits: set[str] = set()
        self.meet: threading.Barrier | None = None
        self.lock = threading.Lock()
        self.hands: dict[str, str] = {}
        self.loses: set[str] = set()

    def held(self, arm: str) -> str:
        return self.hands.get(arm, "")

    def _act(self, entry: Entry, outcome: Outcome) -> None:
        """A pick that succeeds fills the hand, a place that succeeds, or a skill that loses the object, empties it."""
        if outcome.ok and entry.skill.name == "pick":
            self.hands[entry.arm] = entry.params.object
        elif outcome.ok or entry.path in self.loses:
            self.hands.pop(entry.arm, None)

    def __call__(self, entry: Entry, token: Token, report: Report) -> ExecutionResult:
        with self.lock:
            self.log.append(f"{entry.step} {entry.arm} {entry.skill.name}")
        report(Progress("select", 0, 2, 0.0))
        if self.meet is not None and entry.step == "1.1" and entry.skill.name == "pick":
            self.meet.wait(LIMIT_S)
        outcome = self.fails.get(entry.path, OK)
        if entry.path in self.waits:
            assert token.wait(LIMIT_S), "nobody stopped it"
            outcome = Outcome(token.reason, "stopped")
        self._act(entry, outcome)
        return ExecutionResult(outcome, (), 1.0, 0.0, 1, entry.params.seed)


def ports(do: Do, doer: Doer) -> Ports:
    return Ports(do, StepClock(), doer.held)


def run(
    doer: Doer, start: str = "", token: Token | None = None, seen: list[Progress] | None = None
) -> TaskResult:
    task = read(GOOD)
    notes = [] if seen is None else seen
    return run_task(task, starts(task, start), ports(doer, doer), token or Token(), notes.append)


def states(ended: TaskResult) -> list[str]:
    return [end.state.name for end in ended.entries]


def test_steps_are_barriers_and_the_arms_of_one_run_at_the_same_time() -> None:
    doer, seen = Doer(), list[Progress]()
    doer.meet = threading.Barrier(2)
    ended = run(doer, seen=seen)
    assert ended.outcome.ok and not ended.resume_from
    assert states(ended) == ["SUCCEEDED"] * 5
    assert sorted(doer.log[:3]) == ["1.1 left_arm pick", "1.1 left_arm place", "1.1 right_arm pick"]
    assert doer.log[3:] == ["1.2 right_arm place", "2.1 left_arm pick"]
    last = seen[-1]
    assert isinstance(last, TaskProgress)
    assert (last.step, last.arm, last.skill, last.done, last.total) == ("2.1", "left_arm", "pick", 4, 5)


def test_a_failed_skill_is_not_counted_as_done() -> None:
    doer, seen = Doer(), list[Progress]()
    doer.fails[f"{LEFT}[0]"] = Outcome(Code.NO_IK, "out of reach")
    both_run = threading.Barrier(2)

    def do(entry: Entry, token: Token, report: Report) -> ExecutionResult:
        both_run.wait(LIMIT_S)
        if entry.arm == "right_arm":
            assert token.wait(LIMIT_S)
        return doer(entry, token, report)

    run_task(read(GOOD), starts(read(GOOD), ""), ports(do, doer), Token(), seen.append)
    assert [p.done for p in seen if isinstance(p, TaskProgress) and p.arm == "right_arm"] == [0]


def test_the_first_failure_ends_the_task_and_the_other_arm() -> None:
    doer = Doer()
    doer.fails["skills[0].gantry[0].left[0]"] = Outcome(Code.NO_IK, "out of reach", "select")
    doer.waits.add("skills[0].gantry[0].right[0]")
    doer.meet = threading.Barrier(2)
    ended = run(doer)
    assert ended.outcome.code is Code.NO_IK
    assert ended.outcome.message == "step 1.1, left_arm, pick: out of reach"
    assert states(ended) == ["FAILED", "NOT_STARTED", "FAILED", "NOT_STARTED", "NOT_STARTED"]
    assert ended.entries[2].run is not None and ended.entries[2].run.outcome.code is Code.CANCELED
    assert ended.resume_from == "1.1"


def test_a_failed_step_is_where_to_resume_and_the_seeds_stay() -> None:
    doer = Doer()
    doer.fails["skills[0].gantry[1].right[0]"] = Outcome(Code.NOT_IN_PLACE, "beside")
    first = run(doer)
    assert first.resume_from == "1.2"
    again = run(Doer(), first.resume_from)
    assert again.outcome.ok
    assert states(again) == ["SKIPPED"] * 3 + ["SUCCEEDED"] * 2
    whole = run(Doer())
    assert [e.run.seed for e in again.entries if e.run] == [e.run.seed for e in whole.entries[3:] if e.run]


def test_a_failed_place_goes_on_with_the_object_in_the_hand() -> None:
    doer = Doer()
    doer.fails[f"{LEFT}[1]"] = Outcome(Code.OBJECT_MOVED, "the tray moved")
    first = run(doer)
    assert states(first)[:2] == ["SUCCEEDED", "FAILED"]
    assert doer.hands["left_arm"] == "cube"
    assert first.resume_from.startswith("left_arm=1.1.2")
    doer.fails.clear()
    doer.log.clear()
    seen = list[Progress]()
    again = run(doer, first.resume_from, seen=seen)
    assert again.outcome.ok, again.outcome
    assert "1.1 left_arm pick" not in doer.log and doer.log.count("1.1 left_arm place") == 1
    assert states(again)[:2] == ["SKIPPED", "SUCCEEDED"]
    assert isinstance(seen[0], TaskProgress)
    assert seen[0].done == states(first).count("SUCCEEDED")


def test_a_place_that_lost_its_object_goes_on_with_the_pick() -> None:
    doer = Doer()
    doer.fails["skills[0].gantry[1].right[0]"] = Outcome(Code.OBJECT_DROPPED, "fell")
    doer.loses.add("skills[0].gantry[1].right[0]")
    first = run(doer)
    assert first.resume_from == "left_arm=2.1.1,right_arm=1.1.1"
    doer.fails.clear()
    doer.log.clear()
    assert run(doer, first.resume_from).outcome.ok
    assert doer.log == ["1.1 right_arm pick", "1.2 right_arm place", "2.1 left_arm pick"]


def test_a_hand_that_no_skill_can_begin_with_is_named() -> None:
    doer = Doer()
    doer.hands["left_arm"] = "ball"
    doer.fails[f"{LEFT}[0]"] = Outcome(Code.NOTHING_GRASPED, "missed")
    doer.loses.add(f"{LEFT}[0]")
    doer.waits.add("skills[0].gantry[0].right[0]")
    ended = run(doer)
    assert ended.outcome.message == (
        "step 1.1, left_arm, pick: missed; left_arm holds nothing and held ball before the skill: "
        "change that before the task goes on"
    )
    assert ended.resume_from == "1.1"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("1.2", [3, 4]),
        ("left_arm=1.1.2", [1, 2, 3, 4]),
        ("left_arm=1.1.2,right_arm=1.2.1", [1, 3, 4]),
        ("left_arm=1.1.3, right_arm=1.1.1", [2, 3, 4]),
        ("left_arm=2.1.1,right_arm=1.2.2", [4]),
    ],
)
def test_a_place_to_go_on_from_is_read(text: str, left: list[int]) -> None:
    ended = run(Doer(), text)
    assert ended.outcome.ok
    assert [i for i, state in enumerate(states(ended)) if state != "SKIPPED"] == left


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("left=1.1.2", "did you mean 'left_arm'"),
        ("left_arm=1.1", "is no place; write left_arm=<group>"),
        ("left_arm=2", "is no place; write left_arm=<group>"),
        ("left_arm=1.2.1", "has no skill in step 1.2"),
        ("left_arm=1.1.4", "write a number from 1 to 2, or 3"),
        ("left_arm=1.1.1,left_arm=1.1.2", "named twice"),
    ],
)
def test_a_wrong_place_to_go_on_from_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        starts(read(GOOD), text)


@pytest.mark.parametrize("reason", [Code.CANCELED, Code.PREEMPTED, Code.SHUTDOWN, Code.TIME_RESET])
def test_a_stop_reaches_every_arm(reason: Code) -> None:
    doer, token = Doer(), Token()
    doer.waits |= {"skills[0].gantry[0].left[0]", "skills[0].gantry[0].right[0]"}
    both_run = doer.meet = threading.Barrier(3)

    def stop() -> None:
        both_run.wait(LIMIT_S)
        token.set(reason)

    stopper = threading.Thread(target=stop)
    stopper.start()
    ended = run(doer, token=token)
    stopper.join()
    assert ended.outcome.code is reason
    assert len(doer.log) == 2
    assert ended.resume_from == "1.1"


def test_a_stop_before_the_start_runs_nothing() -> None:
    doer, token = Doer(), Token()
    token.set(Code.CANCELED)
    ended = run(doer, token=token)
    assert ended.outcome.code is Code.CANCELED and not doer.log
    assert set(states(ended)) == {TaskEntryState.NOT_STARTED.name}


def test_a_bug_in_one_arm_stops_the_other() -> None:
    doer = Doer()
    doer.waits.add("skills[0].gantry[0].right[0]")

    def buggy(entry: Entry, token: Token, report: Report) -> ExecutionResult:
        if entry.arm == "left_arm":
            raise ZeroDivisionError("planted")
        return doer(entry, token, report)

    task = read(GOOD)
    ended = run_task(task, starts(task, ""), ports(buggy, doer), Token(), lambda _progress: None)
    assert ended.outcome.code is Code.INTERNAL and "planted" in ended.outcome.message


def test_a_skill_that_never_returns_cannot_keep_the_process_from_ending() -> None:
    doer, inside, free = Doer(), threading.Barrier(3), threading.Event()
    kinds: list[bool] = []

    def deaf(entry: Entry, token: Token, report: Report) -> ExecutionResult:
        if entry.step == "1.1" and entry.skill.name == "pick":
            kinds.append(threading.current_thread().daemon)
            inside.wait(LIMIT_S)
            free.wait(LIMIT_S)
        return doer(entry, token, report)

    thread = threading.Thread(
        target=lambda: run_task(read(GOOD), {}, ports(deaf, doer), Token(), lambda _note: None)
    )
    thread.start()
    inside.wait(LIMIT_S)
    free.set()
    thread.join(LIMIT_S)
    assert kinds == [True, True]


def test_a_bug_beside_a_skill_is_raised_where_the_task_runs() -> None:
    def broken(progress: Progress) -> None:
        raise ValueError("planted")

    ended = run_task(read(GOOD), {}, ports(Doer(), Doer()), Token(), broken)
    assert ended.outcome.code is Code.INTERNAL
    assert "planted" in ended.outcome.message
