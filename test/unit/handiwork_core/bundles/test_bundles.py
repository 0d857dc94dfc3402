"""Bundles: exact values, whole files, a bounded folder, and clear sentences for what cannot be read."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handiwork_core.bundles.bundle import (
    FORMAT,
    HEAD,
    Bundle,
    BundleError,
    Call,
    Head,
    LogLine,
    Seen,
    Stop,
    read_bundle,
    read_head,
    write_bundle,
)
from handiwork_core.bundles.encoding import Decoder, Encoder, Unknown
from handiwork_core.bundles.folder import BundleFolder
from handiwork_core.contracts.planning import JointGoals, PlanRequest, PlanResult, SceneQuery
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, ObjectState, Shape, ShapeKind, World, WorldObject

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=timezone.utc)


def world(at_s: float, objects: dict[str, WorldObject]) -> World:
    pose = Pose.of((0.1, 0.2, 0.3), Rotation.from_rpy(0.1, 0.2, at_s))
    states = {name: ObjectState(pose, np.zeros(3), np.ones(3), at_s) for name in objects}
    return World(at_s, 3, objects, states, joints=JointState(at_s, {"j1": 0.1 + at_s}))


def bundle() -> Bundle:
    box = Shape(ShapeKind.BOX, np.array([0.1, 0.2, 0.3]), Pose.identity())
    objects = {"cube": WorldObject("cube", (box,))}
    seen = tuple(Seen(t, world(t, objects)) for t in (1.0, 2.0))
    scene = SceneQuery(allowed=frozenset({BodyPair("a", "b")}), gripper_m=(("finger", 0.04),))
    request = PlanRequest("arm", np.array([0.1, 1 / 3]), JointGoals(np.eye(2)), scene, seed=7)
    rows = np.linspace(0.0, 1.0, 6).reshape(3, 2)
    way = Trajectory(("j1", "j2"), np.array([0.0, 0.1, 0.2]), rows, rows, rows)
    answer = PlanResult(Code.OK, trajectory=way, goal_index=0)
    call = Call("plan", "arm", 1.1, 1.2, request, answer, seen[0].world)
    pair = BodyPair("fr3/hand", "cube")
    outcome = Outcome(Code.PATH_TOLERANCE, "left its path", "grasp", "", pair, 0.1, 0.2)
    head = Head("pick", "pick", "arm", "fr3", "/robots/fr3", outcome, "2026-01-02T12:00:00", {"numpy": "2"})
    return Bundle(
        head,
        {"object": "cube"},
        params=Outcome(Code.OK),
        calls=(call,),
        seen=seen,
        stop=Stop(Code.CANCELED, "", 1.5),
        log=(LogLine(1.0, "WARN", "node", "text"),),
    )


def test_a_bundle_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.bundle"
    write_bundle(path, bundle())
    again = read_bundle(path)
    assert again.head == bundle().head
    assert read_head(path) == again.head
    assert again.stop == bundle().stop
    assert again.log == bundle().log
    made, given_ = again.calls[0], bundle().calls[0]
    assert made.request.scene == given_.request.scene
    for one, other in (
        (made.request.start_q, given_.request.start_q),
        (made.answer.trajectory.qdd, given_.answer.trajectory.qdd),
        (made.world.states["cube"].world_T_object.rotation.wxyz, seen_rotation()),
    ):
        assert one.tobytes() == other.tobytes()
    assert list(tmp_path.iterdir()) == [path]


def seen_rotation() -> np.ndarray:
    return bundle().seen[0].world.states["cube"].world_T_object.rotation.wxyz


def test_what_occurs_twice_is_one_object_again(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.bundle", bundle())
    again = read_bundle(tmp_path / "a.bundle")
    assert again.seen[0].world.objects is again.seen[1].world.objects
    assert again.calls[0].world is again.seen[0].world


@given(st.floats(), st.text(), st.integers(-(2**62), 2**62))
def test_plain_values_keep_every_bit(number: float, text: str, count: int) -> None:
    values = (number, [text, count], {"k": None, 3: True}, np.float64(number))
    sent = json.loads(json.dumps(Encoder().encode(values)))
    again = Decoder(()).decode(sent)
    assert again[1] == [text, count]
    assert again[2] == {"k": None, 3: True}
    assert np.array_equal(np.float64(again[0]).view(np.int64), np.float64(number).view(np.int64)) or np.isnan(
        number
    )


def test_a_class_that_is_not_known_is_shown_by_name_and_never_made() -> None:
    sent = json.loads(json.dumps(Encoder().encode(Outcome(Code.OK, "text"))))
    found = Decoder(()).decode(sent)
    assert isinstance(found, Unknown)
    assert found.name.endswith(".Outcome")
    assert found.values["message"] == "text"


def test_another_format_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "new.bundle"
    write_bundle(
        path, replace(bundle(), head=replace(bundle().head, format=FORMAT + 1, versions={"handiwork": "9.1"}))
    )
    with pytest.raises(
        BundleError, match=r"written by Handiwork 9\.1 in format 2, and this version reads format 1"
    ):
        read_bundle(path)


@pytest.mark.parametrize("content", [b"", b"no zip", None])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "bad.bundle"
    if content is None:
        write_bundle(path, bundle())
        content = path.read_bytes()[:-100]
    path.write_bytes(content)
    with pytest.raises(BundleError, match=r"bad\.bundle is no bundle"):
        read_bundle(path)


def test_a_missing_file_and_a_missing_part_are_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot be read"):
        read_bundle(tmp_path / "none.bundle")
    path = tmp_path / "part.bundle"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEAD, "{}")
    with pytest.raises(BundleError, match="no bundle"):
        read_head(path)


def test_the_folder_keeps_the_newest(tmp_path: Path) -> None:
    folder = BundleFolder(tmp_path, kept=3, kept_mb=1.0)
    paths = [folder.next_path("pick it/now", "NO_IK", NOON) for _ in range(5)]
    assert len(set(paths)) == 5
    assert all("/" not in path.name for path in paths)
    for path in paths:
        path.write_bytes(b"x")
    assert folder.prune(0.0) == 2
    assert folder.bundles() == paths[2:]
    for path in paths[2:]:
        path.write_bytes(b"x" * 700_000)
    assert folder.prune(0.0) == 2
    assert folder.bundles() == paths[4:]


def test_refused_goals_do_not_push_out_failures(tmp_path: Path) -> None:
    folder = BundleFolder(tmp_path, kept=8, kept_mb=1.0)
    failed = [folder.next_path("pick", "GRASP_FAILED", NOON) for _ in range(3)]
    refused = [folder.next_path("pick", "BAD_GOAL", NOON, is_refused=True) for _ in range(50)]
    for path in (*failed, *refused):
        path.write_bytes(b"x")
        folder.prune(0.0)
    assert folder.bundles() == [*failed, *refused[-2:]]
    for path in refused[-2:]:
        path.write_bytes(b"x" * 200_000)
    folder.prune(0.0)
    assert folder.bundles() == [*failed, refused[-1]]


def test_an_unfinished_file_goes_once_it_is_old(tmp_path: Path) -> None:
    part = tmp_path / ".a.bundle.part"
    part.touch()
    now_s = part.stat().st_mtime
    BundleFolder(tmp_path).prune(now_s + 1.0)
    assert part.exists()
    BundleFolder(tmp_path).prune(now_s + 1e4)
    assert not part.exists()
