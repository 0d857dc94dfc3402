"""States and contacts read from bytes equal those of the ordinary conversion, and unchanged ones are kept."""

from __future__ import annotations

import numpy as np
import pytest
from handiwork_msgs.msg import Contacts, ObjectStates
from rclpy.serialization import serialize_message

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Contact, ObjectState
from handiwork_ros.cdr import row_reader
from handiwork_ros.cdr.codec import stamp_from_bytes
from handiwork_ros.cdr.row_reader import ContactsDecoder, StatesDecoder
from handiwork_ros.conversions import (
    BadMessage,
    contacts_from_msg,
    contacts_to_msg,
    object_states_from_msg,
    object_states_to_msg,
)

NAMES = ["cube", "a", "bin_12", "a name of more than a few letters", "ü"]


def random_states(rng: np.random.Generator, names: list[str], stamp_s: float) -> ObjectStates:
    def one() -> ObjectState:
        q = rng.normal(size=4)
        pose = Pose.of(rng.normal(size=3), Rotation.from_wxyz(q / np.linalg.norm(q)))
        return ObjectState(pose, frozen(rng.normal(size=3)), frozen(rng.normal(size=3)), stamp_s)

    return object_states_to_msg({name: one() for name in names}, int(rng.integers(1, 9)), stamp_s)


def random_contacts(rng: np.random.Generator, count: int, stamp_s: float) -> Contacts:
    bodies = [*NAMES, "fr3/fr3_leftfinger"]
    made = [
        Contact(*rng.choice(bodies, 2), frozen(rng.normal(size=3)), frozen(rng.normal(size=3)))  # type: ignore[arg-type]
        for _ in range(count)
    ]
    return contacts_to_msg(made, stamp_s)


def same_state(a: ObjectState, b: ObjectState) -> bool:
    pairs = (
        (a.world_T_object.translation_m, b.world_T_object.translation_m),
        (a.world_T_object.rotation.wxyz, b.world_T_object.rotation.wxyz),
        (a.world_v_object, b.world_v_object),
        (a.world_w_object, b.world_w_object),
    )
    return a.stamp_s == b.stamp_s and all(np.allclose(x, y, atol=1e-15) for x, y in pairs)


def test_states_are_those_of_the_ordinary_way() -> None:
    rng, decoder = np.random.default_rng(0), StatesDecoder()
    for turn in range(60):
        names = list(rng.permutation(NAMES)[: rng.integers(0, len(NAMES) + 1)]) if turn % 3 else NAMES
        message = random_states(rng, [str(name) for name in names], 1.5 + turn)
        data = serialize_message(message)
        found, wanted = decoder(data), object_states_from_msg(message)
        assert list(found) == list(wanted)
        assert all(same_state(found[name], wanted[name]) for name in wanted)
        assert stamp_from_bytes(data) == 1.5 + turn


def test_contacts_are_those_of_the_ordinary_way() -> None:
    rng, decoder = np.random.default_rng(1), ContactsDecoder()
    for turn in range(60):
        message = random_contacts(rng, int(rng.integers(0, 6)), float(turn))
        found, wanted = decoder(serialize_message(message)), contacts_from_msg(message)
        assert [(c.a, c.b) for c in found] == [(c.a, c.b) for c in wanted]
        for a, b in zip(found, wanted, strict=True):
            assert np.array_equal(a.force_on_a_n, b.force_on_a_n)
            assert np.array_equal(a.point_m, b.point_m)


def test_what_has_not_moved_stays_the_same_object() -> None:
    message = random_states(np.random.default_rng(2), NAMES, 1.0)
    decoder = StatesDecoder()
    first = decoder(serialize_message(message))
    message.header.stamp.sec, message.states[0].pose.position.x = 2, 7.0
    second = decoder(serialize_message(message))
    kept = [first[name].world_T_object is second[name].world_T_object for name in NAMES]
    assert kept == [False, True, True, True, True]
    assert {state.stamp_s for state in second.values()} == {2.0}
    assert second["cube"].world_T_object.translation_m[0] == 7.0


def test_contacts_that_press_as_before_stay_the_same_object() -> None:
    message = random_contacts(np.random.default_rng(3), 4, 1.0)
    decoder = ContactsDecoder()
    first = decoder(serialize_message(message))
    message.contacts[2].force.z = 99.0
    second = decoder(serialize_message(message))
    assert [a is b for a, b in zip(first, second, strict=True)] == [True, True, False, True]
    assert first[2].force_on_a_n[2] != 99.0


