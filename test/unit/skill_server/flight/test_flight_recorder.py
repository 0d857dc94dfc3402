"""The flight recorder: which runs leave a bundle, what is in it, and that it never touches a run."""

from __future__ import annotations

import errno
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_cli.replay.explanation import explain
from handiwork_cli.replay.replay import Replayed, changed, lines_of, replay_bundle
from handiwork_core.bundles import bundle as bundle_module
from handiwork_core.bundles.bundle import Bundle, BundleError, Call, LogLine, Seen, read_bundle, write_bundle
from handiwork_core.bundles.folder import BundleFolder
from handiwork_core.contracts.planning import CandidatesRequest, CandidatesResult
from handiwork_core.contracts.skill import Stopped
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.testing.fakes import Cell, FakePlanner, Fakes, FakeWorld, blocked
from handiwork_core.testing.gantry import gantry
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.flight import recorder as recorder_module
from skill_server.flight.recorder import FlightRecorder, thinned
from skill_server.flight.trace import STATES, RunTrace
from skill_server.following.choice_ahead import choice_thread
from skill_server.skills.pick_place.pick import Pick, PickParams

from ..execution.test_executor import made, move_cube  # noqa: TID252 - the scene of the executor's tests

PARAMS = PickParams(object="cube", recovery="give_up")


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[FlightRecorder]:
    one = FlightRecorder(gantry(), "/robots/gantry", BundleFolder(tmp_path / "bundles"))
    yield one
    one.close()


def recorded(recorder: FlightRecorder, f: Fakes, params: PickParams = PARAMS) -> ExecutionResult:
    trace = recorder.begin(params, f.context)
    return recorder.end(trace, Pick(), run_skill(Pick(), params, f.context))


def read(recorder: FlightRecorder, result: ExecutionResult) -> Bundle:
    recorder.close(60.0)
    return read_bundle(Path(result.bundle), [PickParams])


class Near(FakePlanner):
    """Reaches nothing farther than ``FARTHEST_M`` before the base; ``after`` gets the number of each check."""

    FARTHEST_M = 0.6

    def __init__(self, cell: Cell, after: Callable[[int], None] = lambda _number: None) -> None:
        super().__init__(cell)
        self._after = after

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        found = super().check_candidates(request, should_stop=should_stop)
        pairs = zip(found.verdicts, request.candidates, strict=True)
        far = [one.world_T_ee[-1].translation_m[0] > self.FARTHEST_M for _, one in pairs]
        verdicts = [
            replace(one, code=Code.NO_IK) if is_far else one
            for one, is_far in zip(found.verdicts, far, strict=True)
        ]
        self._after(len(self.candidates))
        return replace(found, verdicts=tuple(verdicts))


class Rolling(FakeWorld):
    """A world whose cube rolls until a thread that chooses ahead has looked three times."""

    rolls, looks = False, 0

    def snapshot(self) -> World:
        if self.rolls and choice_thread():
            self.looks += 1
            self.rolls = self.looks < 3
        world = super().snapshot()
        if not self.rolls:
            return world
        moving = replace(world.states["cube"], world_v_object=np.array([0.05, 0.0, 0.0]))
        return replace(world, states={**world.states, "cube": moving})


def replayed(bundle: Bundle, kind: type[FakePlanner] = FakePlanner) -> Replayed:
    """Replay with a planner of the fakes in place of the engine."""

    class Planner:
        def __init__(self) -> None:
            self.fake = kind(Cell({}, {}))

        def plan(self, request: Any, _world: World, _stop: Any) -> Any:
            return self.fake.plan(request, should_stop=lambda: False)

        def check_candidates(self, request: Any, _world: World, _stop: Any) -> Any:
            return self.fake.check_candidates(request, should_stop=lambda: False)

        def validate(self, arm: str, asked: Any, _world: World) -> Any:
            return self.fake.validate(arm, asked.trajectory, asked.scene, should_stop=lambda: False)

    return replay_bundle(bundle, Pick(), gantry(), Planner())


def test_a_run_that_succeeds_leaves_nothing(recorder: FlightRecorder, tmp_path: Path) -> None:
    result = recorded(recorder, made())
    assert result.outcome.ok
    assert result.bundle == ""
    recorder.close()
    assert not (tmp_path / "bundles").exists()


