"""What makes episodes of a task: the key ``episodes`` of the task file, strictly read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml, nearest, parse
from handiwork_core.intake.limits import TASK_YAML
from handiwork_core.scene.loader import Scene, SceneObject

KEY = "episodes"
LARGEST_EPISODE = 2**31 - 1
NAME = re.compile(r"\{([\w-]+)\}")
"""The name of an object in a sentence; other braces are letters."""


@dataclass(frozen=True, slots=True)
class ObjectVariation:
    """Ranges from which each movable object draws for itself; None: as the scene says.

    Attributes:
        mass_factor: Range of the factor on its mass.
        friction_factor: Range of the factor on its friction.
        color: True: its red, green and blue are drawn.
    """

    mass_factor: tuple[float, float] | None = None
    friction_factor: tuple[float, float] | None = None
    color: bool = False

    def __post_init__(self) -> None:
        for key in ("mass_factor", "friction_factor"):
            bounds = getattr(self, key)
            if bounds is not None and not 0.0 < bounds[0] <= bounds[1] < 100.0:
                raise ValueError(
                    f"{key} is {list(bounds)}; give two factors, the smaller one first, between 0 and 100"
                )


@dataclass(frozen=True, slots=True)
class EpisodeSettings:
    """The key ``episodes`` of a task file.

    Attributes:
        success: Condition that decides whether an episode is a success, in the monitor's language.
        scene: Scene file: a name in ``config/scenes`` or a path.
        robot: Robot: a name in ``robot_description/robots`` or a path.
        instructions: Sentences of which each episode draws one; ``{cube}`` stands for what the object ``cube`` is.
        conditions: Further conditions whose values are recorded.
        rate_hz: Samples a second, a whole divisor of 50.
        limit_s: Longest time of the task, s of the world.
        settle_s: Time between the end of the task and the verdict, s of the world.
        scatter: True: the ranges of the scene file draw the places of the objects.
        home_spread: True: the arms begin at a configuration that is drawn by their ``home_std``.
        objects: Ranges of what movable objects draw beside their places.
    """

    success: str
    scene: str = "tabletop"
    robot: str = "fr3"
    instructions: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    rate_hz: int = 25
    limit_s: float = 120.0
    settle_s: float = 1.0
    scatter: bool = True
    home_spread: bool = True
    objects: ObjectVariation = field(default_factory=ObjectVariation)

    def __post_init__(self) -> None:
        if not self.success.strip():
            raise ValueError("success is empty; write the condition that makes an episode a success")
        if self.rate_hz < 1 or 50 % self.rate_hz:
            raise ValueError(f"rate_hz is {self.rate_hz}; write 1, 2, 5, 10, 25 or 50")
        if not 1.0 <= self.limit_s <= 3600.0:
            raise ValueError(f"limit_s is {self.limit_s:g} s; write 1 to 3600")
        if not 0.0 <= self.settle_s <= 60.0:
            raise ValueError(f"settle_s is {self.settle_s:g} s; write 0 to 60")
        if any(not one.strip() for one in self.instructions):
            raise ValueError("instructions has an empty sentence; write it, or take it away")


@dataclass(frozen=True)
class TaskFile:
    """A task file with its settings.

    Attributes:
        path: The file, for messages.
        text: Its text.
        settings: Its key ``episodes``.
    """

    path: str
    text: str
    settings: EpisodeSettings

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_task_file(path: Path) -> TaskFile:
    """Read a task file and its key ``episodes``.

    Args:
        path: The file.

    Raises:
        ConfigError: The file cannot be read, or its key is missing or wrong; lists every fault.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), [f"cannot be read: {error}; give a task file"]) from error
    data: Mapping[str, Any] = mapping_from_yaml(text, str(path), TASK_YAML)
    given = data.get(KEY)
    if not isinstance(given, Mapping):
        example = "episodes: {success: 'object_in_container(object=cube, container=bin)'}"
        raise ConfigError(str(path), [f"{KEY}: is missing; say what a success is, as in {example}"])
    try:
        return TaskFile(str(path), text, parse(EpisodeSettings, given, f"{path}: {KEY}"))
    except ValueError as error:
        raise (
            error if isinstance(error, ConfigError) else ConfigError(f"{path}: {KEY}", [str(error)])
        ) from error


@dataclass(frozen=True)
class Drawn:
    """What the seed of an episode decides beside the plans.

    Attributes:
        scene: The scene as it begins.
        instruction: The sentence; empty without any.
        home_seed: Seed of the arms' first configuration; None: home itself.
        task_seed: Seed of the task.
    """

    scene: Scene
    instruction: str
    home_seed: int | None
    task_seed: int

    def labels(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what objects are, in words.

        Args:
            names: Names of objects of the scene.
        """
        words = _words(self.scene)
        return tuple(words[name] for name in names)


def draw(settings: EpisodeSettings, scene: Scene, episode: int) -> Drawn:
    """Draw everything that differs from episode to episode.

    Args:
        settings: The settings.
        scene: The scene as its file declares it.
        episode: Number of the episode, which is its seed.

    Returns:
        What was drawn; the same for the same arguments.

    Raises:
        ValueError: An object of the scene found no free place, or a sentence names an unknown object.
    """
    if settings.scatter:
        scene = scene.randomized(episode)
    rng = np.random.default_rng([episode, 22])
    task_seed, home_seed = (int(one) for one in rng.integers(0, 2**31, size=2))
    texts = settings.instructions
    instruction = texts[int(rng.integers(len(texts)))] if texts else ""
    objects = tuple(_varied(item, settings.objects, rng) for item in scene.objects)
    scene = replace(scene, objects=objects)
    words = _words(scene)
    _check_names(settings.instructions, list(words))
    sentence = NAME.sub(lambda found: words[found[1]], instruction)
    return Drawn(scene, sentence, home_seed if settings.home_spread else None, task_seed)


def _words(scene: Scene) -> dict[str, str]:
    """Return what each object of a scene is, in words."""
    return {item.name: item.words for item in scene.objects}


def _check_names(sentences: Sequence[str], names: Sequence[str]) -> None:
    for sentence in sentences:
        for name in NAME.findall(sentence):
            if name not in names:
                text = f"instructions: {sentence!r} has {{{name}}}; {nearest(name, sorted(names))}"
                raise ValueError(text)


def _varied(item: SceneObject, ranges: ObjectVariation, rng: np.random.Generator) -> SceneObject:
    """Return the object with its draws. Every object draws the same count, so that one does not shift the others."""
    mass, friction, *color = rng.random(5).tolist()
    if item.body.is_static:
        return item
    body = item.body
    if ranges.mass_factor is not None:
        body = replace(body, mass_kg=body.mass_kg * _between(ranges.mass_factor, mass))
    rubs = item.friction
    if ranges.friction_factor is not None:
        rubs *= _between(ranges.friction_factor, friction)
    red, green, blue = color if ranges.color else item.color[:3]
    return replace(item, body=body, friction=rubs, color=(red, green, blue, item.color[3]))


def _between(bounds: tuple[float, float], share: float) -> float:
    return bounds[0] + (bounds[1] - bounds[0]) * share
