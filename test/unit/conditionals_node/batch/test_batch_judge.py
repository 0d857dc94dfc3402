"""A batch of worlds has the verdicts, scores and events that the monitor finds in each world alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.batch import BatchJudge, Worlds, evaluate_expression
from conditionals_node.batch.judge import BatchVerdicts
from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.expressions.expression import Leaf
from conditionals_node.monitoring.evaluation import Evaluation
from conditionals_node.subtasks.watch import TaskWatch
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Finding, Predicate
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import World
from support.paths import ROOT
from support.records.histories import EXPRESSIONS, STEPS, carried, history
from support.records.tabletop import IN_BIN, ROBOT, Shown, task_of

BOTH = "object: [cube, can], container: bin"
TASKS = {
    "ladder": f"{{name: t, subtasks: [{{name: put, logical: any, pick_and_place: {{{BOTH}}}}}]}}",
    "one of two, then another": f"""
name: t
subtasks:
- {{name: put, logical: choose, K: 1, score: 0.5, pick_and_place: {{{BOTH}, ladder: false}}}}
- name: out
  skip: true
  groups:
    cube:
    - {{expression: object_grabbed(object=cube)}}
    - {{expression: "object_outside_of(object=cube, container=bin)", score: 2}}
events: {{upright: [can], tell_starts: true, merge_s: 0.3, closed_share: 0.6}}
success: {{settle_s: 0.25, confirm_s: 0.1, push_m: 0.2}}
""",
    "in order, by the original's rules": """
name: t
subtasks:
- name: order
  groups:
    one:
    - expression: >
        objects_placed_in_container_in_order(objects=[cube, can], container=bin, require_contact_with=false)
    two: [{expression: "not object_grabbed(object=cube) or gripper_open()"}]
success: {settle_s: 0, confirm_s: 0, require_stationary: false, exclusive: false, by_robot: false}
""",
    "on a surface": """
name: t
subtasks:
- {name: lay, logical: any, pick_and_place_on_surface: {object: [cube, can], surface: bin}, lasts: false}
- {name: last, groups: {can: [{expression: "object_stationary(object=can)"}]}, objects: [can]}
events: {rearm: false, grow_scene: false, closing_on_object: true, size_m: [1.5, 1.5, 1.5]}
""",
}
N = 8
SEED = 2


class Alone:
    """The monitor of one world."""

    def __init__(self, task: str) -> None:
        self.evaluation = Evaluation(max_age_s=1.0)
        self.watch = TaskWatch(task_of(task), ROBOT, self.evaluation, 0.0)

    def check(self, world: World, found: BatchVerdicts, i: int) -> int:
        """Check one world of a batch; return the number of its events."""
        self.evaluation.begin(world, world.stamp_s)
        events = self.watch.update(world, world.stamp_s).events
        assert repr(found.events.of(i)) == repr(events)  # equal numbers have equal texts, nan too
        judge = self.watch.judge
        assert found.score[i] == judge.run.score()[0]
        assert (found.end_score[i], found.peak_score[i]) == (
            judge.success.end_score[0],
            judge.success.peak_score[0],
        )
        assert (found.done[i], found.success[i]) == (judge.run.done[0], judge.success.lives.at_end[0])
        assert found.peak_success[i] == judge.success.lives.at_peak[0]
        assert (found.unwinnable[i], found.collateral[i]) == (
            judge.success.unwinnable[0],
            judge.collateral[0],
        )
        return len(events)


@pytest.mark.parametrize("name", TASKS)
def test_a_batch_judges_each_world_as_if_it_were_alone_also_after_resets(name: str) -> None:
    rng = np.random.default_rng(SEED + sum(map(ord, name)))
    batch, alone = BatchJudge.of_text(TASKS[name], ROBOT, N), [Alone(TASKS[name]) for _ in range(N)]
    histories = [history(rng, i) for i in range(N)]
    seen = {"events": 0, "done": 0, "success": 0, "lost": 0}
    for step in range(STEPS):
        again = np.flatnonzero(rng.random(N) < 0.02)
        batch.reset(again)
        for i in again:
            alone[i].watch.restart(histories[i][step].stamp_s)
        worlds = [histories[i][step] for i in range(N)]
        found = batch.step(Worlds.of(worlds))
        for i in range(N):
            seen["events"] += alone[i].check(worlds[i], found, i)
            refusals = batch.judge.success.refusals(alone[i].watch._names, i)
            assert sorted(refusals) == sorted(alone[i].watch.refusals)
        seen["done"] += int(found.done.sum())
        seen["success"] += int(found.success.sum())
        seen["lost"] += int((found.peak_success & ~found.success).sum())
    # The histories are worth comparing: much happens in them.
    assert min(seen.values()) > 5, seen


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_have_the_truth_and_margin_of_each_world(text: str) -> None:
    rng = np.random.default_rng(5)
    expression = Builder(ROBOT).build_expression("", text, lambda word: pytest.fail(word)).expression
    worlds = [world for i in range(4) for world in history(rng, i)]
    found = evaluate_expression(expression, Worlds.of(worlds))
    alone = [expression.decide(lambda leaf, world=world: leaf.predicate.evaluate(world)) for world in worlds]
    assert found.truth.tolist() == [int(one.truth) for one in alone]
    np.testing.assert_allclose(found.margin, [one.margin for one in alone], rtol=1e-9, atol=1e-12)
    assert len(set(found.truth.tolist())) > 1


def test_a_pose_that_is_not_known_is_unknown_in_its_world_only() -> None:
    rng = np.random.default_rng(6)
    known = history(rng, 0)[:3]
    states = {name: state for name, state in known[1].states.items() if name != "cube"}
    worlds = [known[0], World(known[1].stamp_s, 1, known[1].objects, states, (), known[1].stamp_s), known[2]]
    expression = (
        Builder(ROBOT).build("object_in_container", {"object": "cube", "container": "bin"}).expression
    )
    assert evaluate_expression(expression, Worlds.of(worlds)).truth.tolist()[1] == 0


def test_an_object_at_a_suction_cup_is_carried_in_a_batch_as_alone() -> None:
    text = f"""
