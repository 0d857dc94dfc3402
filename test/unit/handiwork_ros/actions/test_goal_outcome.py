"""A goal succeeded only when the middleware's status and the outcome in the result agree on it."""

from __future__ import annotations

import pytest
from action_msgs.msg import GoalStatus
from handiwork_msgs.action import RunTask
from handiwork_msgs.msg import Outcome as OutcomeMsg
from handiwork_msgs.msg import PlanResult as PlanResultMsg
from handiwork_msgs.msg import SkillResult, TaskEntry

from handiwork_core.model.outcome import Code
from handiwork_ros.actions.skill_report import goal_report_from_msg
from handiwork_ros.actions.task_report import task_report_from_msg
from handiwork_ros.conversions import goal_outcome_from_msg, outcome_from_msg, plan_result_from_msg

SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)
AGREEING = {(SUCCEEDED, Code.OK), (CANCELED, Code.CANCELED)} | {
    (ABORTED, code) for code in Code if code not in (Code.UNSET, Code.OK)
}
ALL = [(status, code) for status in range(8) for code in Code]


@pytest.mark.parametrize(("status", "code"), ALL, ids=lambda one: getattr(one, "name", one))
def test_only_a_status_and_a_code_that_agree_are_passed_on(status: int, code: Code) -> None:
    outcome = goal_outcome_from_msg(status, OutcomeMsg(code=int(code), message="as sent"))
    assert outcome.ok == (status == SUCCEEDED and code is Code.OK)
    if (status, code) in AGREEING:
        assert (outcome.code, outcome.message) == (code, "as sent")
    else:
        assert outcome.code is Code.INTERNAL
        assert code.name in outcome.message and "as sent" in outcome.message


def test_a_contradiction_names_status_and_code_in_words() -> None:
    outcome = goal_outcome_from_msg(ABORTED, OutcomeMsg())
    assert "status ABORTED" in outcome.message and "UNSET" in outcome.message
    assert "777" in goal_outcome_from_msg(ABORTED, OutcomeMsg(code=777)).message


def test_an_answer_without_a_code_is_internal_with_a_sentence() -> None:
    for number in (0, 777):
        outcome = outcome_from_msg(OutcomeMsg(code=number, message="half filled"))
        assert outcome.code is Code.INTERNAL and "half filled" in outcome.message
    plan = plan_result_from_msg(PlanResultMsg())
    assert plan.code is Code.INTERNAL and "never filled" in plan.message


def test_reports_of_goals_mind_the_status() -> None:
    good = SkillResult(outcome=OutcomeMsg(code=OutcomeMsg.OK), held_object="cube")
    assert goal_report_from_msg(SUCCEEDED, good).ok
    refused = goal_report_from_msg(ABORTED, good)
    assert refused.outcome.code is Code.INTERNAL and refused.held_object == "cube"
    done = RunTask.Result(outcome=OutcomeMsg(code=OutcomeMsg.OK))
    assert task_report_from_msg(SUCCEEDED, done).ok
    assert task_report_from_msg(ABORTED, done).outcome.code is Code.INTERNAL
    assert task_report_from_msg(SUCCEEDED, RunTask.Result()).outcome.code is Code.INTERNAL


def test_an_entry_that_has_not_ended_is_unset_and_one_that_has_is_read() -> None:
    waiting = TaskEntry(state=TaskEntry.NOT_STARTED)
    empty = TaskEntry(state=TaskEntry.SUCCEEDED)
    report = task_report_from_msg(ABORTED, RunTask.Result(entries=[waiting, empty]))
    assert [entry.report.outcome.code for entry in report.entries] == [Code.UNSET, Code.INTERNAL]
    assert not any(entry.report.ok for entry in report.entries)
