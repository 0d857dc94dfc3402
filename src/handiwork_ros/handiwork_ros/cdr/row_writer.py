"""Writes joint states, object states and contacts as bytes, for a node that sends hundreds of them a second.

Names in such messages hardly ever change, so the places of the numbers are found once, and only numbers are written
afterwards. ``Publisher.publish`` sends bytes as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_ros.conversions.pose import time_parts
from handiwork_ros.conversions.world import WORLD

from .codec import Template
from .cursors import Texts
from .formats import JOINT_ARRAYS, JOINT_STATE, UINT64, MessageFormat


class JointWriter:
    """Writes sensor_msgs/JointState of the same joints.

    Args:
        names: Names of the joints.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [(name,) for name in names]
        self._made: dict[tuple[int, ...], Template] = {}

    def write(self, stamp_s: float, *arrays: Array) -> bytes:
        """Return one message.

        Args:
            stamp_s: Its time, s.
            arrays: Positions, velocities, efforts, (n,): each for all joints, or empty.
        """
        lengths = tuple(map(len, arrays))
        if lengths not in self._made:
            self._made[lengths] = self._template(lengths)
        return self._made[lengths].write(time_parts(stamp_s), np.concatenate(arrays))

    def _template(self, lengths: tuple[int, ...]) -> Template:
        numbers = {array: [()] * length for array, length in zip(JOINT_ARRAYS, lengths, strict=True)}
        return Template(JOINT_STATE, {"": [("",)], "name": self._names, **numbers})


class RowWriter:
    """Writes messages in frame ``world`` that have one array, such as handiwork_msgs/ObjectStates and Contacts.

    Args:
        form: The format. Its message has a header, and a version or none.
    """

    def __init__(self, form: MessageFormat) -> None:
        self._form = form
        self._texts: Texts | None = None
        self._made: Template
        self._version_at: int | None = None

    def write(self, stamp_s: float, texts: Texts, numbers: Array, version: int = 0) -> bytes:
        """Return one message.

        Args:
            stamp_s: Its time, s.
            texts: The texts of each row.
            numbers: The numbers, (rows, numbers of a row).
            version: The version, if the message has one.
        """
        if texts != self._texts:
            self._texts, self._made = texts, self._template(texts)
        place = None if self._version_at is None else (self._version_at, version)
        return self._made.write(time_parts(stamp_s), numbers.ravel(), place)

    def _template(self, texts: Texts) -> Template:
        array = self._form.rows.array
        made = Template(self._form, {"": [(WORLD,)], array: texts})
        versions = made.layout.begins.get(("", UINT64))
        self._version_at = versions[0][0] if versions else None
        return made
