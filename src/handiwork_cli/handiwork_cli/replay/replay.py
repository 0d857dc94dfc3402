"""Runs the goal of a bundle once more: with the recorded world and controllers, or planned with other parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import yaml

from handiwork_core.bundles.bundle import Bundle, BundleError, Seen
from handiwork_core.bundles.encoding import Unknown
from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.skill import Context, Progress, Skill, Token
from handiwork_core.model.outcome import Outcome
from handiwork_core.robot.robot import Robot
from skill_server.execution.run import run_skill
from skill_server.params.registry import Catalog, UnknownSkill
from skill_server.preview.rehearsed_run import PreviewResult, preview_skill

from .replayed_ports import (
    ReplayedArm,
    ReplayedFrames,
    ReplayedPlanner,
    ReplayedWay,
    ReplayedWorld,
    WorldPlanner,
)
from .session import Comparison, Session


@dataclass(frozen=True)
class Replayed:
    """What a replay gave.

    Attributes:
        outcome: Its outcome.
        recorded: The recorded outcome.
        comparison: The planner's answers against the recorded ones.
        notes: What else differed.
        stages: The stages that were reported, in order.
        plan: The motions that are foreseen, for a preview that succeeded.
        is_new: True for other parameters than the recorded ones.
    """

    outcome: Outcome
    recorded: Outcome
    comparison: Comparison = field(default_factory=Comparison)
    notes: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    plan: Any = None
    is_new: bool = False

    @property
    def is_same(self) -> bool:
        """True if code and stage are those of the recorded outcome."""
        return self.outcome.code is self.recorded.code and self.outcome.stage == self.recorded.stage


def skill_of(bundle: Bundle, catalog: Catalog) -> Skill[Any]:
    """Return the skill of a bundle.

    Args:
        bundle: The bundle.
        catalog: Known skills.

    Raises:
        BundleError: The skill is not installed here, or its parameters are others than recorded.
    """
    try:
        skill = catalog.find(bundle.head.skill)
    except UnknownSkill as error:
        raise BundleError(
            f"the bundle is of a skill that is not installed: {error.outcome.message}"
        ) from error
    if isinstance(bundle.params, Unknown):
        text = f"the parameters of skill {skill.name!r} are recorded as {bundle.params.name}"
        raise BundleError(f"{text}, which this version does not have: use the version that wrote the bundle")
    return skill


def replay_bundle(bundle: Bundle, skill: Skill[Any], robot: Robot, planner: WorldPlanner) -> Replayed:
    """Run a recorded goal again: planned again, in the recorded world, with what the controllers answered then.

    Args:
        bundle: A bundle with parameters.
        skill: Its skill.
        robot: Its robot.
        planner: Plans again.

    Returns:
        The outcome, and the comparison with the recorded one.
    """
    token = Token()
    session = Session(bundle, token)
    stages = list[str]()

    def note(progress: Progress) -> None:
        if not stages or stages[-1] != progress.stage:
            stages.append(progress.stage)

    contexts = {name: _context(bundle, session, planner, robot, name, token, note) for name in bundle.before}
    own, *others = contexts.values()
    own.partners = {one.arm_spec.name: one for one in others}
    if bundle.plan_only:
        outcome = preview_skill(skill, bundle.params, own).outcome
    else:
        outcome = run_skill(skill, bundle.params, own).outcome
    if bundle.is_cut:
        session.notes.append("the recorded run made more calls than a bundle keeps")
    recorded = bundle.head.outcome
    return Replayed(outcome, recorded, session.comparison, tuple(session.notes), tuple(stages))


def preview_bundle(
    bundle: Bundle, skill: Skill[Any], robot: Robot, planner: WorldPlanner, changes: Mapping[str, str]
) -> Replayed:
    """Plan a recorded goal with other parameters, in the world in which it began.

    Args:
        bundle: A bundle with parameters.
        skill: Its skill.
        robot: Its robot.
        planner: Plans again.
        changes: New values of parameters as YAML, by name.

    Returns:
        The outcome of the preview. Whether the execution would succeed is not known.

    Raises:
        BundleError: A parameter is not known, or cannot have the value.
    """
    params = changed(bundle.params, changes)
    first = next((one for one in bundle.seen if one.at_s >= bundle.began_s), bundle.seen[-1])
    frozen = replace(
        bundle,
        params=params,
        stop=None,
        calls=(),
        seen=(Seen(bundle.began_s, first.world),),
        seed=getattr(params, "seed", bundle.seed),
    )
    session = Session(frozen, Token())
    arm = robot.arms[next(iter(bundle.before))]
    verdict = skill.is_feasible(params, robot, arm, first.world)
    if not verdict.ok:
        return Replayed(verdict.in_one(), bundle.head.outcome, is_new=True)
    context, *others = [
        _context(frozen, session, planner, robot, name, session.token, lambda _progress: None)
        for name in bundle.before
    ]
    context.partners = {one.arm_spec.name: one for one in others}
    result: PreviewResult = preview_skill(skill, params, context)
    stages = tuple(one.stage for one in result.stages)
    return Replayed(
        result.outcome, bundle.head.outcome, stages=stages, plan=result.plan, is_new=True, notes=()
    )


def changed(params: Any, changes: Mapping[str, str]) -> Any:
    """Return parameters with other values.

    Args:
        params: Parameters of a skill.
        changes: New values as YAML, by name.

    Raises:
        BundleError: A parameter is not known, or cannot have the value.
    """
    names = [one.name for one in dataclasses.fields(params)]
    made = {}
    for name, text in changes.items():
        if name not in names:
            raise BundleError(f"--set {name}={text}: the skill has no such parameter; {nearest(name, names)}")
        made[name] = _value(name, text, getattr(params, name))
    return replace(params, **made)


def _value(name: str, text: str, now: Any) -> Any:
    """Return the value of a text, of the kind of the present one."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BundleError(f"--set {name}={text}: is no YAML value ({error})") from error
    if isinstance(now, bool) or isinstance(value, bool):
        is_good = isinstance(now, bool) and isinstance(value, bool)
    elif isinstance(now, float) and isinstance(value, (int, float)):
        value, is_good = float(value), bool(np.isfinite(value))
    elif isinstance(now, tuple) and isinstance(value, list):
        value, is_good = tuple(value), all(isinstance(one, (int, float, str)) for one in value)
        if now and isinstance(now[0], float):
            value = tuple(float(one) for one in value)
    else:
        is_good = isinstance(now, (int, str)) and isinstance(value, type(now))
    if not is_good:
        kind = type(now).__name__
        raise BundleError(f"--set {name}={text}: give a {kind}, as in the goal, where it is {now!r}")
    return value