name: t
subtasks:
- name: put
  groups: {{cube: [{{expression: "{EXPRESSIONS[0]}"}}]}}
"""
    batch, alone = BatchJudge.of_text(text, ROBOT, 2), Alone(text)
    shown = [Shown(), *[Shown()] * 10, *carried("cube")]
    for i, one in enumerate(shown):
        held = bool(one.held)
        world = replace(one, held=()).world(1.0 + 0.1 * i)
        cup = SuctionState(world.stamp_s, on=True, sealed=held, object="cube" if held else "")
        found = batch.step(Worlds.of([world, world]), sealed={"cube": [held, False]})
        alone.check(replace(world, suction={"cup": cup}), found, 0)
    assert found.success.tolist() == [True, False]
    refusals = batch.judge.success.refusals(alone.watch._names, 1)
    assert refusals == ["cube was moved, but no hand carried it"]
    with pytest.raises(ValueError, match="sealed\\['cup'\\]"):
        batch.step(Worlds.of([world, world]), sealed={"cup": [True, True]})


def test_verdicts_that_are_kept_do_not_change_with_a_reset() -> None:
    judge = BatchJudge.of_text(TASKS["ladder"], ROBOT, 2)
    way = [Shown(), *[Shown()] * 10, *carried("cube")]
    for i, shown in enumerate(way):
        found = judge.step(Worlds.of([shown.world(1.0 + 0.1 * i)] * 2))
    fields = (
        "score",
        "end_score",
        "peak_score",
        "done",
        "success",
        "peak_success",
        "unwinnable",
        "collateral",
    )
    before = {name: getattr(found, name).copy() for name in fields}
    assert before["success"].all()
    judge.reset([0, 1])
    judge.step(Worlds.of([Shown().world(20.0)] * 2))
    for name in fields:
        np.testing.assert_array_equal(getattr(found, name), before[name])


def test_conditions_of_a_file_are_decided_beside_its_task() -> None:
    judge = BatchJudge.of_file(ROOT / "config" / "conditions.yaml", ROBOT, 2)
    found = judge.step(Worlds.of([Shown().world(1.0), Shown({"cube": IN_BIN}).world(1.0)]))
    assert found.truth["cube_put_away"].tolist() == [1, 2]
    assert (found.margin["cube_put_away"] > 0.0).tolist() == [False, True]


class Slow(Predicate):
    name = "slow"
    unit = "m"

    def subjects(self) -> tuple[str, ...]:
        return ()

    def evaluate(self, world: World) -> Finding:
        return Finding.unknown(f"{world.stamp_s}")


def test_what_a_batch_cannot_do_is_refused() -> None:
    task = task_of(TASKS["ladder"])
    slow = Condition("slow()", "slow", "", Leaf("slow()", "slow", "", Slow()))
    with pytest.raises(ConfigError, match="slow: decides one world at a time"):
        BatchJudge(task, ROBOT, 2, [slow])
    with pytest.raises(ConfigError, match="n: is 0"):
        BatchJudge(task, ROBOT, 0)
    judge = BatchJudge(task, ROBOT, 2)
    one = Worlds.of([Shown().world(1.0)])
    with pytest.raises(ValueError, match="worlds: are 1; make them 2"):
        judge.step(one)
    two = Worlds.of([Shown().world(1.0), Shown().world(1.0)])
    with pytest.raises(ValueError, match="stamps: are missing"):
        judge.step(Worlds(two.objects, two.poses))
