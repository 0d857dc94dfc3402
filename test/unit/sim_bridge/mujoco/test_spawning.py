"""Objects that are spawned and deleted: how they are read, named and found, and both versions of the messages."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from handiwork_core.intake.limits import OBJECTS
from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.geometry import Pose
from handiwork_core.scene.loader import load_scene
from sim_bridge.loop.simulation_messages import (
    StateParts,
    parts_to_set,
    put_uri,
    resource_from,
)
from sim_bridge.mujoco.spawning import (
    Resource,
    SpawnRefused,
    Why,
    free_name,
    meets_box,
    meets_sphere,
    named_like,
    own_bounds,
    read_object,
    with_object,
    without,
)
from support.paths import ROOT

SCENES = ROOT / "config/scenes"
ROOTS = DataRoots.of([SCENES])
TABLETOP = load_scene(SCENES / "tabletop.yaml")
OUTSIDE = "is not a readable file below the data folders"
BRICK = "{mass: 0.2, shapes: [{type: box, size: [0.1, 0.05, 0.03]}]}"


def test_an_object_is_read_from_its_text_and_from_a_scene_file() -> None:
    brick = read_object(Resource(text=BRICK), "brick", SCENES, ROOTS)
    assert (brick.name, brick.body.mass_kg, brick.body.is_static) == ("brick", 0.2, False)
    assert own_bounds(brick).tolist() == [[-0.05, -0.025, -0.015], [0.05, 0.025, 0.015]]
    uri = f"file://{SCENES / 'tabletop.yaml'}#cube"
    assert read_object(Resource(uri), "", SCENES, ROOTS).name == "cube"
    assert read_object(Resource(uri), "other", SCENES, ROOTS).body.name == "other"


@pytest.mark.parametrize(
    ("resource", "why", "words"),
    [
        (Resource(), Why.NO_RESOURCE, "give one"),
        (Resource("robot.usd"), Why.UNSUPPORTED_FORMAT, "<file>.yaml#<object>"),
        (Resource(f"{SCENES}/tabletop.yaml#cup"), Why.NO_RESOURCE, "it has ['bin', 'can', 'cube'"),
        (Resource(f"{SCENES}/none.yaml#cup"), Why.NO_RESOURCE, "not a readable file below the data folders"),
        (Resource(text="{mas: 1.0}"), Why.PARSE_ERROR, "did you mean 'mass'"),
        (Resource(text="{mass: 1.0, usd: none.usda}"), Why.ASSET, "none.usda"),
        (Resource(text="{mass: 1.0, shapes: [{type: mesh, file: /dev/zero}]}"), Why.ASSET, OUTSIDE),
        (Resource(text="{mass: 1.0, shapes: [{type: mesh, file: /proc/self/fd/0}]}"), Why.ASSET, OUTSIDE),
        (Resource(text="{mass: 1.0, shapes: [{type: mesh, file: ../../README.md}]}"), Why.ASSET, OUTSIDE),
        (Resource(text="{mass: 1.0, usd: /etc/hostname}"), Why.ASSET, OUTSIDE),
        (Resource("/etc/absent.yaml#cup"), Why.NO_RESOURCE, OUTSIDE),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_mend(resource: Resource, why: Why, words: str) -> None:
    with pytest.raises(SpawnRefused) as refused:
        read_object(resource, "thing", SCENES, ROOTS)
    assert refused.value.why is why
    assert words in str(refused.value)


def test_names_are_free_and_names() -> None:
    assert free_name("brick", TABLETOP, "fr3", may_rename=False) == "brick"
    assert free_name("cube", TABLETOP, "fr3", may_rename=True) == "cube_2"
    assert free_name("", TABLETOP, "fr3", may_rename=True) == "object"
    for name, why in (
        ("", Why.NAME_INVALID),
        ("a/b", Why.NAME_INVALID),
        ("cube", Why.NAME_TAKEN),
        ("fr3", Why.NAME_TAKEN),
    ):
        with pytest.raises(SpawnRefused) as refused:
            free_name(name, TABLETOP, "fr3", may_rename=False)
        assert refused.value.why is why


def test_an_object_goes_with_its_parts() -> None:
    drawer = load_scene(SCENES / "drawer.yaml")
    parts = {item.body.articulation.body: item.name for item in drawer.objects if item.body.articulation}
    body, part = next(iter(parts.items()))
    assert {body, part}.isdisjoint(item.name for item in without(drawer, body).objects)
    with pytest.raises(SpawnRefused, match="delete that"):
        without(drawer, part)
    with pytest.raises(SpawnRefused, match="is no object"):
        without(drawer, "cup")


def test_filters_find_by_name_box_and_sphere() -> None:
    brick = read_object(Resource(text=BRICK), "brick", SCENES, ROOTS)
    scene = with_object(TABLETOP, brick)
    assert named_like((item.name for item in scene.objects), "^(b|c)") == ["cube", "bin", "can", "brick"]
    with pytest.raises(ValueError, match="no regular expression"):
        named_like(["cube"], "(")
    at = Pose.of((1.0, 0.0, 0.5), Pose.identity().rotation)
    assert meets_sphere(brick, at, np.array((1.0, 0.1, 0.5)), 0.08)
    assert not meets_sphere(brick, at, np.array((1.0, 0.1, 0.5)), 0.07)
    assert meets_box(brick, at, np.array(((1.04, -1.0, 0.0), (2.0, 1.0, 1.0))))
    assert not meets_box(brick, at, np.array(((1.06, -1.0, 0.0), (2.0, 1.0, 1.0))))


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)*.*=.*x", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_no_filter_takes_long(pattern: str) -> None:
    names = ["a" * 60 + "!"] * 100
    begin = time.process_time()
    named_like(names, pattern)
    assert time.process_time() - begin < 1.0


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?=a)", "look-around and back-references are unknown"),
        (r"(a)\1", "look-around and back-references are unknown"),
        ("(a{1000}){1000}", "no regular expression of RE2: invalid repetition size"),
        ("a" * 201, "the filter has 201 characters; write at most 200"),
    ],
)
def test_a_filter_that_is_not_understood_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        named_like(["cube"], pattern)


def test_a_full_scene_a_far_place_and_a_long_name_are_refused() -> None:
    brick = read_object(Resource(text=BRICK), "brick", SCENES, ROOTS)
    full = replace(TABLETOP, objects=(TABLETOP.objects[0],) * OBJECTS)
    with pytest.raises(ValueError, match=f"has {OBJECTS} objects already; at most {OBJECTS} are kept"):
        with_object(full, brick)
    far = replace(brick, world_T_object=Pose.of((1e9, 0.0, 0.0), Pose.identity().rotation))
    with pytest.raises(ValueError, match=r"is too far away; stay within 1e\+06 m"):
        with_object(TABLETOP, far)
    with pytest.raises(SpawnRefused, match="the name has 300 characters; give at most 255"):
        free_name("x" * 300, TABLETOP, "fr3", may_rename=True)
    many = "{mass: 1.0, shapes: [" + "{type: sphere, size: [0.1]}, " * 300 + "]}"
    with pytest.raises(SpawnRefused, match="has 300; at most 256 are taken"):
        read_object(Resource(text=many), "many", SCENES, ROOTS)


def test_both_versions_of_the_messages_are_read() -> None:
    first = SimpleNamespace(name="a", uri="f.yaml#a", resource_string="")
    second = SimpleNamespace(name="a", entity_resource=SimpleNamespace(uri="f.yaml#a", resource_string=""))
    assert resource_from(first) == resource_from(second) == Resource("f.yaml#a")
    assert parts_to_set(SimpleNamespace(state=None)) == StateParts(pose=True, twist=True, acceleration=False)
    flags = SimpleNamespace(set_pose=False, set_twist=True, set_acceleration=True)
    assert parts_to_set(flags) == StateParts(pose=False, twist=True, acceleration=True)
    old, new = SimpleNamespace(uri=""), SimpleNamespace(entity_resource=SimpleNamespace(uri=""))
    put_uri(old, "x")
    put_uri(new, "x")
    assert (old.uri, new.entity_resource.uri) == ("x", "x")
