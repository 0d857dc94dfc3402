"""Tasks with control flow go on where they ended: the place in words, and places that cannot be true."""

from __future__ import annotations

import pytest

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code
from skill_server.task.task_paths import joined, split, starts

from .flow_support import Facts, Robot, read_flow, run_flow, run_log, steps

BOTH = "{left: [{name: pick, object: cube}, {name: place, container: tray}]}"
EACH = "steps: [{left: [{name: pick, object: $x}, {name: place, container: tray}]}]"
TASK = steps(
    BOTH,
    f"for_each: {{object_where: on($x), as: x, max: 4, {EACH}}}",
    f"repeat: {{times: 3, steps: [{BOTH}]}}",
    f"if: {{condition: on(cube), then: [{BOTH}], else: [{BOTH}]}}",
    f"try: [[{BOTH}], [{BOTH}]]",
    "right: [{retry: {times: 2, steps: [{name: pick, object: ball}]}}, {name: home}]",
)


def facts() -> Facts:
    return Facts(true={"on(cube)", "on(ball)"})


@pytest.mark.parametrize(
    ("fails", "place", "first"),
    [
        ("1.1 place", "left_arm=1.1.2", "1.1 place tray"),
        ("1.2[cube].1 pick", "1.2[cube].1", "1.2[cube].1 pick cube"),
        ("1.2[cube].1 place", "left_arm=1.2[cube].1.2", "1.2[cube].1 place tray"),
        ("1.3[2].1 place", "left_arm=1.3[2].1.2", "1.3[2].1 place tray"),
        ("1.4.then.1 pick", "1.4.then.1", "1.4.then.1 pick cube"),
    ],
)
def test_a_failed_task_goes_on_where_it_failed(fails: str, place: str, first: str) -> None:
    robot = Robot(facts(), fails={fails: [Code.NO_IK]})
    ended, _ = run_flow(TASK, robot)
    assert ended.outcome.code is Code.NO_IK
    assert ended.resume_from == place
    whole = run_log(TASK, Robot(facts()))
    robot.log.clear()
    assert run_log(TASK, robot, place) == whole[whole.index(first) :]


def test_a_loop_goes_on_with_the_named_object_and_those_after_it() -> None:
    # The cube is in the hand, so the condition selects it no more.
    robot = Robot(Facts(true={"on(ball)"}))
    robot.hands["left_arm"] = "cube"
    log = run_log(steps(f"for_each: {{object_where: on($x), as: x, max: 4, {EACH}}}"), robot, "1.1[cube].1.2")
    assert log == ["1.1[cube].1 place tray"]
    robot.log.clear()
    listed = steps(f"for_each: {{among: [cube, ball], as: x, {EACH}}}")
    assert run_log(listed, robot, "1.1[ball].1") == ["1.1[ball].1 pick ball", "1.1[ball].1 place tray"]


def test_the_second_alternative_and_an_attempt_are_places_too() -> None:
    robot = Robot(facts())
    assert run_log(TASK, robot, "1.5.try2.1.2")[0] == "1.5.try2.1 place tray"
    robot.log.clear()
    assert run_log(TASK, robot, "right_arm=1.6.1[2].1") == ["1.6.1[2] pick ball", "1.6 home"]


def test_a_resumed_branch_is_not_decided_again() -> None:
    robot = Robot(Facts())
    assert run_log(TASK, robot, "1.4.then.1")[0] == "1.4.then.1 pick cube"
    assert not robot.facts.asked


