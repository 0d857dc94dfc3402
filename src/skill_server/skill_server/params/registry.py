"""The catalog of all skills: the built-in ones, and those that packages offer by entry point."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.plugins import collect
from handiwork_core.contracts.skill import Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome

GROUP = "handiwork.skills"


class UnknownSkill(HandiworkError, ValueError):
    """No skill has the name.

    Args:
        message: Lists the known skills, or says why this one did not load.
    """

    def __init__(self, message: str) -> None:
        super().__init__(Outcome(Code.BAD_GOAL, message, "check", "skill"))


@dataclass(frozen=True)
class Catalog:
    """The loaded skills.

    Attributes:
        skills: Skills by name.
        broken: Entry points that could not be used, with the cause.
    """

    skills: Mapping[str, Skill[Any]]
    broken: Mapping[str, str]

    def find(self, name: str) -> Skill[Any]:
        """Find a skill by its name or an alias, in any of the spellings that ``plain_name`` unites.

        Args:
            name: Name or alias.

        Returns:
            The skill.

        Raises:
            UnknownSkill: No skill has this name, or its entry point could not be loaded.
        """
        plain = plain_name(name)
        if plain in self.skills:
            return self.skills[plain]
        alike = [
            skill
            for skill in self.skills.values()
            if _joined(plain) in map(_joined, (skill.name, *skill.aliases))
        ]
        for skill in alike:
            if plain in skill.aliases or len(alike) == 1:
                return skill
        if name in self.broken or plain in self.broken:
            raise UnknownSkill(
                f"skill {name!r} could not be loaded: {self.broken.get(name) or self.broken[plain]}"
            )
        if not name:
            raise UnknownSkill(f"skill is empty; use one of {sorted(self.skills)}")
        raise UnknownSkill(f"no skill {name[:80]!r}; {nearest(plain[:80], sorted(self.skills))}")


def plain_name(name: str) -> str:
    """Return the spelling of a name in lower case with single underscores.

    ``goto__pose``, ``Goto_Pose`` and ``GotoPose`` are all ``goto_pose``.

    Args:
        name: Name in any spelling.

    Returns:
        The plain name.
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"_+", "_", parted).strip("_").lower()


def _joined(name: str) -> str:
    """Return the name without underscores: ``DexPick`` and ``dexpick`` are one word that only capitals part."""
    return name.replace("_", "")


def load_catalog(builtin: Iterable[type[Skill[Any]]], points: Iterable[EntryPoint] | None = None) -> Catalog:
    """Load the built-in skills, then each entry point of ``GROUP``.

    An entry point that cannot be used does not affect the others.

    Args:
        builtin: Classes of the built-in skills.
        points: Entry points to load; None: the installed ones of ``GROUP``.

    Returns:
        The catalog, with the causes of the entry points that could not be used.
    """
    broken: dict[str, str] = {}

    def note(point: EntryPoint, error: Exception) -> None:
        broken[point.name] = f"{point.value}: {type(error).__name__}: {error}"

    skills = collect((kind() for kind in builtin), GROUP, make=_made, on_failure=note, points=points)
    return Catalog(skills, broken)


def _made(kind: object) -> Skill[Any]:
    """Make an instance of a plug-in's class.

    Raises:
        ValueError: It is no skill; says what is missing.
    """
    if not (isinstance(kind, type) and issubclass(kind, Skill)):
        raise ValueError(f"{kind!r} is no class derived from handiwork_core.contracts.skill.Skill")
    name = getattr(kind, "name", "")
    if not isinstance(name, str) or not name or plain_name(name) != name:
        raise ValueError(f"name is {name!r}; use lower case letters, digits and single underscores")
    params = getattr(kind, "params_type", None)
    if not (isinstance(params, type) and issubclass(params, SkillParams)):
        raise ValueError(f"params_type is {params!r}; make it a dataclass that extends SkillParams")
    typing.get_type_hints(params)
    return kind()