def test_a_failure_leaves_what_was_asked_and_answered(recorder: FlightRecorder) -> None:
    f = made()
    f.arm.miss = np.array([0.012, 0, 0, 0, 0, 0])
    recorder.note_log(LogLine(1.0, "WARN", "sim_bridge", "slow"))
    result = recorded(recorder, f)
    bundle = read(recorder, result)
    assert bundle.head.outcome.code is result.outcome.code is Code.NOT_REACHED
    assert bundle.params == PARAMS
    assert {call.port for call in bundle.calls} == {
        "check_candidates",
        "plan",
        "move",
        "validate",
        "follow",
        "stop",
    }
    assert bundle.log[-1].text == "slow"
    again = replayed(
        bundle,
    )
    assert again.is_same, lines_of(again)
    assert again.comparison.identical == again.comparison.count > 0
    text = explain(bundle, "a.bundle")
    assert len(text) == 10
    assert "NOT_REACHED" in text[0]
    assert text[1].removeprefix("reason:").strip() == result.outcome.message


@pytest.mark.parametrize("motion", [1, 2, 3])
def test_a_cancel_in_any_motion_is_repeated(recorder: FlightRecorder, motion: int) -> None:
    f = made()

    def cancel(t: float) -> None:
        if f.arm.followed == motion and t > 0.1:
            f.context.token.set(Code.CANCELED)

    f.arm.on_tick = cancel
    result = recorded(recorder, f)
    assert result.outcome.code is Code.CANCELED
    bundle = read(recorder, result)
    assert bundle.stop is not None
    again = replayed(
        bundle,
    )
    assert again.is_same, lines_of(again)


@pytest.mark.parametrize("code", [Code.PLANNER_LOST, Code.PLAN_BUDGET])
def test_what_no_engine_can_repeat_is_repeated_as_recorded(recorder: FlightRecorder, code: Code) -> None:
    f = made()
    f.planner.refusals = [blocked(code, "", "")]
    result = recorded(recorder, f)
    assert result.outcome.code is code
    again = replayed(
        read(recorder, result),
    )
    assert again.is_same, lines_of(again)
    assert again.comparison.repeated == 1


def test_an_object_that_slips_away_is_judged_the_same(recorder: FlightRecorder) -> None:
    f = made()

    def slip(t: float) -> None:
        if f.arm.followed == 3 and t > 0.2:
            f.cell.drop()

    f.arm.on_tick = slip
    result = recorded(recorder, f)
    assert not result.outcome.ok
    again = replayed(
        read(recorder, result),
    )
    assert again.is_same, lines_of(again)


@pytest.mark.parametrize("is_rolling", [False, True])
def test_a_choice_ahead_that_is_made_again_is_repeated_so(
    recorder: FlightRecorder, *, is_rolling: bool
) -> None:
    """The cube goes on after the choice that was made ahead: the next one fails, as it did."""
    f = made()
    f.context.world = world = Rolling(f.cell)

    def nudge(t: float) -> None:
        if f.arm.followed == 1 and abs(t - 0.5) < 0.01:
            move_cube(f, 0.03)
            world.rolls = is_rolling

    def again(number: int) -> None:
        if number == 2:
            move_cube(f, 0.4)

    f.arm.on_tick, f.context.planner = nudge, Near(f.cell, again)
    result = recorded(recorder, f)
    assert result.outcome.code is Code.NO_CANDIDATE, result.outcome
    bundle = read(recorder, result)
    threads = [call.thread for call in bundle.calls if call.port == "check_candidates"]
    assert threads[:3] == ["", "choice-ahead-1", ""]
    again_ = replayed(bundle, Near)
    assert again_.is_same, lines_of(again_)
    assert again_.comparison.identical == again_.comparison.count, lines_of(again_)


def test_a_choice_ahead_that_asked_nothing_asks_nothing_in_its_replay(recorder: FlightRecorder) -> None:
    """The cube rolls for longer than a choice ahead waits, and then lies out of reach."""
    f = made()
    f.context.world = world = Rolling(f.cell)

    def nudge(t: float) -> None:
        if f.arm.followed == 1 and abs(t - 0.5) < 0.01:
            move_cube(f, 0.03)
            world.rolls, world.looks = True, -1_000_000

    def rest(call: str) -> None:
        if world.rolls and call == "clock.sleep":
            move_cube(f, 0.4)
            world.rolls = False

    f.arm.on_tick, f.context.planner, f.cell.before = nudge, Near(f.cell), rest
    result = recorded(recorder, f)
    assert result.outcome.code is Code.NO_CANDIDATE, result.outcome
    again = replayed(read(recorder, result), Near)
    assert again.is_same, lines_of(again)


def test_another_engine_shows_as_another_outcome(recorder: FlightRecorder) -> None:
    f = made()
    f.planner.refusals = [blocked(Code.PATH_BLOCKED, "gantry/hand", "table")]
    again = replayed(read(recorder, recorded(recorder, f)))
    assert not again.is_same
    assert again.comparison.other
    assert "ANOTHER OUTCOME" in "\n".join(lines_of(again))


