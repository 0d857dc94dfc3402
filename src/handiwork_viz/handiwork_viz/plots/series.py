"""The curves of a recording: joints, tracking errors, openings of grippers, and margins of conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from handiwork_viz.recording.bag_reader import Read

JOINTS, CONDITIONS = "sensor_msgs/msg/JointState", "handiwork_msgs/msg/Conditions"
EVENT = "handiwork_msgs/msg/Condition"
FEEDBACK = "control_msgs/action/FollowJointTrajectory_FeedbackMessage"
FINGERS = ("finger", "gripper", "knuckle", "suction")
"""Parts of the names of joints that move fingers."""
TYPES = (JOINTS, CONDITIONS, EVENT, FEEDBACK)


@dataclass
class Curve:
    """One curve: times in s since the begin of the recording, and values."""

    times_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, at_s: float, value: float) -> None:
        """Add a point.

        Args:
            at_s: Time, s.
            value: Value.
        """
        self.times_s.append(at_s)
        self.values.append(value)


Panel = dict[str, Curve]


@dataclass
class Curves:
    """All curves of a recording.

    Attributes:
        positions: Positions of joints, rad or m.
        velocities: Their velocities, rad/s or m/s.
        efforts: Their efforts, N m or N.
        errors: Measured minus wanted position while a trajectory is followed, rad or m.
        fingers: Positions of the joints that move fingers, m or rad.
        margins: Margins of conditions, each in its own unit; positive when true.
        messages: Number of messages that were read.
    """

    positions: Panel = field(default_factory=lambda: defaultdict(Curve))
    velocities: Panel = field(default_factory=lambda: defaultdict(Curve))
    efforts: Panel = field(default_factory=lambda: defaultdict(Curve))
    errors: Panel = field(default_factory=lambda: defaultdict(Curve))
    fingers: Panel = field(default_factory=lambda: defaultdict(Curve))
    margins: Panel = field(default_factory=lambda: defaultdict(Curve))
    messages: int = 0

    def panels(self) -> list[tuple[str, Panel]]:
        """Return the panels that have curves, with the labels of their axes."""
        all_panels = [
            ("position [rad, m]", self.positions),
            ("velocity [rad/s, m/s]", self.velocities),
            ("effort [N m, N]", self.efforts),
            ("tracking error [rad, m]", self.errors),
            ("gripper joint [m, rad]", self.fingers),
            ("condition margin", self.margins),
        ]
        return [(label, panel) for label, panel in all_panels if panel]


def curves_of(messages: Iterable[Read], joints: Collection[str] = ()) -> Curves:
    """Collect the curves of a recording.

    Args:
        messages: Its messages.
        joints: Names of joints; empty for all.
    """
    made, first_s = Curves(), None
    for one in messages:
        if one.type not in TYPES:
            continue
        made.messages += 1
        first_s = one.at_s if first_s is None else first_s
        at_s = one.at_s - first_s
        if one.type == JOINTS:
            _add_joints(made, one, at_s, joints)
        elif one.type == FEEDBACK:
            _add_errors(made, one, at_s, joints)
        else:
            conditions = one.message.conditions if one.type == CONDITIONS else [one.message]
            for condition in conditions:
                made.margins[condition.key].add(at_s, condition.margin)
    return made


def _add_joints(made: Curves, one: Read, at_s: float, joints: Collection[str]) -> None:
    message = one.message
    for index, name in enumerate(message.name):
        if joints and name not in joints:
            continue
        moves_fingers = any(part in name for part in FINGERS)
        for panel, values in (
            (made.fingers if moves_fingers else made.positions, message.position),
            (made.velocities, message.velocity),
            (made.efforts, message.effort),
        ):
            if index < len(values):
                panel[name].add(at_s, float(values[index]))


def _add_errors(made: Curves, one: Read, at_s: float, joints: Collection[str]) -> None:
    feedback = one.message.feedback
    for name, error in zip(feedback.joint_names, feedback.error.positions, strict=False):
        if not joints or name in joints:
            made.errors[name].add(at_s, float(error))
