"""The bundle of one goal: a zip archive with two JSON files. It is complete, or it is not there."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handiwork_core.contracts.delegating import Validation
from handiwork_core.contracts.planning import (
    Attachment,
    CandidatesRequest,
    CandidatesResult,
    PlanRequest,
    PlanResult,
    Verdict,
)
from handiwork_core.contracts.ports import NavigationGoal
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.supervision import SUPERVISED, SupervisionSettings
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World

from .encoding import Decoder, Encoder, dataclasses_in

FORMAT = 1
"""Rises when older programs could not read a bundle any more."""
ENDING = ".bundle"
HEAD, DATA = "head.json", "data.json"
MOTIONS = ("follow", "follow_base", "navigate", "move")
"""The ports whose calls move something."""
MAX_BYTES = 256 * 2**20
"""The greatest unpacked size of a bundle that is read, bytes."""
PIECES_DEPTH = 5
"""Containers deeper than this are written at once: below are single snapshots and calls."""


class BundleError(Exception):
    """A bundle cannot be read; the text is one sentence with the remedy."""


@dataclass(frozen=True)
class GripperMove:
    """The arguments of ``Gripper.move``."""

    width_m: float
    force_n: float


@dataclass(frozen=True)
class Call:
    """One call of a port by the run.

    Attributes:
        port: ``plan``, ``check_candidates``, ``validate``, ``validate_rest``, ``follow``, ``follow_base``,
            ``navigate``, ``stop`` or ``move``.
        arm: Name of the arm whose port it was.
        begun_s: Time at its begin, s of the world's clock.
        ended_s: Time at its end, s of the world's clock.
        request: Its arguments: a planning request, ``Validation``, ``Trajectory``, ``NavigationGoal`` or
            ``GripperMove``; None for a stop.
        answer: What it returned; None if it raised an exception.
        world: Snapshot at its begin.
        thread: Name of the thread that chose ahead, while the arm still moved; empty for the thread of the run.
    """

    port: str
    arm: str
    begun_s: float
    ended_s: float
    request: Any
    answer: Any
    world: World
    thread: str = ""


@dataclass(frozen=True)
class Seen:
    """A snapshot, and the time of the world's clock at which it was taken, s."""

    at_s: float
    world: World


@dataclass(frozen=True)
class LogLine:
    """One line of ``/rosout``: its stamp in s, its level, such as ``WARN``, the node, and the text."""

    stamp_s: float
    level: str
    node: str
    text: str


@dataclass(frozen=True)
class Stop:
    """Why and when a run was ended from outside; ``at_s``: s of the world's clock."""

    reason: Code
    detail: str
    at_s: float


@dataclass(frozen=True)
class Before:
    """What an arm had at the begin of a run.

    Attributes:
        world_T_base: Pose of its base; None if it is not known.
        held: The objects that it held, by name.
        held_by_others: The objects that other arms held, by name.
    """

    world_T_base: Pose | None = None
    held: Mapping[str, Attachment] = field(default_factory=dict)
    held_by_others: Mapping[str, Attachment] = field(default_factory=dict)


@dataclass(frozen=True)
class Head:
    """What a list of bundles shows.

    Attributes:
        action: Name of the action, such as ``pick``.
        skill: Name of the skill; empty for a goal that names none.
        arm: Name of the arm.
        robot: Name of the robot.
        robot_dir: Folder of its files.
        outcome: How the goal ended.
        made: Time of the end, ISO 8601 with the offset from UTC.
        versions: Versions by the names of packages.
        format: Format of the bundle.
    """

    action: str
    skill: str
    arm: str
    robot: str
    robot_dir: str
    outcome: Outcome
    made: str
    versions: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT


@dataclass(frozen=True)
class Bundle:
    """One goal that failed, was canceled, or was refused.

    Attributes:
        head: Its summary.
        goal: The goal message, as nested mappings; empty if the run belongs to a task.
        params: Checked parameters of the skill; None if the goal was refused before.
        plan_only: True for a preview.
        seed: Seed of the run.
        before: What each arm had at the begin, by its name; the arm of the goal comes first.
        supervision: Settings of the supervision of motions.
        began_s: Time at the begin, s of the world's clock.
        ended_s: Time at the end, s of the world's clock.
        stop: Why it was ended from outside; None if it was not.
        calls: Calls of the ports, in the order of their ends.
        seen: Snapshots in the order of time, from up to a minute before the end; closer together at the end.
        progress: What was sent as feedback.
        frames: world_T_frame of each transform that was asked for.
        log: Lines of all nodes.
        is_cut: True if calls were left out, because there were too many.
    """

    head: Head
    goal: Mapping[str, Any] = field(default_factory=dict)
    params: Any = None
    plan_only: bool = False
    seed: int = 0
    before: Mapping[str, Before] = field(default_factory=dict)
    supervision: SupervisionSettings = SUPERVISED
    began_s: float = 0.0
    ended_s: float = 0.0
    stop: Stop | None = None
    calls: Sequence[Call] = ()
    seen: Sequence[Seen] = ()
    progress: Sequence[Progress] = ()
    frames: Mapping[tuple[str, str], Pose] = field(default_factory=dict)
    log: Sequence[LogLine] = ()
    is_cut: bool = False

    @property
    def was_refused(self) -> bool:
        """True for a goal that never ran."""
        return self.params is None


OWN = (
    Bundle,
    Call,
    Validation,
    GripperMove,
    NavigationGoal,
    World,
    PlanRequest,
    PlanResult,
    CandidatesRequest,
    CandidatesResult,
    Verdict,
    Trajectory,
    Outcome,
)
"""The classes from which all others of a bundle follow."""


def write_bundle(path: Path, bundle: Bundle) -> None:
    """Write a bundle; a reader sees the whole file or none.

    Args:
        path: File, whose folder is there.
        bundle: The bundle.

    Raises:
        OSError: The file cannot be written, for example because the disk is full.
    """
    head, data = Encoder().encode(bundle.head), Encoder().encode(bundle)
    part = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
            archive.writestr(HEAD, json.dumps({"format": bundle.head.format, "head": head}))
            with archive.open(DATA, "w") as stream:
                for text in _pieces(data):
                    stream.write(text.encode())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _pieces(value: object, depth: int = 0) -> Iterator[str]:
    """Yield a JSON value in short texts: one long call of ``json`` would hold up every other thread."""
    if depth >= PIECES_DEPTH or not isinstance(value, (dict, list)) or not value:
        yield json.dumps(value, separators=(",", ":"))
        return
    begin = "{" if isinstance(value, dict) else "["
    for key in value:
        yield begin
        if isinstance(value, dict):
            yield f"{json.dumps(key)}:"
        yield from _pieces(value[key] if isinstance(value, dict) else key, depth + 1)
        begin = ","
    yield "}" if isinstance(value, dict) else "]"


def read_head(path: Path) -> Head:
    """Read the summary of a bundle.

    Args:
        path: File.

    Raises:
        BundleError: It is no bundle, is damaged, or is of another format.
    """
    found = _read(path, HEAD, ())["head"]
    return found  # type: ignore[no-any-return]


def read_bundle(path: Path, params: Sequence[type] = ()) -> Bundle:
    """Read a bundle.

    Args:
        path: File.
        params: Classes of the parameters of skills; those of others are read as ``Unknown``.

    Raises:
        BundleError: It is no bundle, is damaged, or is of another format.
    """
    _read(path, HEAD, ())
    return _read(path, DATA, params)["data"]  # type: ignore[no-any-return]


def _read(path: Path, name: str, params: Sequence[type]) -> dict[str, Any]:
    decoder = Decoder(dataclasses_in((*OWN, *params)))
    try:
        with zipfile.ZipFile(path) as archive:
            size = archive.getinfo(name).file_size
            if size > MAX_BYTES:
                raise BundleError(f"{path} would unpack to {size} bytes; at most {MAX_BYTES} are read")
            found = json.loads(archive.read(name))
        if name == DATA:
            return {"data": decoder.decode(found)}
        if found["format"] != FORMAT:
            _refuse_format(path, found)
        return {"head": decoder.decode(found["head"])}
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, RecursionError) as error:
        text = f"{path} is no bundle of the flight recorder, or is damaged ({type(error).__name__}: {error})"
        raise BundleError(text) from error


def _refuse_format(path: Path, found: Mapping[str, Any]) -> None:
    versions = dict(found["head"]["v"]["versions"]["v"])
    made_by = versions.get("handiwork", "another version")
    raise BundleError(
        f"{path} was written by Handiwork {made_by} in format {found['format']}, and this version reads format "
        f"{FORMAT}: use the version that wrote it"
    )