def test_skills_before_the_place_count_as_done_where_they_ran_for_sure() -> None:
    ended, seen = run_flow(TASK, Robot(facts()), "1.3[3].1")
    assert ended.outcome.ok
    states = [(end.entry.step, end.state.name) for end in ended.entries]
    assert states[:4] == [
        ("1.1", "SKIPPED"),
        ("1.1", "SKIPPED"),
        ("1.2[$x].1", "NOT_STARTED"),
        ("1.2[$x].1", "NOT_STARTED"),
    ]
    assert states[4:9] == [("1.3[1].1", "SKIPPED")] * 2 + [("1.3[2].1", "SKIPPED")] * 2 + [
        ("1.3[3].1", "SUCCEEDED")
    ]
    assert seen[0].done == 6


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1.2.1", r"1\.2 is for_each, whose \$x is not known from '1'; write 1\.2\[<object>\]"),
        ("1.2[cub].1", "no object 'cub'; did you mean 'cube'"),
        ("1.3.1", r"is no part of 1\.3, whose parts are \[1\] to \[3\]"),
        ("1.3[4].1", r"is no part of 1\.3, whose parts are \[1\] to \[3\]"),
        ("1.4.1", "whose parts are then or else"),
        ("1.5.try3.1", "whose parts are try1 to try2"),
        ("1.4.then.2", r"'2' is no item of 1\.4\.then; write a number from 1 to 1"),
        ("1.1.4", "write a number from 1 to 2, or 3 where all of them are done"),
        ("1.9", "is not in task"),
        ("nonsense[", "is not in task"),
        ("left_arm=1.4.then.1.1,right_arm=1.4.else.1.1", "has no skill in step"),
        ("right_arm=1.6.2.1", "has no parts"),
    ],
)
def test_a_place_that_cannot_be_true_is_refused_with_words(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        starts(read_flow(TASK), text)


def test_places_of_branches_that_exclude_each_other_are_refused() -> None:
    line = "{left: [{name: pick, object: cube}], right: [{name: pick, object: ball}]}"
    task = read_flow(steps(f"try: [[{line}], [{line}]]"))
    with pytest.raises(ValueError, match="of which only one runs"):
        starts(task, "left_arm=1.1.try1.1.1,right_arm=1.1.try2.1.1")


def test_labels_are_split_and_joined_again() -> None:
    for label in ("1.2", "1.2[a.b c].1.then.3", "2.1.try2.1[3].1"):
        assert joined(split(label)) == label


def test_an_object_that_was_lost_is_picked_again_in_its_turn() -> None:
    robot = Robot(facts(), fails={"1.3[2].1 place": [Code.OBJECT_DROPPED]})
    robot.after = {"1.3[2].1 place": robot.hands.clear}
    ended, _ = run_flow(TASK, robot)
    assert ended.resume_from == "1.3[2].1"


def test_a_condition_that_an_alternative_took_up_is_no_place_to_go_on_from() -> None:
    text = steps(
        "try: [[{left: [{condition: never}]}], [{left: [{name: home}]}]]",
        "{left: [{name: pick, object: cube}], right: [{name: pick, object: ball}]}",
    )
    robot = Robot(fails={"1.2 pick cube": [Code.NO_IK]})
    ended, _ = run_flow(text, robot)
    assert ended.outcome.code is Code.NO_IK
    assert ended.resume_from in ("1.2", "left_arm=1.2.1,right_arm=1.2.2")


def test_an_arm_goes_on_at_the_condition_of_its_list_that_failed() -> None:
    text = steps(
        "left: [{name: pick, object: cube}, {barrier: a}, {condition: never}, {name: place, container: tray}]\n"
        "    right: [{name: pick, object: ball}, {barrier: a}]"
    )
    robot = Robot()
    ended, _ = run_flow(text, robot)
    assert ended.outcome.code is Code.CONDITION_FALSE
    assert ended.outcome.message.startswith("step 1.1.3, left_arm: never is FALSE")
    assert ended.resume_from == "left_arm=1.1.3,right_arm=1.1.2"
    robot.facts.true.add("never")
    robot.log.clear()
    assert run_log(text, robot, ended.resume_from) == ["1.1 place tray"]


@pytest.mark.parametrize("later", ["", "right: [{name: home}]"])
def test_a_condition_of_an_arm_without_skills_in_the_step_is_asked_now_and_when_the_task_goes_on(
    later: str,
) -> None:
    text = steps(
        "{left: [{name: home}], right: [{condition: on(cube)}]}", f"{{left: [{{name: home}}], {later}}}"
    )
    ended, _ = run_flow(text, Robot())
    assert ended.outcome.code is Code.CONDITION_FALSE
    again, _ = run_flow(text, Robot(), ended.resume_from)
    assert again.outcome.code is Code.CONDITION_FALSE
    held = Robot(Facts(true={"on(cube)"}))
    assert "1.2 home" in run_log(text, held, ended.resume_from)


def test_an_arm_that_is_stopped_before_its_first_skill_has_all_of_them_still_to_do() -> None:
    waits = "{condition: {expression: on(cube), within_s: 500.0}}"
    text = steps(f"{{left: [{{name: home}}], right: [{waits}, {{name: home}}]}}", "left: [{name: home}]")
    token = Token()
    ended, _ = run_flow(text, Robot(after={"1.1 home": lambda: token.set(Code.CANCELED)}), token=token)
    assert ended.outcome.code is Code.CANCELED
    log = run_log(text, Robot(Facts(true={"on(cube)"})), ended.resume_from)
    assert log == ["1.1 home", "1.2 home"]


@pytest.mark.parametrize(
    ("given", "hands", "place", "ask"),
    [
        ("{name: handover, object: cube}", {"left_arm": "cube"}, "left_arm=1.1.2", ""),
        ("{name: handover, object: cube}", {"right_arm": "cube"}, "left_arm=1.1.2", ""),
        ("{name: handover}", {}, "1.1", ""),
        (
            "{name: handover}",
            {"right_arm": "cube"},
            "left_arm=1.1.2",
            "left_arm held cube before the skill, and right_arm holds it now: change that",
        ),
    ],
)
def test_a_failed_handover_does_not_go_back_to_a_pick_out_of_the_other_hand(
    given: str, hands: dict[str, str], place: str, ask: str
) -> None:
    robot = Robot(facts(), fails={"handover": [Code.NO_IK]})

    def moved() -> None:
        robot.hands.clear()
        robot.hands.update(hands)

    robot.after = {"handover": moved}
    ended, _ = run_flow(
        steps(f"left: [{{name: pick, object: cube}}, {given}]", "right: [{name: home}]"), robot
    )
    assert ended.outcome.code is Code.NO_IK
    assert ended.resume_from.split(",")[0] == place
    assert ask in ended.outcome.message
    assert ("change that" in ended.outcome.message) == bool(ask)


@pytest.mark.parametrize("skill", ["handover, object: cube", "move_object, object: cube, container: tray"])
def test_a_skill_that_picks_first_is_repeated_with_the_object_in_the_hand_and_nothing_is_to_be_changed(
    skill: str,
) -> None:
    name = skill.partition(",")[0]
    robot = Robot(facts(), fails={name: [Code.NO_IK]})
    robot.after = {name: lambda: robot.hands.update(left_arm="cube")}
    ended, _ = run_flow(steps(f"left: [{{name: {skill}}}]"), robot)
    assert (ended.resume_from, "change that" in ended.outcome.message) == ("1.1", False)
