"""Conditions that would grow without bound are refused in all spellings."""

from __future__ import annotations

import time

import pytest

from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import ConditionSpec, Definitions
from conditionals_node.monitoring.monitor import ConditionMonitor
from conditionals_node.ros.services import Watched
from conditionals_node.subtasks.task import WatchedTask, read_task
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.intake.limits import (
    CONDITION_DEPTH,
    CONDITIONS,
    PREDICATES,
    TASK_ENTRIES,
)
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
LEAF = "object_grabbed(object=cube)"


@pytest.fixture
def definitions() -> Definitions:
    return Definitions(Builder(ROBOT))


def chain(definitions: Definitions, expression: str, count: int) -> None:
    """Return conditions x1, x2 and so on, each made of the one before."""
    for k in range(count):
        definitions.keep(definitions.make(f"x{k + 1}", "", expression.format(k), 0.0))


def test_names_that_double_each_other_are_refused(definitions: Definitions) -> None:
    begin = time.process_time()
    definitions.keep(definitions.make("x0", "", f"{LEAF} and {LEAF}", 0.0))
    with pytest.raises(ConfigError, match="has more than 1000 parts with those of the conditions it names"):
        chain(definitions, "x{0} and x{0}", 40)
    assert time.process_time() - begin < 1.0


def test_names_of_names_have_an_end(definitions: Definitions) -> None:
    definitions.keep(definitions.make("x0", "", f"not {LEAF}", 0.0))
    with pytest.raises(ConfigError, match=f"is nested more than {CONDITION_DEPTH} deep"):
        chain(definitions, "not x{0}", CONDITION_DEPTH)


def test_a_file_with_names_that_double_is_refused(definitions: Definitions) -> None:
    specs = [ConditionSpec("x0", expression=LEAF)]
    specs += [ConditionSpec(f"x{k + 1}", expression=f"x{k} or x{k}") for k in range(25)]
    faults: list[str] = []
    definitions.read(specs, faults)
    assert any("has more than 1000 parts" in fault for fault in faults)


def test_conditions_that_are_watched_are_counted(definitions: Definitions) -> None:
    monitor = ConditionMonitor(1.0)
    for k in range(CONDITIONS):
        monitor.watch(definitions.make("", "", f"object_grabbed(object=o{k})", 0.0), 0.0)
    with pytest.raises(ConfigError, match=f"{CONDITIONS} conditions are watched already; unwatch some"):
        monitor.watch(definitions.make("", "", LEAF, 0.0), 0.0)
    known = definitions.make("", "", "object_grabbed(object=o1)", 0.0)
    monitor.watch(known, 0.0)
    assert monitor.unwatch(known.key)
    monitor.watch(definitions.make("", "", LEAF, 0.0), 0.0)


def test_predicates_that_are_watched_are_counted(definitions: Definitions) -> None:
    monitor = ConditionMonitor(1.0)

    def watch(k: int) -> None:
        parts = ", ".join(f"o{k}_{i}" for i in range(90))
        monitor.watch(definitions.make("", "", f"any(object_grabbed(object=[{parts}]))", 0.0), 0.0)

    for k in range(PREDICATES // 90):
        watch(k)
    with pytest.raises(ConfigError, match="predicates would be watched; at most 5000 are"):
        watch(PREDICATES)


def test_a_task_with_too_many_conditions_is_refused(definitions: Definitions) -> None:
    steps = ", ".join(f"{{expression: 'object_grabbed(object=o{k})'}}" for k in range(TASK_ENTRIES + 1))
    with pytest.raises(ConfigError, match=f"hold {TASK_ENTRIES + 1} conditions; at most {TASK_ENTRIES}"):
        read_task(f"name: t\nsubtasks: [{{name: a, groups: {{g: [{steps}]}}}}]", definitions)


def test_a_task_counts_with_the_conditions_that_are_watched(definitions: Definitions) -> None:
    """The limit is one for conditions and task together; a task that replaces another needs no room beside it."""
    watched = Watched(ConditionMonitor(1.0), definitions, ROBOT)

    def grabbed(first: int, count: int) -> str:
        parts = ", ".join(f"o{k}" for k in range(first, first + count))
        return f"any(object_grabbed(object=[{parts}]))"

    def task(first: int, steps: int) -> WatchedTask:
        made = ", ".join(f"{{expression: '{grabbed(first + 90 * i, 90)}'}}" for i in range(steps))
        return read_task(f"name: t\nsubtasks: [{{name: a, groups: {{g: [{made}]}}}}]", definitions)

    many = PREDICATES // 90 - 4
    for k in range(many):
        watched.monitor.watch(definitions.make("", "", grabbed(90 * k, 90), 0.0), 0.0)
    watched.begin(task(100_000, 3), 0.0)
    running = watched.task
    with pytest.raises(
        ConfigError, match=r"task: .* predicates would be watched; at most 5000 are, unwatch some"
    ):
        watched.begin(task(200_000, 10), 0.0)
    assert watched.task is running, "a task that is refused replaces none"
    watched.begin(task(300_000, 4), 0.0)
    assert watched.task is not running


def test_another_hold_for_a_known_condition_is_refused(definitions: Definitions) -> None:
    definitions.keep(definitions.make("grip", "", LEAF, 0.5))
    assert definitions.make("grip", "", "", 0.0).hold_s == definitions.make("grip", "", "", 0.5).hold_s == 0.5
    with pytest.raises(
        ConfigError, match=r"hold_s: is 2, but 'grip' is known with 0\.5; write 0 to keep that, or"
    ):
        definitions.make("grip", "", "", 2.0)
