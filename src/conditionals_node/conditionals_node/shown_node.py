"""What the monitor shows, as a message."""

from __future__ import annotations

from handiwork_msgs.msg import Condition as ConditionMsg

from handiwork_ros.conversions import finding_to_msg, time_to_msg

from .monitor import Shown


def shown_to_msg(shown: Shown) -> ConditionMsg:
    """The finding with the name, arguments and times of its condition."""
    message = finding_to_msg(shown.finding)
    condition = shown.condition
    message.key, message.name, message.args = condition.key, condition.name, condition.args
    message.since, message.stamp = time_to_msg(shown.since_s), time_to_msg(shown.stamp_s)
    return message
