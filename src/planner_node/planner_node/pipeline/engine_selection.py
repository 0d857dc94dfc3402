"""Which engine plans, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.contracts.planning import Engine, Report
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_planning.fallback_engine import EngineLost, FallbackEngine

AUTO = "auto"
PREFERRED = ("curobo", "cpu")
"""What ``engine:=auto`` takes, the first that can run."""
NODE = "node planner_node"

Kind = type[Engine]
Say = Callable[[str], None]


def choose(name: str, engines: Mapping[str, Kind]) -> tuple[Kind, str]:
    """The engine to use, and a sentence for the log.

    Raises:
        ConfigError: there is none of that name, or it cannot run here.
    """
    if name == AUTO:
        return _first_that_runs(engines)
    if name not in engines:
        fault = f"parameter engine: {name!r} is not installed; {nearest(name, [AUTO, *engines])}"
        raise ConfigError(NODE, [fault])
    why_not = engines[name].why_not()
    if why_not:
        raise ConfigError(NODE, [f"parameter engine: {name!r} cannot run here: {why_not}"])
    return engines[name], f"engine:={name} was asked for"


def _first_that_runs(engines: Mapping[str, Kind]) -> tuple[Kind, str]:
    passed: list[str] = []
    for name in [*PREFERRED, *(n for n in engines if n not in PREFERRED)]:
        why_not = engines[name].why_not() if name in engines else "it is not installed"
        if not why_not:
            why = f", not {' and not '.join(passed)}" if passed else ""
            return engines[name], f"engine:=auto takes {name!r}{why}"
        passed.append(f"{name!r} because {why_not}")
    raise ConfigError(NODE, [f"parameter engine: none can run here; {'; '.join(passed)}"])


def open_engine(
    kind: Kind, spare: Kind | None, given: tuple[Robot, Pose], report: Report, say: Say, give_up: Say
) -> Engine:
    """The engine, ready; guarded where it may lose its device. Then, and where it fails to load, ``spare`` plans.

    Raises:
        ConfigError: it does not load, and there is no spare.
    """
    robot, world_T_base = given
    if kind.why_not.__func__ is Engine.why_not.__func__:  # type: ignore[attr-defined]
        return kind(robot, world_T_base, report)

    def silent(_share: float, _text: str) -> None:
        """Later engines load within a request, where nobody looks at progress."""

    reports = iter([report])
    make_spare = None if spare is None else lambda: spare(robot, world_T_base, silent)
    try:
        return FallbackEngine(
            lambda: kind(robot, world_T_base, next(reports, silent)), make_spare, say, give_up
        )
    except EngineLost as lost:
        if spare is None:
            raise ConfigError(NODE, [f"engine {kind.name!r} does not load: {lost.cause}"]) from lost
        say(f"engine {kind.name!r} does not load: {lost.cause}; {spare.name!r} plans instead")
        return spare(robot, world_T_base, report)
