"""The machine of a task against traces of another implementation, and the cases where ours is stricter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from conditionals_node.predicates.counting import Logical
from conditionals_node.subtasks.group_run import Changes
from conditionals_node.subtasks.machine import TaskRun
from conditionals_node.subtasks.stages import Group, Step, SubtaskStage
from conditionals_node.verdicts.truths import Truths
from handiwork_core.contracts.predicate import Truth
from support.paths import ROOT

DATA = ROOT / "test" / "data" / "conditionals"
CODES = json.loads((DATA / "pick_and_place.json").read_text())
STEPS = 50


def load() -> dict[str, Any]:
    found = dict(np.load(DATA / "subtask_traces.npz"))
    tasks = len(found["in_n_stages"])
    for name, shape in (("in_truth", (tasks, STEPS, 3, 4, 4)), ("out_completed", (tasks, STEPS, 4, 4))):
        found[name] = np.unpackbits(found[name], count=int(np.prod(shape))).reshape(shape).astype(bool)
    return found


def stages(v: dict[str, Any], task: int) -> list[SubtaskStage]:
    names = v["logical_names"]
    return [
        SubtaskStage(
            f"stage{s}",
            tuple(
                Group(
                    f"{g}",
                    tuple(
                        Step(f"{s}{g}{c}", float(v["in_cond_score"][task, s, g, c]))
                        for c in range(v["in_n_conds"][task, s, g])
                    ),
                    skip=True,
                )
                for g in range(v["in_n_groups"][task, s])
            ),
            Logical(str(names[v["in_logical"][task, s]])),
            int(v["in_K"][task, s]),
            float(v["in_stage_score"][task, s]),
        )
        for s in range(v["in_n_stages"][task])
    ]


def code(name: str, gained: bool) -> int:
    word = "SUCCESS" if gained else "FAILURE"
    return int(CODES["status_codes"].get(f"{name.upper()}_{word}", 100 if gained else 200))


def index(step: Step) -> tuple[int, ...]:
    return tuple(int(letter) for letter in step.key)


def one(value: Truth) -> Truths:
    return np.array([int(value)], dtype=np.int8)


def play(v: dict[str, Any], task: int) -> Iterator[tuple[int, TaskRun, list[Changes]]]:
    run = TaskRun(stages(v, task))
    for t in range(STEPS):
        truth = v["in_truth"][task, t]
        yield t, run, run.update(lambda step, truth=truth: one(Truth.of(bool(truth[index(step)]))))


def test_stages_places_scores_and_changes_agree_with_the_traces() -> None:
    v = load()
    checked = ended = 0
    for task in range(len(v["in_n_stages"])):
        status_before_end = 0
        for t, run, changes in play(v, task):
            assert run.current[0] == v["out_stage"][task, t]
            assert run.score()[0] == pytest.approx(v["out_score"][task, t], abs=1e-6)
            # Ours is done with the last stage, theirs in the step after.
            ended += bool(run.done[0]) and not v["out_done"][task, t]
            assert run.done[0] or not v["out_done"][task, t]
            # Theirs names the first condition that a change completed, or lost.
            codes = [
                code(_name(v, task, change.group.steps[change.first[0]]), bool(change.gained[0]))
                for change in changes
            ]
            status_before_end = codes[-1] if codes else 0
            assert status_before_end == v["out_status"][task, t]
            if not run.done[0]:
                groups = run.runs[run.current[0]].groups
                places = [int(group.next[0]) for group in groups]
                assert places == [p for p in v["out_tracker"][task, t] if p >= 0]
                for g, group in enumerate(groups):
                    completed = v["out_completed"][task, t, g, : len(group.completed)]
                    assert group.completed[:, 0].tolist() == completed.tolist()
            checked += 1
        missing = run.missing()
        final = 0 if missing is None else code(_name(v, task, missing), False)
        assert final == v["out_final_code"][task]
        assert sum(stage.needed for stage in run.stages) == v["out_num_subtasks"][task]
    assert (checked, ended) == (len(v["in_n_stages"]) * STEPS, 142)


def _name(v: dict[str, Any], task: int, step: Step) -> str:
    return str(v["cond_names"][v["in_cond_name"][(task, *index(step))]])


def group(*weights: float, skip: bool = False) -> Group:
    return Group("g", tuple(Step("abcd"[i], w) for i, w in enumerate(weights)), skip)


def play_letters(run: TaskRun, *snapshots: str) -> list[str]:
    """Return the changes, "+c" for gained and "-c" for lost; a snapshot lists its TRUE letters, ? marks UNKNOWN."""
    found = []
    for holding in snapshots:

        def truth(step: Step, holding: str = holding) -> Truths:
            if f"{step.key}?" in holding:
                return one(Truth.UNKNOWN)
            return one(Truth.of(step.key in holding))

        changes = run.update(truth)
        found.append("".join(("+" if change.gained[0] else "-") + change.step(0).key for change in changes))
    return found


def one_group(*weights: float, skip: bool = False) -> TaskRun:
    return TaskRun([SubtaskStage("s", (group(*weights, skip=skip),))])


def test_in_order_each_condition_must_hold_in_its_turn() -> None:
    run = one_group(1.0, 1.0, 2.0)
    assert play_letters(run, "c", "b", "a", "ac", "ab", "", "c") == ["", "", "+a", "", "+b", "-a", ""]
    assert run.score()[0] == 0.0
    assert play_letters(run, "ab", "bc") == ["+b", "+c"]
    assert (run.done[0], run.score()[0]) == (True, 1.0)


def test_with_skip_a_later_condition_completes_those_before() -> None:
    run = one_group(1.0, 1.0, 2.0, skip=True)
    assert play_letters(run, "b", "", "c") == ["+b", "-a", "+c"]
    assert run.done[0]


def test_what_is_unknown_neither_gains_nor_loses() -> None:
    run = one_group(1.0, 1.0)
    assert play_letters(run, "a?", "a", "a?b?", "b?", "") == ["", "+a", "", "-a", ""]


def test_a_completed_group_never_goes_back_but_an_open_one_loses_its_score() -> None:
    stage = SubtaskStage("s", (Group("one", (Step("a"),)), Group("two", (Step("b"), Step("c")))))
    run = TaskRun([stage])
    play_letters(run, "ab", "")
    assert [int(state.next[0]) for state in run.runs[0].groups] == [1, 0]
    assert run.score()[0] == 0.5


@pytest.mark.parametrize(
    ("logical", "k", "scores", "score", "needed"),
    [
        (Logical.ALL, 1, (1.0, 0.5, 0.0), 0.5, 3),
        (Logical.ANY, 1, (0.2, 0.5, 0.0), 0.5, 1),
        (Logical.CHOOSE, 2, (0.2, 0.5, 1.0), 0.75, 2),
    ],
)
def test_scores_of_stages(
    logical: Logical, k: int, scores: tuple[float, ...], score: float, needed: int
) -> None:
    stage = SubtaskStage("s", tuple(Group(name, (Step(name),)) for name in "abc"), logical, k)
    assert stage.score(np.array(scores)[:, None])[0] == pytest.approx(score)
    assert stage.needed == needed


def test_only_one_stage_is_finished_by_a_snapshot_and_a_finished_task_stays() -> None:
    run = TaskRun([SubtaskStage("one", (group(1.0),)), SubtaskStage("two", (group(1.0),), weight=0.5)])
    play_letters(run, "a")
    assert (run.current[0], run.score()[0]) == (1, pytest.approx(2 / 3))
    play_letters(run, "a", "", "")
    assert (run.done[0], run.score()[0], run.missing()) == (True, 1.0, None)


def test_impossible_stages_are_refused() -> None:
    with pytest.raises(ValueError, match="K: is 2; with 1 groups write 1 to 1"):
        SubtaskStage("s", (group(1.0),), Logical.CHOOSE, 2)
    with pytest.raises(ValueError, match="groups: is empty"):
        SubtaskStage("s", ())
    with pytest.raises(ValueError, match="score: is 2"):
        SubtaskStage("s", (group(1.0),), weight=2.0)
    with pytest.raises(ValueError, match="has no conditions"):
        Group("g", ())
    with pytest.raises(ValueError, match="negative"):
        group(-1.0)
