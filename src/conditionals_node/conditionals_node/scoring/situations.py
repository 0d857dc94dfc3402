"""Situations with the verdicts of a person: labels in YAML, states as MuJoCo left them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Contact, JointState, ObjectState, World, WorldObject
from handiwork_core.scene.loader import Scene, load_scene

DATA = Path(__file__).parent / "data"
"""Folder of ``bodies.yaml``, of one file of labels for each category, and of ``states.json``."""
CATEGORIES = (
    "hollow", "turned", "tall", "light", "stacked", "leaning", "nested", "held", "moving", "upside_down",
    "two_supporters", "deformable", "occluded", "places",
)  # fmt: skip
"""The categories; each is a file of labels."""
SHARED = ("settle", "speed", "hand", "hidden", "touch", "asks", "why")
"""Keys that a family gives to each of its situations; a situation's own entry replaces them."""
ROBOT = "fr3"
"""The robot that stands beside the table in every situation, with its base at the origin of ``world``."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a situation, with a person's answer.

    Attributes:
        expression: The question as an expression of conditions; every argument is named.
        label: The person's answer. UNKNOWN: what the situation shows does not decide it.
        why: The reason, one sentence.
        known_disagreement: Why the conditions of Handiwork answer otherwise; empty where they agree.
    """

    expression: str
    label: Truth
    why: str
    known_disagreement: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """One instant of a simulated world, and questions about it.

    Attributes:
        key: Unique name: family and number.
        category: One of ``CATEGORIES``.
        family: Name of the family: situations with the same questions.
        questions: The questions.
        world: All that a judge may see: shapes, poses, velocities, contacts and joints. An object without a pose is
            known, but hidden.
        complete: The same with the hidden objects and contacts, for pictures.
    """

    key: str
    category: str
    family: str
    questions: tuple[Question, ...]
    world: World
    complete: World


@lru_cache(maxsize=1)
def load_bodies() -> Scene:
    """Return all bodies of the situations; their poses mean nothing."""
    return load_scene(DATA / "bodies.yaml")


@lru_cache(maxsize=1)
def load_families() -> tuple[dict[str, Any], ...]:
    """Return the families as written, in the order of ``CATEGORIES``, each with its ``category``."""
    files = {name: yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8")) for name in CATEGORIES}
    return tuple({"category": name, **family} for name, families in files.items() for family in families)


def scenes_of(family: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the entry of each situation of a family, with what the whole family shares.

    Args:
        family: The family as written: ``places`` has one entry for each situation.
    """
    shared = {key: family[key] for key in SHARED if key in family}
    for i, places in enumerate(family["places"], 1):
        own = places if "at" in places else {"at": places}
        yield f"{family['name']} {i}", {**shared, **own, "at": {**family.get("with", {}), **own["at"]}}


@lru_cache(maxsize=1)
def load_situations() -> tuple[Situation, ...]:
    """Return all situations, in the order of the files.

    Raises:
        KeyError: A situation has no recorded state; run ``python -m benchmarks.situations record``.
    """
    states = json.loads((DATA / "states.json").read_text(encoding="utf-8"))
    bodies = {item.name: item.body for item in load_bodies().objects}
    return tuple(
        Situation(
            key,
            family["category"],
            family["name"],
            questions_of(entry),
            world_of(states[key], bodies, tuple(entry.get("hidden", ())), entry.get("touch", True)),
            world_of(states[key], bodies, (), True),
        )
        for family in load_families()
        for key, entry in scenes_of(family)
    )


def questions_of(entry: Mapping[str, Any]) -> tuple[Question, ...]:
    """Return the questions about a situation as values.

    Args:
        entry: The situation as written: ``asks`` has rows of expression, label, and optionally a reason of its own and
            why the conditions disagree.

    Raises:
        ValueError: A row has more entries, or a label is none.
    """
    found = []
    for text, label, *more in entry["asks"]:
        if len(more) > 2:
            raise ValueError(f"{text}: has {len(more) + 2} entries; put a text with a comma in quotes")
        why, known = [*more, "", ""][:2]
        found.append(Question(text, truth_of(label), why or entry["why"], known))
    return tuple(found)


def truth_of(label: object) -> Truth:
    """Return a label as a value.

    Args:
        label: True, False, None, a ``Truth``, or one of the words TRUE, FALSE and UNKNOWN.

    Raises:
        ValueError: It is none of these.
    """
    if isinstance(label, Truth):
        return label
    if label is None:
        return Truth.UNKNOWN
    if hasattr(label, "item"):  # a bool of numpy or torch
        label = label.item()
    if isinstance(label, bool):
        return Truth.of(label)
    if isinstance(label, str) and label.upper() in Truth.__members__:
        return Truth[label.upper()]
    raise ValueError(f"{label!r} is no verdict; write True, False, None, or TRUE, FALSE, UNKNOWN")


def world_of(
    state: Mapping[str, Any], bodies: Mapping[str, WorldObject], hidden: tuple[str, ...], touch: bool
) -> World:
    """Return a recorded state as a snapshot.

    Args:
        state: The state as recorded: ``objects``: name to 13 numbers (position [m], quaternion wxyz, linear velocity
            [m/s], angular velocity [rad/s], in ``world``); ``contacts``: rows of both names, force on the first [N],
            point [m]; ``joints``: positions [rad or m] by name.
        bodies: The bodies by name.
        hidden: Objects whose pose is not known.
        touch: False: there is no source of contacts.
    """
    rows = state["objects"]
    states = {
        name: ObjectState(
            Pose.of(row[:3], Rotation.from_wxyz(row[3:7])), frozen(row[7:10]), frozen(row[10:13]), 0.0
        )
        for name, row in rows.items()
        if name not in hidden
    }
    seen = [row for row in state["contacts"] if row[0] not in hidden and row[1] not in hidden]
    contacts = tuple(Contact(a, b, frozen(numbers[:3]), frozen(numbers[3:])) for a, b, *numbers in seen)
    return World(
        0.0,
        1,
        {name: bodies[name] for name in rows},
        states,
        contacts if touch else None,
        0.0,
        JointState(0.0, state["joints"]),
        frames={"robot": Pose.identity()},
    )