def test_a_refused_goal_leaves_its_message_and_the_world(recorder: FlightRecorder) -> None:
    outcome = Outcome(Code.UNKNOWN_OBJECT, "no object 'cueb'", "check", "object")
    path = recorder.refused("pick", {"object": "cueb", "arm": ""}, "", outcome, Seen(3.0, World(3.0)))
    recorder.close()
    bundle = read_bundle(Path(path))
    assert bundle.was_refused
    assert bundle.goal["object"] == "cueb"
    assert "the goal never ran" in "\n".join(explain(bundle, path))


def test_a_full_disk_costs_the_bundle_and_nothing_else(
    recorder: FlightRecorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(recorder_module, "write_bundle", full)
    f = made()
    f.arm.miss = np.array([0.012, 0, 0, 0, 0, 0])
    assert recorded(recorder, f).outcome.code is Code.NOT_REACHED
    recorder.close()
    assert "was not written: [Errno 28] No space left on device" in caplog.text


def test_a_recorder_that_fails_changes_no_goal(
    recorder: FlightRecorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_args: object, **_named: object) -> None:
        raise RuntimeError("a fault of the recorder")

    monkeypatch.setattr(BundleFolder, "next_path", broken)
    f = made()
    f.arm.miss = np.array([0.012, 0, 0, 0, 0, 0])
    result = recorded(recorder, f)
    assert (result.outcome.code, result.bundle) == (Code.NOT_REACHED, "")
    assert recorder.refused("pick", {}, "", Outcome(Code.BUSY), None) == ""
    monkeypatch.setattr(recorder_module, "RunTrace", broken)
    assert recorded(recorder, made()).outcome.ok
    assert caplog.text.count("a fault of the recorder") == 3


def test_a_goal_that_is_stopped_before_it_begins_or_ends_is_no_fault_of_the_recorder(
    recorder: FlightRecorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stopped(*_args: object, **_named: object) -> None:
        raise Stopped(Code.SHUTDOWN)

    monkeypatch.setattr(recorder_module, "RunTrace", stopped)
    f = made()
    f.context.token.set(Code.SHUTDOWN)
    assert recorded(recorder, f).outcome.code is Code.SHUTDOWN
    monkeypatch.undo()
    monkeypatch.setattr(RunTrace, "bundle", stopped)
    f = made()
    f.arm.miss = np.array([0.012, 0, 0, 0, 0, 0])
    result = recorded(recorder, f)
    assert (result.outcome.code, result.bundle) == (Code.NOT_REACHED, "")
    assert not caplog.text


def test_a_long_run_in_a_huge_world_has_a_bound() -> None:
    f, count = made(), 500
    trace = RunTrace(PARAMS, f.context, {})
    state = next(iter(f.context.world.snapshot().states.values()))
    for _ in range(4 * STATES // count):
        f.cell.now_s += 0.02
        world = World(f.cell.now_s, 1, {}, {str(i): state for i in range(count)})
        trace.see(world)
        trace.call("move", "arm", None, world, lambda: None, lambda world=world: world)
    head = recorder_module.Head("pick", "pick", "", "", "", Outcome(Code.BUSY), "")
    bundle = trace.bundle(head, {})
    assert sum(len(one.world.states) for one in bundle.seen) <= STATES
    assert sum(len(call.world.states) for call in bundle.calls) <= STATES
    assert bundle.is_cut
    assert bundle.seen[-1].at_s == f.cell.now_s


def test_a_long_bundle_is_written_in_short_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, dumps = list[int](), json.dumps

    def noted(value: Any, **options: Any) -> str:
        text = dumps(value, **options)
        lengths.append(len(text))
        return text

    head = recorder_module.Head("pick", "pick", "", "", "", Outcome(Code.BUSY), "")
    seen = tuple(Seen(0.1 * n, World(0.1 * n)) for n in range(400))
    monkeypatch.setattr(bundle_module.json, "dumps", noted)
    write_bundle(tmp_path / "a.bundle", Bundle(head, seen=seen))
    assert sum(lengths) > 40 * max(lengths)
    assert len(read_bundle(tmp_path / "a.bundle").seen) == 400


def test_a_writer_that_is_behind_leaves_bundles_out_at_once(
    recorder: FlightRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_open = threading.Event()
    monkeypatch.setattr(recorder_module, "write_bundle", lambda *_: is_open.wait(10.0))
    outcome = Outcome(Code.BUSY, "busy")
    paths = [recorder.refused("pick", {}, "", outcome, None) for _ in range(recorder_module.WAITING + 5)]
    is_open.set()
    assert "" in paths
    assert paths[0]


def test_the_end_waits_for_every_bundle_that_was_named(
    recorder: FlightRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine each takes long: the bound counts from the last one that was written.

    The versions of all packages are not read, which alone may take longer there.
    """
    begun, written = threading.Event(), list[Path]()

    def slowly(path: Path, _bundle: Bundle) -> None:
        begun.wait(10.0)
        threading.Event().wait(0.4)
        written.append(path)

    monkeypatch.setattr(recorder_module, "write_bundle", slowly)
    monkeypatch.setattr(recorder_module.metadata, "distributions", list)
    outcome = Outcome(Code.BUSY, "busy")
    paths = [Path(recorder.refused("pick", {}, "", outcome, None)) for _ in range(4)]
    begun.set()
    recorder.close(1.0)
    assert written == paths


def test_the_end_names_what_it_could_not_write(
    recorder: FlightRecorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    is_open = threading.Event()
    monkeypatch.setattr(recorder_module, "write_bundle", lambda *_: is_open.wait(10.0))
    path = recorder.refused("pick", {}, "", Outcome(Code.BUSY, "busy"), None)
    recorder.close(0.2)
    is_open.set()
    assert "the end came before these bundles" in caplog.text
    assert path in caplog.text


def test_the_history_is_bounded_and_forgets_another_time(tmp_path: Path) -> None:
    recorder = FlightRecorder(gantry(), "", BundleFolder(tmp_path), lambda: datetime.now().astimezone())
    for step in range(1000):
        recorder.note_world(0.1 * step, World(0.1 * step))
    path = recorder.refused("pick", {}, "", Outcome(Code.BUSY), Seen(200.0, World(200.0)))
    recorder.note_world(1.0, World(1.0))
    later = recorder.refused("pick", {}, "", Outcome(Code.BUSY), Seen(2.0, World(2.0)))
    recorder.close()
    times = [one.at_s for one in read_bundle(Path(path)).seen[:-1]]
    assert len(times) == 120
    assert times[-1] - times[0] == pytest.approx(59.5, abs=0.6)
    assert [one.at_s for one in read_bundle(Path(later)).seen] == [1.0, 2.0]


def test_only_the_last_seconds_are_kept_closely() -> None:
    outcome = Outcome(Code.BUSY)
    head = recorder_module.Head("pick", "pick", "", "", "", outcome, "")
    seen = tuple(Seen(0.02 * n, World(0.02 * n)) for n in range(1000))
    kept = thinned(Bundle(head, seen=seen, ended_s=20.0))
    assert sum(one.at_s > 15.0 for one in kept) == 249
    assert 70 <= sum(one.at_s <= 15.0 for one in kept) <= 80


def test_what_broke_a_motion_off_is_kept_closely() -> None:
    """The clock ticks between the last snapshot of a motion and its end; a brake takes less than a sparse step."""
    head = recorder_module.Head("pick", "pick", "", "", "", Outcome(Code.BUSY), "")
    seen = tuple(Seen(0.02 * n, World(0.02 * n)) for n in range(1000))
    broken = Call("follow", "arm", 3.0, 5.005, None, Outcome(Code.CANCELED), seen[150].world)
    whole = Call("follow", "arm", 7.0, 9.055, None, Outcome(Code.OK), seen[350].world)
    kept = [one.at_s for one in thinned(Bundle(head, calls=(broken, whole), seen=seen, ended_s=20.0))]
    assert sum(4.0 <= at_s <= 5.0 for at_s in kept) >= 49
    assert sum(8.0 <= at_s <= 9.0 for at_s in kept) < 8
    assert any(9.03 < at_s < 9.05 for at_s in kept), "the last snapshot of the motion"


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("objekt", "cube", "has no such parameter; did you mean 'object'"),
        ("t_eps", "wide", "give a float"),
        ("t_eps", "[1", "is no YAML value"),
        ("look_ahead", "3", "give a bool"),
    ],
)
def test_a_bad_change_of_a_parameter_is_named(key: str, value: str, why: str) -> None:
    with pytest.raises(BundleError, match=why.replace("[", r"\[")):
        changed(PARAMS, {key: value})


def test_a_change_of_a_parameter_keeps_its_kind() -> None:
    made_ = changed(PARAMS, {"t_eps": "1", "ignore_substring": "[can, bin]", "object": "can", "seed": "4"})
    assert made_.t_eps == 1.0
    assert made_.ignore_substring == ("can", "bin")
    assert (made_.object, made_.seed) == ("can", 4)
