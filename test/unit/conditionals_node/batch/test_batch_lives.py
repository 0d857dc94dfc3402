"""The values and the lives of conditions in a batch are those that the monitor finds in each world alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from conditionals_node.batch import BatchJudge, Worlds
from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.monitoring.monitor import ConditionMonitor
from support.records.histories import EXPRESSIONS, STEPS, history
from support.records.tabletop import ROBOT, Shown, task_of

TASK = "{name: t, subtasks: [{name: put, pick_and_place: {object: [cube], container: bin}}]}"


def watching(conditions: Sequence[Condition], count: int) -> list[ConditionMonitor]:
    monitors = [ConditionMonitor(max_age_s=1.0) for _ in range(count)]
    for monitor in monitors:
        for condition in conditions:
            monitor.watch(condition, 0.0)
    return monitors


def test_the_lives_of_conditions_are_those_of_the_monitor() -> None:
    rng = np.random.default_rng(8)
    builder, n = Builder(ROBOT), 4
    conditions = [
        builder.build_expression("", text, lambda word: pytest.fail(word))
        for text in (*EXPRESSIONS, "object_on_top(object=cube, reference_object=bin)")
    ]
    batch = BatchJudge(task_of(TASK), ROBOT, n, conditions)
    monitors = watching(conditions, n)
    histories, confirmed = [history(rng, i) for i in range(n)], 0
    for step in range(STEPS):
        worlds = [snapshots[step] for snapshots in histories]
        found = batch.step(Worlds.of(worlds))
        for i, monitor in enumerate(monitors):
            monitor.update(worlds[i], worlds[i].stamp_s)
            for shown in monitor.shown():
                key = shown.condition.key
                np.testing.assert_array_equal(batch.lives[key].of(i), shown.life)
                assert found.confirmed[key][i] == shown.life.at_end
                confirmed += shown.life.at_end
    assert confirmed > 50


def test_hold_times_are_those_of_the_monitor() -> None:
    rng = np.random.default_rng(9)
    builder, n = Builder(ROBOT), 4
    conditions = [
        builder.build_expression("", text, lambda word: pytest.fail(word), hold_s)
        for text, hold_s in zip(EXPRESSIONS, (0.1, 0.25, 0.4, 0.6, 1.0) * len(EXPRESSIONS), strict=False)
    ]
    batch = BatchJudge(task_of(TASK), ROBOT, n, conditions)
    monitors = watching(conditions, n)
    histories, delayed = [history(rng, i) for i in range(n)], 0
    for step in range(STEPS):
        worlds = [snapshots[step] for snapshots in histories]
        found = batch.step(Worlds.of(worlds))
        for i, monitor in enumerate(monitors):
            monitor.update(worlds[i], worlds[i].stamp_s)
            for shown in monitor.shown():
                key = shown.condition.key
                assert found.truth[key][i] == int(shown.finding.truth)
                np.testing.assert_array_equal(batch.lives[key].of(i), shown.life)
                at_once = monitor.decide(shown.condition, worlds[i], worlds[i].stamp_s).truth
                delayed += at_once is not shown.finding.truth
    assert delayed > 20


def test_a_world_that_begins_again_holds_nothing_back() -> None:
    condition = Builder(ROBOT).build("object_stationary", {"object": "cube"}, 0.5)
    batch = BatchJudge(task_of(TASK), ROBOT, 2, [condition])
    still, moving = Shown(), Shown(speeds={"cube": 1.0})
    seen = []
    for i, shown in enumerate([still, moving, moving]):
        if i == 2:
            batch.reset([1])
        seen.append(batch.step(Worlds.of([shown.world(1.0 + 0.1 * i)] * 2)).truth[condition.key].tolist())
    assert seen == [[2, 2], [2, 2], [2, 1]]
