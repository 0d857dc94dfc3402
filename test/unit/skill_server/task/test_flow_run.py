"""Control nodes of tasks: which skills run in which order, failures that branches take up, and bounds."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code
from skill_server.execution.run import ExecutionResult
from skill_server.task.model import Entry
from skill_server.task.record import Report
from skill_server.task.run import run_task

from .flow_support import Facts, Robot, read_flow, run_flow, run_log, steps
from .test_task_run import LIMIT_S, Doer

PICK = "{left: [{name: pick, object: cube}]}"
PLACE = "{left: [{name: place, container: tray}]}"
BOTH = "{left: [{name: pick, object: cube}, {name: place, container: tray}]}"

BODY = "steps: [{left: [{name: pick, object: $x}, {name: place, container: tray}]}]"


def test_repeat_runs_its_steps_as_often_as_it_says() -> None:
    robot = Robot()
    log = run_log(steps(f"repeat: {{times: 2, steps: [{PICK}, {PLACE}]}}", PICK), robot)
    assert log == [
        "1.1[1].1 pick cube",
        "1.1[1].2 place tray",
        "1.1[2].1 pick cube",
        "1.1[2].2 place tray",
        "1.2 pick cube",
    ]
    assert len(set(robot.seeds)) == 5


def test_repeat_until_asks_before_each_turn() -> None:
    robot = Robot()
    robot.after = {"1.1[2].1": lambda: robot.facts.true.add("full(tray)")}
    text = steps(f"repeat: {{until: full(tray), max: 5, steps: [{BOTH}]}}")
    assert run_log(text, robot) == [
        f"1.1[{k}].1 {what}" for k in (1, 2) for what in ("pick cube", "place tray")
    ]
    assert robot.facts.asked == ["full(tray)"] * 3
    assert run_log(text, Robot(Facts(true={"full(tray)"}))) == []


def test_a_loop_that_reaches_its_bound_fails_with_the_reason() -> None:
    ended, _ = run_flow(steps(f"repeat: {{until: full(tray), max: 2, steps: [{BOTH}]}}"), Robot())
    assert ended.outcome.code is Code.LOOP_BOUND
    assert ended.outcome.message.startswith("step 1.1: full(tray) is FALSE: as planned after 2 turns")
    assert ended.resume_from == "1.1"


def test_retry_runs_until_it_succeeds_and_names_its_attempts() -> None:
    text = steps(f"retry: {{times: 3, steps: [{PICK}]}}")
    robot = Robot(fails={"pick": [Code.NO_IK, Code.NO_IK]})
    assert run_log(text, robot) == [f"1.1[{k}].1 pick cube" for k in (1, 2, 3)]
    assert len(set(robot.seeds)) == 3
    ended, _ = run_flow(text, Robot(fails={"pick": [Code.NO_IK] * 3}))
    assert ended.outcome.code is Code.NO_IK
    assert ended.outcome.message.endswith("3 attempts of step 1.1 failed")


def test_for_each_runs_once_for_each_selected_object() -> None:
    line = f"for_each: {{object_where: on($x), as: x, max: 4, {BODY}}}"
    robot = Robot(Facts(true={"on(cube)", "on(ball)"}))
    assert run_log(steps(line), robot) == [
        "1.1[ball].1 pick ball",
        "1.1[ball].1 place tray",
        "1.1[cube].1 pick cube",
        "1.1[cube].1 place tray",
    ]
    assert run_log(steps(line), Robot()) == []


def test_the_objects_of_a_list_keep_their_order_and_a_condition_chooses_among_them() -> None:
    plain = steps(f"for_each: {{among: [cube, ball], as: x, {BODY}}}")
    assert [line.split()[0] for line in run_log(plain, Robot())] == ["1.1[cube].1"] * 2 + ["1.1[ball].1"] * 2
    chosen = steps(f"for_each: {{among: [cube, ball], object_where: on($x), as: x, {BODY}}}")
    assert run_log(chosen, Robot(Facts(true={"on(ball)"})))[0] == "1.1[ball].1 pick ball"


def test_more_objects_than_max_are_refused_before_any_of_them_moves() -> None:
    line = "for_each: {object_where: on($x), as: x, max: 1, steps: [{left: [{name: pick, object: $x}]}]}"
    robot = Robot(Facts(true={"on(cube)", "on(ball)"}))
    ended, _ = run_flow(steps(line), robot)
    assert (
        ended.outcome.code is Code.LOOP_BOUND
        and "selects 2 objects, ball, cube; max is 1" in ended.outcome.message
    )
    assert not robot.log and ended.resume_from == "1.1"


def test_if_runs_the_branch_of_the_condition() -> None:
    text = steps(
        f"if: {{condition: on(cube), then: [{PICK}], else: [{PLACE}]}}",
        f"if: {{condition: never, then: [{PICK}]}}",
    )
    assert run_log(text, Robot(Facts(true={"on(cube)"}))) == ["1.1.then.1 pick cube"]
    assert run_log(text, Robot()) == ["1.1.else.1 place tray"]


def test_try_runs_the_alternatives_in_order_until_one_succeeds() -> None:
    text = steps(f"try: [[{PICK}], [{{right: [{{name: pick, object: cube}}]}}]]", PLACE)
    assert run_log(text, Robot()) == ["1.1.try1.1 pick cube", "1.2 place tray"]
    robot = Robot(fails={"try1": [Code.NO_IK]})
    assert run_log(text, robot) == ["1.1.try1.1 pick cube", "1.1.try2.1 pick cube", "1.2 place tray"]
    ended, _ = run_flow(text, Robot(fails={"pick": [Code.NO_IK, Code.NO_IK]}))
    assert ended.outcome.message.startswith(
        "all alternatives of step 1.1 failed: step 1.1.try1.1, left_arm, pick"
    )
    assert "step 1.1.try2.1, right_arm, pick" in ended.outcome.message


@pytest.mark.parametrize("code", [Code.EMERGENCY_STOP, Code.PROTECTIVE_STOP, Code.ROBOT_LOST, Code.CANCELED])
@pytest.mark.parametrize("line", [f"try: [[{PICK}], [{PLACE}]]", f"retry: {{times: 3, steps: [{PICK}]}}"])
def test_no_branch_moves_a_robot_that_was_stopped(line: str, code: Code) -> None:
    robot = Robot(fails={"pick": [code]})
    ended, _ = run_flow(steps(line), robot)
    assert ended.outcome.code is code
    assert len(robot.log) == 1


def test_a_condition_that_does_not_hold_fails_and_an_alternative_takes_it_up() -> None:
    text = steps(f"try: [[{{condition: on(cube)}}, {PICK}], [{PLACE}]]")
    assert run_log(text, Robot()) == ["1.1.try2.1 place tray"]
    assert run_log(text, Robot(Facts(true={"on(cube)"}))) == ["1.1.try1.2 pick cube"]
    ended, _ = run_flow(steps("condition: on(cube)", PICK), Robot())
    assert (ended.outcome.code, ended.resume_from) == (Code.CONDITION_FALSE, "1.1")


def test_a_condition_has_the_time_that_the_file_gives_it() -> None:
    facts = Facts()
    robot = Robot(facts)
    ended, seen = run_flow(steps("condition: {expression: never, within_s: 0.5}", PICK), robot)
    assert ended.outcome.code is Code.CONDITION_FALSE
    assert facts.clock.time_s == pytest.approx(0.5, abs=0.03)
    # Feedback comes at least five times a second, also while the task waits.
    assert [one.stage for one in seen] == ["condition never"] * 4


def test_unknown_is_never_guessed() -> None:
    facts = Facts(unknown={"on(cube)"})
    text = steps(f"if: {{condition: on(cube), then: [{PICK}], else: [{PLACE}]}}")
    ended, _ = run_flow(text, Robot(facts))
    assert ended.outcome.code is Code.CONDITION_UNKNOWN and "on(cube) is UNKNOWN" in ended.outcome.message
    assert facts.clock.time_s == pytest.approx(1.0, abs=0.05)
    old = Facts(true={"on(cube)"}, old_s=5.0)
    ended, _ = run_flow(text, Robot(old))
    assert ended.outcome.code is Code.CONDITION_UNKNOWN and "5.00 s older" not in ended.outcome.message
    assert "older than the question" in ended.outcome.message


def test_control_nodes_within_the_list_of_an_arm_belong_to_the_arm() -> None:
    text = steps(
        "left: [{retry: {times: 2, steps: [{name: pick, object: cube}]}}, {name: place, container: tray}]\n"
        "    right: [{if: {condition: always, then: [{name: pick, object: ball}]}}]"
    )
    robot = Robot(Facts(true={"always"}), fails={"cube": [Code.NO_IK]})
    ended, _ = run_flow(text, robot)
    assert ended.outcome.ok, ended.outcome
    assert sorted(robot.log) == [
        "1.1 place tray",
        "1.1.1.then pick ball",
        "1.1.1[1] pick cube",
        "1.1.1[2] pick cube",
    ]
    places = [(end.entry.step, end.entry.arm, end.state.name) for end in ended.entries]
    assert places == [
        ("1.1.1[1]", "left_arm", "FAILED"),
        ("1.1.1[2]", "left_arm", "SUCCEEDED"),
        ("1.1", "left_arm", "SUCCEEDED"),
        ("1.1.1.then", "right_arm", "SUCCEEDED"),
    ]


def test_arms_meet_at_a_barrier() -> None:
    text = steps(
        "parallel:\n"
        "      left: [{name: pick, object: cube}, {barrier: handover}, {name: place, container: tray}]\n"
        "      right: [{barrier: handover}, {name: pick, object: ball}]"
    )
    for _ in range(5):
        robot = Robot()
        assert run_log(text, robot)[0] == "1.1 pick cube"


def test_a_failure_ends_an_arm_that_waits_at_a_barrier() -> None:
    text = steps(
        "left: [{name: pick, object: cube}, {barrier: a}]\n    right: [{barrier: a}, {name: pick, object: ball}]"
    )
    robot = Robot(fails={"cube": [Code.NO_IK]})
    ended, _ = run_flow(text, robot)
    assert ended.outcome.code is Code.NO_IK
    assert robot.log == ["1.1 pick cube"]
    assert ended.resume_from == "1.1"


def test_a_cancel_between_turns_ends_the_loop_and_says_where_it_was() -> None:
    token = Token()
    robot = Robot()
    robot.after = {"1.1[2].1 place": lambda: token.set(Code.CANCELED)}
    ended, _ = run_flow(steps(f"repeat: {{times: 4, steps: [{BOTH}]}}"), robot, token=token)
    assert ended.outcome.code is Code.CANCELED
    assert len(robot.log) == 4 and ended.resume_from == "1.1[3].1"


def test_a_cancel_during_a_skill_ends_all_alternatives() -> None:
    doer, token = Doer(), Token()
    task_text = steps(f"try: [[{PICK}], [{PLACE}]]")
    doer.waits.add("skills[0].gantry[0].try[0][0].left[0]")
    robot = Robot()
    begun = threading.Event()

    def stop() -> None:
        assert begun.wait(LIMIT_S)
        token.set(Code.CANCELED)

    stopper = threading.Thread(target=stop)
    stopper.start()
    ports = robot.ports()

    def do(entry: Entry, own: Token, report: Report) -> ExecutionResult:
        begun.set()
        return doer(entry, own, report)

    task = read_flow(task_text)
    ended = run_task(task, {}, replace(ports, do=do), token, lambda _progress: None)
    stopper.join()
    assert ended.outcome.code is Code.CANCELED
    assert len(doer.log) == 1


def test_progress_has_the_true_place_and_count() -> None:
    text = steps(
        f"for_each: {{object_where: on($x), as: x, max: 4, {BODY}}}",
        f"if: {{condition: never, then: [{BOTH}], else: [{PICK}]}}",
        f"try: [[{PICK}], [{PLACE}]]",
    )
    robot = Robot(Facts(true={"on(cube)"}), fails={"try1": [Code.NO_IK]})
    ended, seen = run_flow(text, robot)
    assert ended.outcome.ok
    counts = [(one.step, one.skill, one.done, one.total, one.is_bound) for one in seen if one.skill]
    assert counts == [
        ("1.1[cube].1", "pick", 0, 6, True),
        ("1.1[cube].1", "place", 1, 6, True),
        ("1.2.else.1", "pick", 2, 5, True),
        ("1.3.try1.1", "pick", 3, 5, True),
        ("1.3.try2.1", "place", 3, 4, False),
    ]
    assert next(one.stage for one in seen if not one.skill) == "condition on(ball)"


def test_the_counts_of_a_task_without_conditions_are_exact() -> None:
    _, seen = run_flow(steps(f"repeat: {{times: 3, steps: [{BOTH}]}}", PICK), Robot())
    assert [(one.done, one.total, one.is_bound) for one in seen] == [(k, 7, False) for k in range(7)]