def test_what_was_read_cannot_be_changed() -> None:
    (state, *_) = StatesDecoder()(
        serialize_message(random_states(np.random.default_rng(4), NAMES, 0.0))
    ).values()
    for array in (
        state.world_v_object,
        state.world_T_object.translation_m,
        state.world_T_object.rotation.wxyz,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize(
    ("number", "value", "field"),
    [("orientation", 2.0, "states[1].pose.orientation"), ("position", np.nan, "states[1].pose.position")],
)
def test_a_bad_number_is_refused_by_name_and_leaves_no_trace(number: str, value: float, field: str) -> None:
    message = random_states(np.random.default_rng(5), NAMES, 0.0)
    decoder, good = StatesDecoder(), serialize_message(message)
    decoder(good)
    getattr(message.states[1].pose, number).x = value
    with pytest.raises(BadMessage) as caught:
        decoder(serialize_message(message))
    assert field in str(caught.value)
    assert list(decoder(good)) == NAMES


def test_padding_may_hold_anything() -> None:
    """The padding before a number is not defined, and differs from message to message."""
    message = random_contacts(np.random.default_rng(6), 3, 1.0)
    data, decoder = bytearray(serialize_message(message)), ContactsDecoder()
    first = decoder(bytes(data))
    (begin,) = (i for i in range(len(data)) if bytes(data[i : i + 6]) == b"world\x00")
    data[begin + 6] ^= 0xFF
    second = decoder(bytes(data))
    assert all(a is b for a, b in zip(first, second, strict=True))


def test_ages_and_covariances_are_those_of_the_ordinary_way() -> None:
    rng, decoder = np.random.default_rng(5), StatesDecoder()
    for turn in range(20):
        message = random_states(rng, NAMES, 3.0 + turn)
        message.states[1].age = 0.25 * (turn % 3)
        if turn % 2:
            message.states[2].pose_covariance = (1e-4 * np.eye(6)).ravel().tolist()
        found, wanted = decoder(serialize_message(message)), object_states_from_msg(message)
        assert found[NAMES[1]].stamp_s == 3.0 + turn - 0.25 * (turn % 3)
        assert all(same_state(found[name], wanted[name]) for name in wanted)
        covariances = [name for name in found if found[name].pose_covariance is not None]
        assert covariances == ([NAMES[2]] if turn % 2 else [])


def random_covariance(rng: np.random.Generator) -> list[float]:
    factor = rng.normal(size=(6, 6)) * ([0.01] * 3 + [0.1] * 3)
    return list((factor.T @ factor).ravel().tolist())


def test_covariances_are_read_without_the_ordinary_way(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, decoder = np.random.default_rng(7), StatesDecoder()
    ordinary: list[object] = []
    monkeypatch.setattr(row_reader, "object_states_from_msg", ordinary.append)
    for _ in range(5):
        message = random_states(rng, NAMES, 3.0)
        for state in message.states[1:]:
            state.pose_covariance = random_covariance(rng)
        message.states[2].pose_covariance = [0.0] * 36
        found, wanted = decoder(serialize_message(message)), object_states_from_msg(message)
        assert all(same_state(found[name], wanted[name]) for name in wanted)
        for name in NAMES:
            np.testing.assert_array_equal(found[name].pose_covariance, wanted[name].pose_covariance)
    assert ordinary == []


def test_a_covariance_that_stays_is_the_same_array_and_one_that_changes_is_not() -> None:
    rng, decoder = np.random.default_rng(8), StatesDecoder()
    message = random_states(rng, NAMES, 1.0)
    for state in message.states[:2]:
        state.pose_covariance = random_covariance(rng)
    first = decoder(serialize_message(message))
    message.states[1].pose_covariance = random_covariance(rng)
    second = decoder(serialize_message(message))
    assert second[NAMES[0]].pose_covariance is first[NAMES[0]].pose_covariance
    assert second[NAMES[1]].pose_covariance is not first[NAMES[1]].pose_covariance
    assert second[NAMES[1]].world_T_object is first[NAMES[1]].world_T_object


@pytest.mark.parametrize("kind", ["not symmetric", "negative", "indefinite", "nan", "short"])
def test_what_is_no_covariance_is_refused_and_leaves_no_trace(kind: str) -> None:
    rng, decoder = np.random.default_rng(9), StatesDecoder()
    message = random_states(rng, NAMES, 1.0)
    message.states[1].pose_covariance = random_covariance(rng)
    good = serialize_message(message)
    wanted = decoder(good)[NAMES[1]].pose_covariance
    matrix = 1e-4 * np.eye(6)
    if kind == "not symmetric":
        matrix[0, 1] = 1e-5
    elif kind == "indefinite":
        matrix[0, 1] = matrix[1, 0] = 2e-4
    else:
        matrix[3, 3] = float("nan") if kind == "nan" else -1e-6
    message.states[1].pose_covariance = matrix.ravel().tolist()[: 7 if kind == "short" else 36]
    for _ in range(2):
        with pytest.raises(BadMessage, match=r"states\[1\]\.pose_covariance"):
            decoder(serialize_message(message))
    again = decoder(good)
    np.testing.assert_array_equal(again[NAMES[1]].pose_covariance, wanted)


def test_an_object_that_was_measured_later_in_the_same_place_has_not_moved() -> None:
    message, decoder = random_states(np.random.default_rng(6), NAMES, 1.0), StatesDecoder()
    first = decoder(serialize_message(message))[NAMES[0]]
    message.states[0].age = 0.5
    second = decoder(serialize_message(message))[NAMES[0]]
    assert second.world_T_object is first.world_T_object
    assert (first.stamp_s, second.stamp_s) == (1.0, 0.5)


@pytest.mark.parametrize("age", [-0.1, float("nan")])
def test_an_impossible_age_is_refused(age: float) -> None:
    message = random_states(np.random.default_rng(7), NAMES, 1.0)
    message.states[3].age = age
    with pytest.raises(BadMessage, match=r"states\[3\]\.age"):
        StatesDecoder()(serialize_message(message))
