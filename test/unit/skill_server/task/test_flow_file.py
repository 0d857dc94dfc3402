"""Control nodes and variables of task files: the parsed tree, and every fault with its path and correction."""

from __future__ import annotations

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.intake.limits import TASK_READS
from skill_server.task.budget import budget_of
from skill_server.task.conditions import Examined
from skill_server.task.model import ForEach, If, Repeat, Retry, TaskStep, Try
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task

from .flow_support import read_flow, steps
from .test_task_file import CATALOG, two_armed

PICK = "{left: [{name: pick, object: cube}]}"
BODY = f"steps: [{PICK}]"
EACH = "steps: [{left: [{name: pick, object: $x}]}]"


def faults(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        read_flow(text)
    return caught.value.faults


def only_fault(*lines: str) -> str:
    (fault,) = faults(steps(*lines))
    return fault


def test_the_tree_has_the_nodes_of_the_file() -> None:
    task = read_flow(
        steps(
            f"repeat: {{times: 2, {BODY}}}",
            f"retry: {{times: 3, {BODY}}}",
            f"for_each: {{object_where: on($x), as: x, max: 3, {EACH}}}",
            f"if: {{condition: on(cube), then: [{PICK}], else: [{PICK}, {PICK}]}}",
            f"try: [[{PICK}], [{PICK}]]",
            "left: [{name: pick, object: cube}, {barrier: b}]\n    right: [{barrier: b}]",
        )
    )
    kinds = [type(node) for node in task.steps]
    assert kinds == [Repeat, Retry, ForEach, If, Try, TaskStep]
    assert [tuple(budget_of(node)) for node in task.steps] == [(2, 2), (1, 3), (0, 3), (1, 2), (1, 2), (1, 1)]
    assert task.labels == tuple(f"1.{i}" for i in range(1, 7))
    assert [entry.step for entry in task.entries][:3] == ["1.1[1].1", "1.2[1].1", "1.3[ball].1"]


def test_variables_stand_for_values_with_their_types() -> None:
    text = "variables: {what: cube, high: 0.2, n: 2}\n" + steps(
        "repeat: {times: $n, steps: [{left: [{name: pick, object: $what, pre_grasp_offset: $high}]}]}",
        "condition: 'on(${what})'",
    )
    task = read_flow(text)
    assert task.entries[0].params.object == "cube"
    assert task.entries[0].params.pre_grasp_offset == 0.2
    assert isinstance(task.steps[0], Repeat) and task.steps[0].times == 2


def test_a_dollar_has_no_meaning_in_a_task_of_the_simbox_format_without_variables() -> None:
    text = "tasks: [{name: $old, skills: [{gantry: [{left: [{name: pick, objects: [$cube]}]}]}]}]"
    task = read_task(text, "old.yaml", Site(CATALOG, two_armed()))
    assert task.entries[0].params.object == "$cube"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (f"repeat: {{{BODY}}}", "repeat.times: missing"),
        (f"repeat: {{max: 3, {BODY}}}", "repeat.until: missing"),
        (f"repeat: {{until: never, {BODY}}}", "repeat.max: missing"),
        (f"repeat: {{times: 0, {BODY}}}", "repeat.times: is 0; write a whole number from 1 to 1000"),
        (f"repeat: {{times: 2, max: 3, {BODY}}}", "repeat.max: unknown key"),
        ("repeat: 3", "repeat: is 3; write a mapping with until, max, steps"),
        ("repeat: {times: 3, steps: []}", "repeat.steps: is []; write a list of steps"),
        (
            "retry: {times: 3, steps: [{left: [{name: pikc}]}]}",
            "steps[0].left[0].name: no skill 'pikc'; did you mean",
        ),
        (f"repaet: {{times: 3, {BODY}}}", "did you mean 'repeat'?"),
        (
            f"if: {{condition: on(cub), then: [{PICK}]}}",
            "if.condition: no object 'cub'; did you mean 'cube'?",
        ),
        (f"if: {{condition: onn(cube), then: [{PICK}]}}", "if.condition: name: no predicate 'onn'"),
        (f"if: {{condition: 3, then: [{PICK}]}}", "if.condition: is 3; write a condition"),
        (
            f"if: {{condition: on(cube), then: [{PICK}], els: []}}",
            "if.els: unknown key; did you mean 'else'?",
        ),
        ("if: {condition: on(cube)}", "if.then: missing"),
        (f"try: [[{PICK}]]", "write a list of two alternatives or more"),
        ("condition: {expression: on(cube), within_s: -1}", "condition.within_s: is -1; write 0 to 600 s"),
        ("condition: on($y)", "condition: uses $y, which is no variable here; declare it under variables"),
        ("barrier: b", "a barrier is a place in the list of an arm of a step"),
        (f"for_each: {{as: x, max: 3, {EACH}}}", "for_each: selects nothing; add object_where"),
        (f"for_each: {{object_where: on($x), as: x, {EACH}}}", "for_each.max: missing"),
        (f"for_each: {{object_where: on(cube), as: x, max: 3, {EACH}}}", "object_where: does not contain $x"),
        (f"for_each: {{among: [cub], as: x, {EACH}}}", "among[0]: no object 'cub'; did you mean 'cube'?"),
        (f"for_each: {{among: [cube, ball], max: 1, as: x, {EACH}}}", "max: is 1, and among lists 2"),
        (f"for_each: {{among: [cube, ball], as: x, {BODY}}}", "as: $x is used nowhere"),
        ("left: [{barrier: b}]", "no other arm of the step has barrier 'b'"),
        ("left: [{repeat: {times: 2, steps: [{barrier: b}]}}]", "a barrier is a place in the list"),
        ("left: [{parallel: {right: [{name: pick, object: cube}]}}]", "is within the list of arm 'left_arm'"),
        ("left: [{repeat: {times: 2, steps: [{right: [{name: pick}]}]}}]", "write {name: <skill>"),
        (
            "parallel: {left: [{name: home}], left_arm: [{name: home}]}",
            "names arm 'left_arm' twice in one step",
        ),
        (f"{{condition: on(cube), if: {{condition: on(cube), then: [{PICK}]}}}}", "is given beside"),
        (
            f"repeat: {{times: 1000, steps: [{{repeat: {{times: 3, {BODY}}}}}]}}",
            "may run 7001 skills and control nodes; at most 2000 are taken",
        ),
    ],
)
def test_a_fault_of_a_control_node_is_named(line: str, fault: str) -> None:
    assert any(fault in one for one in faults(steps(line))), faults(steps(line))
    assert all(one.startswith("skills") for one in faults(steps(line)))


