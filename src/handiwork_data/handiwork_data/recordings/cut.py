"""Cuts a recording into episodes, one for each goal of a skill or a task."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import Scene
from handiwork_data.episodes.episode import Column, Episode, EpisodeError, EpisodeMeta, StageSpan
from handiwork_data.episodes.recorder import as_row
from handiwork_viz.recording.bag_reader import Cut, RecordingError, read_messages

from .tracks import Goal, Motion, Tracks, tracks_of

TRUE = 2
"""Value of a condition, as in ``Condition.msg``."""
OUTER = ("run_task", "run_skill", "pick", "place")
"""Actions in the order in which a goal contains others."""


@dataclass(frozen=True)
class CutSettings:
    """How a recording becomes episodes.

    Attributes:
        robot: The robot.
        scene: The scene, for the pose of the robot's base.
        rate_hz: Samples a second.
        instruction: Sentence of all episodes; empty: made from each goal.
        success: Key of a watched condition that decides about success at the end; empty: the result of the goal.
        version: Version of Handiwork.
        digest: SHA-256 of the recording.
    """

    robot: Robot
    scene: Scene
    rate_hz: int
    instruction: str
    success: str
    version: str
    digest: str


def episodes_of(path: Path, settings: CutSettings, cut: Cut | None = None) -> list[Episode]:
    """Return the episodes of a recording; goals that did not end in it are left out.

    Args:
        path: A file, or the folder of a recording.
        settings: How it becomes episodes.
        cut: Receives the place where a file ended early.

    Raises:
        EpisodeError: It is no recording, or lacks what an episode needs; names that.
    """
    try:
        tracks = tracks_of(read_messages(path, cut=cut))
    except RecordingError as error:
        raise EpisodeError(f"{error}; give a folder that `handiwork record` wrote") from error
    ended = sorted(
        (goal for goal in tracks.goals.values() if goal.end_s is not None), key=lambda g: g.begin_s
    )
    goals = [goal for goal in ended if not any(_contains(other, goal) for other in ended)]
    if not goals:
        text = f"{path} has no goal of a skill or a task that began and ended in it"
        raise EpisodeError(f"{text}; record from before the goal until after its result")
    return [_episode(tracks, goal, number, settings) for number, goal in enumerate(goals)]


def _contains(outer: Goal, inner: Goal) -> bool:
    ranks = [OUTER.index(one.action) if one.action in OUTER else len(OUTER) for one in (outer, inner)]
    assert outer.end_s is not None
    return outer is not inner and ranks[0] < ranks[1] and outer.begin_s <= inner.begin_s < outer.end_s


def _episode(tracks: Tracks, goal: Goal, number: int, settings: CutSettings) -> Episode:
    robot, end_s = settings.robot, goal.end_s
    assert end_s is not None
    count = int((end_s - goal.begin_s) * settings.rate_hz) + 1
    stamps = goal.begin_s + np.arange(count) / settings.rate_hz
    times = [row.stamp_s for row in tracks.joints]
    rows = [tracks.joints[_newest(times, stamp)] for stamp in stamps]
    names = tuple(rows[0].position)
    missing = [joint for arm in robot.arms.values() for joint in arm.joint_names if joint not in names]
    if missing:
        text = f"the recording has no joint {missing[0]!r} of robot {robot.name!r}"
        raise EpisodeError(f"{text}; give the robot that was recorded with --robot")
    measured = _table([row.position for row in rows], names)
    asked = commands(tracks, names, stamps, measured)
    objects, poses = _objects(tracks, stamps)
    keys, values, margins = _conditions(tracks, stamps)
    columns: dict[str, Column] = {
        "time": stamps - stamps[0],
        "joint_position": measured,
        "joint_velocity": _table([row.velocity for row in rows], names),
        "joint_effort": _table([row.effort for row in rows], names),
        "joint_command": asked,
        "ee_pose": np.array([_ends(settings, dict(zip(names, row, strict=True))) for row in measured]),
        "gripper_width": _widths(robot, names, measured),
        "gripper_command": _widths(robot, names, asked),
        "object_pose": poses,
        "condition_value": values,
        "condition_margin": margins,
        "stage": np.array(
            [bisect_right([s for _, s in goal.stages], stamp) - 1 for stamp in stamps], np.int32
        ),
        "contact_sample": np.zeros(0, np.int32),
        "contact_bodies": np.zeros((0, 2), "U1"),
        "contact_force": np.zeros(0),
    }
    return Episode(_meta(tracks, goal, number, settings, names, objects, keys), columns)


def _meta(
    tracks: Tracks,
    goal: Goal,
    number: int,
    settings: CutSettings,
    joints: tuple[str, ...],
    objects: tuple[str, ...],
    conditions: tuple[str, ...],
) -> EpisodeMeta:
    end_s, outcome = goal.end_s or goal.begin_s, goal.outcome
    ends = [*(begin for _, begin in goal.stages[1:]), end_s]
    stages = tuple(
        StageSpan(goal.action, _arm(goal, settings.robot), stage, begin - goal.begin_s, end - goal.begin_s)
        for (stage, begin), end in zip(goal.stages, ends, strict=False)
    )
    ok = goal.succeeded if outcome is None else str(outcome.name) == "OK"
    success, verdict, margin = ok, "" if outcome is None else str(outcome.message), math.nan
    if settings.success:
        seen = [
            (stamp, found)
            for stamp, found in tracks.conditions
            if stamp <= end_s and settings.success in found
        ]
        if not seen:
            text = f"the recording has no condition {settings.success!r}"
            raise EpisodeError(f"{text}; watch it while you record, or leave --success out")
        value, margin, verdict = seen[-1][1][settings.success]
        success = value == TRUE
    return EpisodeMeta(
        episode=number,
        task=goal.action,
        task_digest=settings.digest,
        robot=settings.robot.name,
        scene=settings.scene.name,
        version=settings.version,
        instruction=settings.instruction or _sentence(goal),
        rate_hz=settings.rate_hz,
        joints=joints,
        arms=tuple(settings.robot.arms),
        objects=objects,
        conditions=conditions,
        stages=stages,
        ok=ok,
        code=("OK" if ok else "UNSET") if outcome is None else str(outcome.name),
        failed_stage="" if ok or outcome is None else str(outcome.stage),
        reason="" if outcome is None else str(outcome.message),
        success=success,
        verdict=verdict,
        margin=None if math.isnan(margin) else margin,
        duration_s=end_s - goal.begin_s,
    )


def _sentence(goal: Goal) -> str:
    """Return words for a goal, such as ``pick cube``."""
    named = (str(getattr(goal.request, key, "") or "") for key in ("skill", "object", "container", "source"))
    return " ".join([goal.action, *(word for word in named if word)])


def _arm(goal: Goal, robot: Robot) -> str:
    return str(getattr(goal.request, "arm", "") or next(iter(robot.arms)))


def commands(tracks: Tracks, names: tuple[str, ...], stamps: Array, measured: Array) -> Array:
    """Return what each joint was commanded to at each time.

    The trajectory of a goal is followed at the times that its controller reported; between goals the last reference
    holds. A joint that nothing was commanded of in the whole recording has no reference.

    Args:
        tracks: The recording.
        names: Names of the joints.
        stamps: The times, (n,), s.
        measured: Measured positions, (n, joints), which are held before the first command.

    Returns:
        References, (n, joints), rad or m; nan without any.
    """
    found = np.full(measured.shape, np.nan)
    motions = sorted(
        (one for one in tracks.motions.values() if len(one.times_s)), key=lambda one: one.begin_s
    )
    grippers = sorted(tracks.grippers)
    for column, name in enumerate(names):
        if tracks.commands:
            known = [(stamp, row[name]) for stamp, row in tracks.commands if name in row]
        else:
            known = [(stamp, value) for stamp, joint, value in grippers if joint == name]
        own, begins = [one for one in motions if name in one.joints], [begin for begin, _ in known]
        if not known and not own:
            continue
        for row, stamp in enumerate(stamps):
            newest = _newest(begins, stamp) if begins and begins[0] <= stamp else -1
            motion = next((one for one in reversed(own) if one.begin_s <= stamp), None)
            if newest >= 0:
                found[row, column] = known[newest][1]
            elif motion is not None:
                found[row, column] = _reference(motion, name, stamp)
            else:
                found[row, column] = measured[0, column]
    return found


def _reference(motion: Motion, name: str, stamp_s: float) -> float:
    """Return the reference of a joint; the time within the trajectory is what the controller said."""
    shown = motion.shown or [(motion.begin_s, 0.0)]
    at, passed = np.array(shown).T
    if stamp_s < at[0]:
        time_s = passed[0] - (at[0] - stamp_s)
    elif stamp_s > at[-1]:
        time_s = passed[-1] + (stamp_s - at[-1])
    else:
        time_s = np.interp(stamp_s, at, passed)
    return float(np.interp(time_s, motion.times_s, motion.positions[:, motion.joints.index(name)]))


def _newest(times: Sequence[float], stamp_s: float) -> int:
    return max(bisect_right(times, stamp_s + 1e-9) - 1, 0)


def _table(rows: Sequence[dict[str, float]], names: tuple[str, ...]) -> Array:
    return np.array([[row.get(name, math.nan) for name in names] for row in rows])


def _objects(tracks: Tracks, stamps: Array) -> tuple[tuple[str, ...], Array]:
    """Return the objects that are there all the time, and their poses."""
    if not tracks.objects:
        return (), np.zeros((len(stamps), 0, 7))
    times = [stamp for stamp, _ in tracks.objects]
    rows = [tracks.objects[_newest(times, stamp)][1] for stamp in stamps]
    names = tuple(name for name in rows[0] if all(name in row for row in rows))
    return names, np.array([[row[name] for name in names] for row in rows]).reshape(len(rows), -1, 7)


def _conditions(tracks: Tracks, stamps: Array) -> tuple[tuple[str, ...], Column, Array]:
    times, seen = [stamp for stamp, _ in tracks.conditions], tracks.conditions
    keys = tuple(dict.fromkeys(key for stamp, found in seen if stamp <= stamps[-1] for key in found))
    values, margins = np.zeros((len(stamps), len(keys)), np.int8), np.full((len(stamps), len(keys)), np.nan)
    for row, stamp in enumerate(stamps):
        if not seen or times[0] > stamp:
            continue
        found = seen[_newest(times, stamp)][1]
        for column, key in enumerate(keys):
            if key in found:
                values[row, column], margins[row, column] = found[key][:2]
    return keys, values, margins


def _ends(settings: CutSettings, joints: dict[str, float]) -> list[Array]:
    links = tuple(arm.ee_link for arm in settings.robot.arms.values())
    poses = link_poses(settings.robot, joints, links)
    return [as_row(settings.scene.world_T_base @ poses[link]) for link in links]


def _widths(robot: Robot, names: tuple[str, ...], rows: Array) -> Array:
    found = np.full((len(rows), len(robot.arms)), np.nan)
    for column, arm in enumerate(robot.arms.values()):
        if arm.gripper is not None and arm.gripper.joint in names:
            values = rows[:, names.index(arm.gripper.joint)]
            found[:, column] = [arm.gripper.width(value) if value == value else math.nan for value in values]
    return found
