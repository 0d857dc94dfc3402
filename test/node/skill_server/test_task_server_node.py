"""``run_task`` and ``run_skill`` of a live server: all faults are reported, and nothing moves."""

from __future__ import annotations

import asyncio
import string
from random import Random

import pytest
from handiwork_msgs.action import RunSkill, RunTask

from handiwork_core.model.outcome import Code
from handiwork_ros.actions.task_report import EntryState
from handiwork_ros.clients.async_skill_client import AsyncSkillClient

GOOD = "{seed: 4, skills: [{fr3: [{fr3_arm: [{name: pick, object: cube}]}, {left: [{name: place, container: bin}]}]}]}"


def test_a_good_file_is_checked_without_a_move(stack):
    report = stack.client.run_task(GOOD, source="good.yaml", check_only=True)
    assert report.ok and report.seed == 4 and stack.world.asked == 0
    assert [(e.step, e.arm, e.skill, e.state) for e in report.entries] == [
        ("1.1", "fr3_arm", "pick", EntryState.NOT_STARTED),
        ("1.2", "fr3_arm", "place", EntryState.NOT_STARTED),
    ]


def test_all_faults_come_back_with_file_path_and_mend(stack):
    text = GOOD.replace("cube", "cub").replace("bin", "bi").replace("left", "right")
    report = stack.client.run_task(text, source="bad.yaml")
    assert report.outcome.code is Code.BAD_GOAL and report.outcome.message.startswith("bad.yaml has 2 faults")
    first, second = report.faults
    assert first.startswith("skills[0].fr3[0].fr3_arm[0].object: ") and "did you mean 'cube'" in first
    assert second.startswith("skills[0].fr3[1].right: is no arm of 'fr3'")
    assert stack.world.asked == 0 and not report.entries


def test_an_entry_of_robots_is_held_against_the_robot_that_runs(stack):
    entry = "robots: [{name: franka, target_class: FR3, euler: [0, 0, 0], ignore_substring: [cub]}]"
    text = f"{{{entry}, skills: [{{franka: [{{left: [{{name: pick, object: cube}}]}}]}}]}}"
    report = stack.client.run_task(text, source="good.yaml", check_only=True)
    assert report.ok, report.outcome
    assert [note.partition(":")[0] for note in report.notes] == ["robots[0].ignore_substring"]
    report = stack.client.run_task(text.replace("[0, 0, 0]", "[0, 0, 90]"), source="bad.yaml")
    assert report.outcome.code is Code.BAD_GOAL
    assert len(report.faults) == 1 and report.faults[0].startswith("robots[0].euler: is [0.0, 0.0, 90.0] deg")


def test_conditions_need_a_monitor_that_answers(stack):
    text = GOOD.replace("{left: [{name", "{condition: gripper_open}, {condition: 'on(cube)'}, {left: [{name")
    report = stack.client.run_task(text, source="asks.yaml")
    assert report.outcome.code is Code.BAD_GOAL
    (fault,) = report.faults
    assert fault.startswith(
        "skills[0].fr3[1].condition: cannot be checked: conditions/evaluate does not answer"
    )
    assert stack.world.asked == 0


def test_an_unknown_step_is_reported(stack):
    report = stack.client.run_task(GOOD, resume_from="7.1")
    assert (report.outcome.code, report.outcome.field_name) == (Code.BAD_GOAL, "resume_from")


def test_a_failing_skill_ends_the_task_with_its_cause_and_the_step(stack):
    seen = []
    report = stack.client.run_task(GOOD, seed=9, on_feedback=seen.append, timeout_s=60.0)
    assert report.outcome.code is Code.PLANNER_LOST and "step 1.1, fr3_arm, pick" in report.outcome.message
    assert [e.state for e in report.entries] == [EntryState.FAILED, EntryState.NOT_STARTED]
    assert report.entries[0].report.outcome.code is Code.PLANNER_LOST
    assert (report.resume_from, report.seed) == ("1.1", 9)
    assert seen and (seen[0].step, seen[0].arm, seen[0].skill, seen[0].count) == ("1.1", "fr3_arm", "pick", 2)
    later = stack.client.run_task(GOOD, resume_from="1.2", timeout_s=60.0)
    assert [e.state for e in later.entries] == [EntryState.SKIPPED, EntryState.FAILED]
    assert later.outcome.code is Code.CONTRADICTION and "pick an object first" in later.outcome.message


def test_asyncio_gets_the_same_reports(stack):
    async def both():
        async with AsyncSkillClient() as robot:
            assert await robot.wait_ready(30.0)
            task = await robot.run_task(GOOD.replace("cube", "cub"))
            return await robot.pick("unicorn"), await robot.run("plaze"), task

    pick, run, task = asyncio.run(both())
    assert pick.outcome.code is Code.UNKNOWN_OBJECT
    assert run.outcome.code is Code.BAD_GOAL and "did you mean 'place'" in run.message
    assert task.outcome.code is Code.BAD_GOAL


def noise(chance: Random) -> str:
    """Draw half-broken YAML: a good text with a few characters changed, or plain noise."""
    text = list(
        chance.choice(
            [GOOD, "{object: cube, lift_th: 0.1}", "", "".join(chance.choices(string.printable, k=60))]
        )
    )
    for _ in range(chance.randint(1, 6)):
        text.insert(chance.randint(0, len(text)), chance.choice("{}[]:,&*!|>'\"%@`#-?0e\n\t \u00e9"))
    return "".join(text)


@pytest.mark.parametrize("seed", range(2))
def test_malformed_goals_leave_a_living_server_and_an_arm_at_rest(stack, seed):
    chance, client = Random(seed), stack.client
    for _ in range(16):
        text = noise(chance) + "]"
        goal = RunSkill.Goal(skill=chance.choice(["pick", "place", noise(chance)]), parameters=text)
        for run in (client.send(goal), client.send_task(RunTask.Goal(task=text))):
            outcome = run.result(60.0).outcome
            assert outcome.code not in (Code.OK, Code.INTERNAL, Code.UNRESPONSIVE), (text, outcome)
            assert outcome.message
    assert stack.world.asked == 0
    assert client.pick("unicorn").outcome.code is Code.UNKNOWN_OBJECT
