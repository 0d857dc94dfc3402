"""Judges of situations: the conditions of Handiwork, the rules of the original, and a user's own function."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.expression import Expression, Not, all_true
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Finding
from handiwork_core.robot.robot import Robot

from .situations import Question, Situation

Judge = Callable[[Situation, Question], object]
"""Answers a question: True, False, None for UNKNOWN, a ``Truth`` or its name, or a ``Finding``, which has a reason."""

HULLS = (
    "object",
    "container",
    "logical",
    "K",
    "require_contact_with",
    "require_gripper_detached",
    "min_force",
)
"""Arguments of containment that ``object_in_hull`` has too."""
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "gripper_detached": {"weight_share": 0.0},
    "gripper_fully_closed": {"while_holding": True},
    "object_above": {"z_margin": 0.0, "extent": "box"},
    "object_above_bottom": {"z_margin": 0.0, "extent": "box"},
    "object_behind": {"seen": "origin"},
    "object_below": {"z_margin": 0.0, "extent": "box"},
    "object_below_top": {"z_margin": 0.0, "extent": "box"},
    "object_between": {"along": "axis"},
    "object_in_contact": {"weight_share": 0.0},
    "object_in_front_of": {"seen": "origin"},
    "object_left_of": {"seen": "origin"},
    "object_next_to": {"min_overlap": 0.0, "extent": "box"},
    "object_on_bottom": {"z_margin": 0.0, "extent": "box"},
    "object_on_top": {"extent": "box", "support_share": 0.0, "weight_share": 0.0},
    "object_right_of": {"seen": "origin"},
    "stacked": {"extent": "box", "weight_share": 0.0},
    "wrong_object_grabbed": {"min_closed": 0.0},
}
"""Arguments that give predicates the rules of RoboLab 0.2.1."""
ANYWHERE_M = 100.0
"""A tolerance beyond every table: the original asks only for the force of a surface."""


class OriginalBuilder(Builder):
    """Builds the conditions of RoboLab 0.2.1 for the questions of a situation.

    A question may set arguments for Handiwork's rules; those that the original does not have are left out.

    Args:
        robot: Fills in the arguments that are left out; the original looks at its first finger only.
    """

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        gripper = next(arm.gripper for arm in robot.arms.values() if arm.gripper is not None)
        self._finger = f"{robot.name}/{gripper.finger_links[0]}"

    def combined(self, name: str, args: Mapping[str, Any]) -> Expression:
        """Build the original's condition; see ``Builder.combined``."""
        build, own = super().combined, dict(args)
        hull = {"point": "vertex_mean", **{key: own[key] for key in HULLS if key in own}}
        if name in ("object_in_container", "object_inside"):
            inside = build("object_in_hull", hull)
            if not own.get("require_stationary"):
                return inside
            limit = own.get("stationary_threshold", 0.05)
            slow = {"object": own["object"], "linear_threshold": limit, "check_angular": False}
            return all_true([inside, build("object_stationary", slow)])
        if name == "object_enclosed":
            return build("object_in_hull", {**hull, "closed": True})
        if name == "object_outside_of":
            return Not(build("object_in_hull", hull))
        if name == "object_outside_of_and_on_surface":
            on = {"object": own["object"], "reference_object": own["surface"], "tolerance": ANYWHERE_M}
            return all_true([Not(build("object_in_hull", hull)), self.combined("object_on_top", on)])
        if name in ("object_grabbed", "object_dropped"):
            touched = {"object1": own["object"], "object2": self._finger, "weight_share": 0.0}
            grip = build("object_in_contact", touched)
            return grip if name == "object_grabbed" else Not(grip)
        if name == "object_picked_up":
            above = {"object": own["object"], "reference_object": own["surface"], "extent": "box"}
            lifted = build("object_above", {**above, "z_margin": own.get("distance", 0.05)})
            return all_true([self.combined("object_grabbed", {"object": own["object"]}), lifted])
        if name == "gripper_detached":
            return Not(self.combined("object_grabbed", own))
        return build(name, {**own, **OPTIONS.get(name, {})})


class BuiltJudge:
    """The judge whose answers are those of conditions.

    Args:
        builder: Builds the conditions of the questions.
    """

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._built: dict[str, Expression] = {}

    def __call__(self, situation: Situation, question: Question) -> Finding:
        """Return the finding of a question's condition.

        Args:
            situation: The situation.
            question: One of its questions.

        Raises:
            ConfigError: The expression of the question is wrong.
        """
        text = question.expression
        if text not in self._built:
            self._built[text] = self._builder.build_expression("", text, _no_names).expression
        return self._built[text].decide(lambda leaf: leaf.predicate.evaluate(situation.world))


def own_judge(robot: Robot) -> Judge:
    """Return the judge with the conditions of Handiwork.

    Args:
        robot: Description of the robot of the situations.
    """
    return BuiltJudge(Builder(robot))


def original_judge(robot: Robot) -> Judge:
    """Return the judge with the rules of RoboLab 0.2.1.

    Args:
        robot: Description of the robot of the situations.
    """
    return BuiltJudge(OriginalBuilder(robot))


def load_judge(name: str) -> Judge:
    """Return a user's function.

    Args:
        name: ``module:function``, or ``path/of/file.py:function``. Modules are also looked for in the current folder.

    Raises:
        ConfigError: There is no such module, file or function, it raises an error, or it cannot be called.
    """
    place, _, function = name.rpartition(":")
    if not place or not function:
        raise ConfigError(
            "--judge", [f"{name!r} names no function; write module:function or file.py:function"]
        )
    try:
        module = _file_module(Path(place)) if place.endswith(".py") else _named_module(place)
    except (ImportError, OSError) as error:
        raise ConfigError("--judge", [f"{place!r} cannot be imported: {error}; correct the name"]) from error
    except (Exception, SystemExit) as error:
        text = f"{place!r} raises {type(error).__name__} when it is imported: {error}; correct it"
        raise ConfigError("--judge", [text]) from error
    found = getattr(module, function, None)
    if not callable(found):
        raise ConfigError("--judge", [f"{place!r} has no function {function!r}; define it"])
    judge: Judge = found
    return judge


def _named_module(name: str) -> Any:  # noqa: ANN401 - whatever the module defines
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last: a file here must not hide an installed module
    return importlib.import_module(name)


def _file_module(path: Path) -> Any:  # noqa: ANN401 - whatever the file defines
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def _no_names(name: str) -> Expression:
    raise ConfigError("question", [f"{name!r} is no condition; a question names predicates only"])
