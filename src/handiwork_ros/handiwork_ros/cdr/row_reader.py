"""Reads object states and contacts from serialized messages: a hundred times a second, for dozens of objects.

The names in such a message hardly ever change, so the places of its numbers are found once and then read in one
go. A row that has not changed keeps its ``Pose`` and its ``Contact``, so a comparison by identity finds what is new.
A message with an unusual layout or a bad number is deserialized and converted, which also words the errors.
"""

from __future__ import annotations

import numpy as np
from handiwork_msgs.msg import Contacts, ObjectStates
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Contact, ObjectState
from handiwork_core.scene.covariance import SIZE, read_covariances
from handiwork_ros.conversions import contacts_from_msg, object_states_from_msg
from handiwork_ros.conversions.pose import unit_wxyz

from .codec import MessageLayout, numbers_at, read_layout, stamp_from_bytes
from .cursors import HEAD, Unusual
from .formats import CONTACTS, FLOAT64, OBJECT_STATES, UINT64, MessageFormat

AGE = 13
"""Index of the age among the numbers of a state."""


class _Rows:
    """The rows of a stream of messages, and which of them differ from those of the message before.

    Args:
        form: The format.
        compared: Number of the numbers of a row that are compared; None: all.
    """

    def __init__(self, form: MessageFormat, compared: int | None = None) -> None:
        self._form, self._array, self._compared = form, form.rows.array, compared
        self._layout: MessageLayout | None = None
        self._places: NDArray[np.intp] = np.zeros((0, 0), dtype=np.intp)
        self._before: Array | None = None
        self.lists: list[tuple[int, int]] = []
        """The place where the list of numbers of each row begins, and their number; the same list while these stay."""

    def read(self, data: bytes) -> tuple[list[tuple[str, ...]], Array, NDArray[np.intp] | None]:
        """Return names, numbers, and the indices of rows that are new; None if all are.

        Raises:
            Unusual: The message is not laid out as expected, or a number is not finite.
        """
        before = self._before
        if self._layout is None or not self._layout.fits(data):
            self._layout, before = None, None
            self._layout = read_layout(data, self._form)
            self._places = self._layout.places(self._array, FLOAT64)
            self.lists = self._layout.lists.get(self._array, [])
        rows = numbers_at(data, self._places)
        rows.setflags(write=False)
        if not np.isfinite(rows).all():
            raise Unusual
        self._before = rows
        end = self._compared
        changed = None if before is None else np.flatnonzero((rows[:, :end] != before[:, :end]).any(axis=1))
        return self._layout.texts[self._array], rows, changed

    def version(self, data: bytes) -> int:
        """Return the version of the message that was read last."""
        if self._layout is None:
            return 0
        ((at,), _) = self._layout.begins["", UINT64]
        return int.from_bytes(data[at : at + 8], "little")

    def forget(self) -> None:
        """Regard all rows as new next time."""
        self._before = None


