"""Two stacks in one domain, each in its namespace: both pick at the same time, and neither hears the other."""

from __future__ import annotations

from handiwork_cli.stack.stack import Stack
from handiwork_ros.clients.skill_goals import pick_goal

SPACES = ("left", "right")


def test_two_stacks_in_one_domain_pick_at_the_same_time() -> None:
    with (
        Stack({"namespace": "left", "real_time_factor": "0"}) as left,
        Stack({"namespace": "right", "real_time_factor": "0", "robot": "fr3_robotiq"}) as right,
    ):
        for stack in (left, right):
            stack.wait_active()
        goals = [stack.client.send(pick_goal("cube")) for stack in (left, right)]
        reports = [goal.result(300.0) for goal in goals]
        assert [report.outcome.message for report in reports if not report.ok] == []
        topics = dict(left.client.node.get_topic_names_and_types())
        for name in ("clock", "tf", "tf_static", "joint_states"):
            assert [f"/{space}/{name}" in topics for space in SPACES] == [True, True]
            assert f"/{name}" not in topics