def test_barriers_in_two_orders_are_refused() -> None:
    fault = only_fault(
        "left: [{name: pick, object: cube}, {barrier: a}, {barrier: b}]\n    right: [{barrier: b}, {barrier: a}]"
    )
    assert "wait for one another at barriers" in fault


@pytest.mark.parametrize(
    ("variables", "fault"),
    [
        ("{a: 1}", "variables.a: is used nowhere; write $a where it is meant"),
        ("{1a: 1}", "variables.1a: is '1a', which is no name"),
        ("{a: {b: 1}}", "variables.a: is {'b': 1}; write a text, a number"),
        ("[a]", "variables: is ['a']; write {name: value}"),
        ("{cubes: cube}", "uses $cube, which is no variable here; did you mean 'cubes'?"),
    ],
)
def test_a_fault_of_variables_is_named(variables: str, fault: str) -> None:
    text = f"variables: {variables}\n" + steps("left: [{name: pick, object: $cube}]")
    assert any(fault in one for one in faults(text)), faults(text)


def test_a_task_without_a_skill_is_refused() -> None:
    assert "have no skill; add one" in only_fault("condition: on(cube)")


def test_every_fault_of_all_branches_is_reported_at_once() -> None:
    found = faults(
        steps(
            "if: {condition: onn, then: [{left: [{name: pikc}]}], else: [{middle: [{name: home}]}]}",
            "try: [[{left: [{name: pick, object: cub}]}], [{left: [{name: place, container: tra}]}]]",
        )
    )
    assert len(found) == 5


def test_a_body_is_right_when_it_is_right_for_one_movable_object_and_every_listed_one() -> None:
    place = "steps: [{left: [{name: place, object: $x, container: cube}]}]"
    free = steps(f"for_each: {{object_where: on($x), as: x, max: 3, {place}}}")
    assert read_flow(free).entries[0].params.object == "ball"
    listed = only_fault(f"for_each: {{among: [ball, cube], as: x, {place}}}")
    assert "(with $x = cube)" in listed


def test_a_task_of_which_the_monitor_is_silent_has_one_fault() -> None:
    class Silent:
        def examine(self, text: str) -> Examined:
            return Examined(("cannot be checked: start conditionals_node",), is_silent=True)

    text = steps("condition: on(cube)", "condition: on(ball)")
    with pytest.raises(ConfigError) as caught:
        read_task(text, "x", Site(CATALOG, two_armed(), conditions=Silent()))  # type: ignore[arg-type]
    assert len(caught.value.faults) == 1


def test_nested_loops_over_many_objects_are_refused_before_they_keep_the_server_busy() -> None:
    among = ", ".join(f"o{i}" for i in range(100))
    loop = "{left: [{name: pick, object: $a}, {name: pick, object: $b}, {name: pick, object: $c}]}"
    for name in "abc":
        loop = f"{{for_each: {{as: {name}, among: [{among}], steps: [{loop}]}}}}"
    with pytest.raises(ConfigError, match=f"more than {TASK_READS} skills and nodes"):
        read_task(steps(loop), "flow.yaml", Site(CATALOG, two_armed()))


def test_variables_cannot_make_a_text_longer_than_a_goal_may_have() -> None:
    text = f"variables: {{v: {'a' * 100}}}\n" + steps(f"left: [{{name: pick, object: {'$v' * 50}}}]")
    (fault,) = faults(text)
    assert (
        fault
        == "skills[0].gantry[0].left[0].object: has 5000 characters with its variables; write at most 4096"
    )