class _Covariances:
    """The covariances of a stream of messages. One whose numbers stay is the same array again."""

    def __init__(self) -> None:
        self._lists: list[tuple[int, int]] = []
        self._at: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._places: NDArray[np.intp] = np.zeros((0, 0), dtype=np.intp)
        self._numbers: Array | None = None
        self._made: list[Array | None] = []

    def read(self, data: bytes, lists: list[tuple[int, int]]) -> list[Array | None]:
        """Return the covariance of each row; None for an exact pose.

        Args:
            data: The message.
            lists: See ``_Rows.lists``.

        Raises:
            Unusual: A list is neither empty nor a covariance.
        """
        if lists is not self._lists:
            self._learn(lists)
        if not len(self._at):
            return self._made
        numbers, last = numbers_at(data, self._places), self._numbers
        self._numbers = None
        new = self._at >= 0 if last is None else (numbers != last).any(axis=1)
        if new.any():
            found = read_covariances(numbers[new])
            if found is None:
                raise Unusual
            self._made = list(self._made)
            for at, one in zip(self._at[new].tolist(), found, strict=True):
                self._made[at] = one
        self._numbers = numbers
        return self._made

    def _learn(self, lists: list[tuple[int, int]]) -> None:
        counts = {count for _, count in lists}
        self._at, self._numbers = np.zeros(0, dtype=np.intp), None
        self._lists, self._made = [], [None] * len(lists)
        if not counts <= {0, SIZE * SIZE}:
            raise Unusual
        self._at = np.array([i for i, (_, count) in enumerate(lists) if count], dtype=np.intp)
        begins = np.array([lists[i][0] for i in self._at.tolist()], dtype=np.intp)
        self._places = ((begins - HEAD) // FLOAT64.alignment)[:, None] + np.arange(SIZE * SIZE)
        self._lists = lists


class StatesDecoder:
    """Converts serialized ObjectStates to states by name."""

    def __init__(self) -> None:
        self._covariances = _Covariances()
        self._rows = _Rows(OBJECT_STATES, AGE)  # the time of a measurement moves nothing
        self._made: list[ObjectState] = []
        self._names: list[tuple[str, ...]] = []
        """The list that holds no name twice, as was found before."""

    def __call__(self, data: bytes) -> dict[str, ObjectState]:
        """Return the states by name.

        Args:
            data: The serialized message.

        Raises:
            BadMessage: A number is not finite, a quaternion is no unit quaternion, an age is negative, a covariance is
                none, a name occurs twice, or the version is zero.
        """
        try:
            names, rows, changed = self._rows.read(data)
            wxyz, ages = unit_wxyz(rows[:, 3:7]), rows[:, AGE]
            if wxyz is None or not self._rows.version(data) or not self._are_single(names):
                raise Unusual
            if ages.any() and (ages < 0.0).any():
                raise Unusual
            covariances = self._covariances.read(data, self._rows.lists)
        except Unusual:
            self._rows.forget()
            return object_states_from_msg(deserialize_message(data, ObjectStates))
        stamp_s = stamp_from_bytes(data)
        new = [True] * len(names) if changed is None else _marked(changed, len(names))
        kept = [None] * len(names) if changed is None else self._made
        self._made = [
            ObjectState(Pose(Rotation(q), row[:3]), row[7:10], row[10:AGE], at_s, noise)
            if is_new or last is None
            else ObjectState(last.world_T_object, last.world_v_object, last.world_w_object, at_s, noise)
            for q, row, at_s, noise, is_new, last in zip(
                wxyz, rows, (stamp_s - ages).tolist(), covariances, new, kept, strict=True
            )
        ]
        return {name: state for (name,), state in zip(names, self._made, strict=True)}

    def _are_single(self, names: list[tuple[str, ...]]) -> bool:
        """Return whether no name occurs twice; each list is examined once."""
        if names is not self._names:
            if len(set(names)) < len(names):
                return False
            self._names = names
        return True


class ContactsDecoder:
    """Converts serialized Contacts to contacts."""

    def __init__(self) -> None:
        self._rows = _Rows(CONTACTS)
        self._made: list[Contact] = []

    def __call__(self, data: bytes) -> tuple[Contact, ...]:
        """Return the contacts.

        Args:
            data: The serialized message.

        Raises:
            BadMessage: A number is not finite.
        """
        try:
            names, rows, changed = self._rows.read(data)
        except Unusual:
            self._rows.forget()
            return contacts_from_msg(deserialize_message(data, Contacts))
        if changed is None:
            self._made = [Contact(a, b, row[:3], row[3:]) for (a, b), row in zip(names, rows, strict=True)]
        else:
            for i in changed.tolist():
                a, b = names[i]
                self._made[i] = Contact(a, b, rows[i, :3], rows[i, 3:])
        return tuple(self._made)


def _marked(indices: NDArray[np.intp], count: int) -> list[bool]:
    marks = np.zeros(count, dtype=bool)
    marks[indices] = True
    return marks.tolist()