def _context(
    bundle: Bundle,
    session: Session,
    planner: WorldPlanner,
    robot: Robot,
    name: str,
    token: Token,
    note: Callable[[Progress], None],
) -> Context:
    before, arm = bundle.before[name], ReplayedArm(session, name)
    world = ReplayedWorld(session, before)
    several = len(robot.arms) > 1
    return Context(
        robot=robot,
        arm_spec=robot.arms[name],
        planner=ReplayedPlanner(session, planner, name),
        arm=arm,
        gripper=arm,
        world=world,
        clock=world,
        token=token,
        rng=np.random.default_rng(bundle.seed & (2**64 - 1)),
        seed=bundle.seed,
        held=dict(before.held),
        report=note,
        right_of_way=ReplayedWay(session, name) if several else None,
        base=ReplayedArm(session, name, "follow_base") if robot.commanded_base is not None else None,
        navigator=arm if robot.navigation is not None else None,
        held_by_others=lambda: before.held_by_others,
        supervision=bundle.supervision,
        frames=ReplayedFrames(session),
    )


def lines_of(replayed: Replayed) -> list[str]:
    """Return a replay in words.

    Args:
        replayed: The replay.
    """
    outcome, recorded = replayed.outcome, replayed.recorded
    if replayed.is_new:
        return _lines_of_preview(replayed)
    word = "the same outcome" if replayed.is_same else "ANOTHER OUTCOME"
    lines = [
        f"recorded: {_words(recorded)}",
        f"replayed: {_words(outcome)}",
        f"{word}; stages: {', '.join(replayed.stages) or 'none'}",
    ]
    counts = replayed.comparison
    if counts.count:
        lines.append(
            f"planner: {counts.count} answers: {counts.identical} equal in every bit, {counts.same} with the same "
            f"code and other numbers, {counts.repeated} repeated as recorded, {len(counts.other)} with another code"
        )
    return [*lines, *(f"  {one}" for one in (*counts.other, *replayed.notes))]


def _lines_of_preview(replayed: Replayed) -> list[str]:
    outcome, plan = replayed.outcome, replayed.plan
    if not outcome.ok or plan is None:
        return [f"it would fail as well: {_words(outcome)}"]
    motions = f"{len(plan.motions)} motions of {plan.motion_time_s:.1f} s in all"
    return [
        f"it can be planned to its end: {motions}",
        "only an execution shows whether it would also succeed",
    ]


def _words(outcome: Outcome) -> str:
    stage = f" in stage {outcome.stage!r}" if outcome.stage else ""
    return f"{outcome.code.name}{stage}: {outcome.message}" if not outcome.ok else "OK"


def params_types(catalog: Catalog) -> Sequence[type]:
    """Return the classes of the parameters of all skills.

    Args:
        catalog: Known skills.
    """
    return [skill.params_type for skill in catalog.skills.values()]
