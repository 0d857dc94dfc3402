"""The choice of the engine, with the reason in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.contracts.planning import Engine, Report
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_planning.fallback_engine import EngineLost, FallbackEngine

AUTO = "auto"
PREFERRED = ("curobo", "cpu")
"""The engines that ``engine:=auto`` tries, in this order."""
NODE = "node planner_node"

Kind = type[Engine]
Say = Callable[[str], None]


def choose(name: str, engines: Mapping[str, Kind]) -> tuple[Kind, str]:
    """Choose the engine to use.

    Args:
        name: Name of an engine, or ``auto``.
        engines: The installed engines by name.

    Returns:
        The engine, and a sentence for the log.

    Raises:
        ConfigError: There is none of that name, or it cannot run here.
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
    """Load an engine; one that may lose its device is wrapped in ``FallbackEngine``.

    Args:
        kind: The engine.
        spare: The engine that plans when ``kind`` does not load or has lost its device; None for none.
        given: The robot, and its base in the world.
        report: Receives the progress.
        say: Receives warnings as text.
        give_up: Is called with the reason after a fatal loss of the device without a spare.

    Returns:
        The engine, ready.

    Raises:
        ConfigError: It does not load, and there is no spare.
    """
    robot, world_T_base = given
    if kind.why_not.__func__ is Engine.why_not.__func__:  # type: ignore[attr-defined]
        return kind(robot, world_T_base, report)

    def silent(_share: float, _text: str) -> None:
        """Ignore progress: later engines load within a request, where nothing displays it."""

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
