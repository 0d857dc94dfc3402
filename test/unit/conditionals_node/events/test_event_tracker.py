"""Events against traces of another implementation, and the cases where ours reports fewer, or more precise ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.events.task_event import EventCode, EventRules
from conditionals_node.events.tracker import EventTracker
from support.paths import ROOT
from support.records.sights import ObjectMotion, Seen

DATA = ROOT / "test" / "data" / "conditionals"
AS_THERE = EventRules(
    closed_share=0.75,
    merge_s=0.0,
    closing_on_object=True,
    rearm=False,
    grow_scene=False,
    upright=("target", "other2"),
)
SUBJECT, NUMBER = re.compile(r"'(\w+)'"), re.compile(r"(\d+\.\d+)m")
PUSHED = (EventCode.OBJECT_BUMPED, EventCode.OBJECT_MOVED)
WITH_SUBJECT = {250, 257, 258, 259, 260, 262, 264}


def sights(v: dict[str, np.ndarray], world: int) -> list[Seen | None]:
    """Return the sights of one world, one for each instant; None while it is frozen."""
    names = [str(name) for name in v["objects"]]
    found: list[Seen | None] = []
    for t in range(len(v["touch"])):
        if v["frozen"][t, world]:
            found.append(None)
            continue
        touch = v["touch"][t, world]
        touched = tuple(name for i, name in enumerate(names[:4]) if touch[i])
        motions = {}
        for i, name in enumerate(names[:4]):
            _, x, y, _ = v["quat"][t, world, i].astype(float)
            tilt = float(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))
            speed = float(np.linalg.norm(v["vel"][t, world, i]))
            motions[name] = ObjectMotion(v["pos"][t, world, i].astype(float), speed, tilt)
        closed = float(v["finger_joint"][t, world] / np.float32(np.pi / 4))
        intended = frozenset(json.loads(str(v["intended"][world])))
        gripped = touched if closed >= 0.3 else ()
        found.append(Seen(float(t), motions, touched, gripped, bool(touch[4]), closed, intended))
    return found


def test_all_events_agree_with_the_traces() -> None:
    v = dict(np.load(DATA / "event_traces.npz"))
    theirs: dict[tuple[int, int], list[tuple[int, str, float]]] = {}
    for step, world, code, info in zip(v["ev_step"], v["ev_env"], v["ev_code"], v["ev_info"], strict=True):
        subject, number = SUBJECT.search(str(info)), NUMBER.search(str(info))
        # The release of a wrong object has its own code here.
        ours = int(code) or int(EventCode.WRONG_OBJECT_DETACHED)
        value = float(number.group(1)) if number else np.nan
        name = subject.group(1) if subject and ours in WITH_SUBJECT else ""
        theirs.setdefault((int(step), int(world)), []).append((ours, name, value))
    # Theirs reports the mean way of all worlds in which the same object stopped in the same step.
    reported_together = Counter(
        (step, name) for (step, _), events in theirs.items() for code, name, _ in events if code in PUSHED
    )
    count = compared = 0
    for world in range(v["touch"].shape[1]):
        tracker = EventTracker(AS_THERE)
        for t, sight in enumerate(sights(v, world)):
            found = () if sight is None else tracker.update(*sight.arrays()).of(0)
            wanted = theirs.get((t, world), [])
            assert [int(event.code) for event in found] == [code for code, _, _ in wanted], (t, world)
            for event, (code, name, value) in zip(found, wanted, strict=True):
                assert not name or event.subject == name
                if code in PUSHED and reported_together[(t, name)] == 1:
                    assert event.value == pytest.approx(value, abs=6e-4)
                    compared += 1
            count += len(found)
    assert (count, compared) == (489, 98)


def sight(t: float, **seen: object) -> Seen:
    motions = seen.pop("motions", {})
    return Seen(t, motions, intended=frozenset({"cube"}), goals=frozenset({"bin"}), **seen)  # type: ignore[arg-type]


def play(rules: EventRules, *seen: Seen) -> list[list[str]]:
    tracker = EventTracker(rules)
    return [[event.code.name for event in tracker.update(*item.arrays()).of(0)] for item in seen]


def at(x: float, speed: float = 0.0, tilt: float = 0.0) -> ObjectMotion:
    return ObjectMotion(np.array([x, 0.0, 0.5]), speed, tilt)


def test_a_release_at_the_goal_is_no_drop() -> None:
    held = sight(0.0, touched=("cube",), gripped=("cube",))
    assert play(EventRules(), held, sight(1.0)) == [[], ["TARGET_OBJECT_DROPPED"]]
    assert play(EventRules(), held, sight(1.0, settled=frozenset({"cube"}))) == [[], []]


def test_the_goal_is_no_wrong_object_to_touch_but_one_to_grab() -> None:
    assert play(EventRules(), sight(0.0, touched=("cube", "bin"))) == [[]]
    assert play(EventRules(), sight(0.0, touched=("bin",), gripped=("bin",))) == [["WRONG_OBJECT_GRABBED"]]
    assert play(EventRules(), sight(0.0, touched=("can",))) == [["GRIPPER_HIT_OBJECT"]]


def test_a_gripper_that_holds_something_is_not_fully_closed() -> None:
    holding = sight(0.0, touched=("cube",), gripped=("cube",), closed=0.99)
    assert play(EventRules(), holding) == [[]]
    met_by_one = sight(0.0, touched=("cube",), closed=0.99)
    assert play(EventRules(), met_by_one, replace(holding, stamp_s=0.1)) == [[], []]
    assert play(EventRules(), sight(0.0, closed=0.99), sight(1.0, closed=0.99)) == [
        ["GRIPPER_FULLY_CLOSED"],
        [],
    ]


def test_the_same_event_within_two_seconds_is_reported_once() -> None:
    touches = [sight(0.1 * i, touches_surface=i % 2 == 0) for i in range(60)]
    reported = play(EventRules(), *touches)
    assert sum(map(len, reported)) == 1
    later = [sight(3.0 * i, touches_surface=i % 2 == 0) for i in range(6)]
    assert sum(map(len, play(EventRules(), *later))) == 3


def test_objects_that_are_back_may_leave_and_tip_again() -> None:
    rules = EventRules(upright=("mug",))
    places = [
        sight(5.0 * i, motions={"mug": at(9.0 if i % 2 else 0.5, tilt=1.0 if i % 2 else 0.0)})
        for i in range(5)
    ]
    both = ["OBJECT_OUT_OF_SCENE", "OBJECT_TIPPED_OVER"]
    assert play(rules, *places) == [[], both, [], both, []]


def test_pushes_are_reported_at_their_end_with_their_length() -> None:
    rules = EventRules(tell_starts=True)
    tracker = EventTracker(rules)
    path = [(0.0, 0.5, 0.2), (1.0, 0.6, 0.2), (2.0, 0.7, 0.0)]
    events = [
        e for t, x, v in path for e in tracker.update(*sight(t, motions={"mug": at(x, v)}).arrays()).of(0)
    ]
    assert [event.code for event in events] == [EventCode.OBJECT_STARTED_MOVING, EventCode.OBJECT_BUMPED]
    assert events[1].value == pytest.approx(0.2)
    assert "mug was bumped by 0.200 m" in events[1].message


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("bump_m", 1.0),
        ("moving_mps", -1.0),
        ("closed_share", 0.0),
        ("size_m", (1.0, 0.0, 1.0)),
        ("merge_s", -1.0),
    ],
)
def test_impossible_rules_are_refused(rule: str, value: object) -> None:
    with pytest.raises(ValueError, match=rule):
        EventRules(**{rule: value})  # type: ignore[arg-type]
