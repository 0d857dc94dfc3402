"""Derives a robot from its URDF: arms, grippers, spheres, needless pairs, homes; reports assumed and missing values."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import with_follower_limits
from handiwork_core.robot.robot import Joint, Robot, Spheres
from handiwork_core.robot.urdf import read_urdf
from handiwork_core.robot_files.loader import expand
from robot_description.collision_pairs.pair_sampling import (
    Pair,
    PairKind,
    PairVerdict,
    ignored_pairs,
    judge_pairs,
    neighbours,
)
from robot_description.collision_pairs.shape_pairs import shapes_meet
from robot_description.formats.given_robot import GivenRobot, known_parts
from robot_description.formats.tcp_names import TCP_WORDS
from robot_description.solids.primitives import Solid
from robot_description.spheres.sphere_cover import (
    Coverage,
    all_solids,
    coverage,
    fitted,
)

from .cup_facts import CUP_PROTRUSION_M, CupFacts, with_cup, with_rim
from .gripper_facts import GripperFacts
from .gripper_frames import AddedFrame, all_with_own_frames
from .hand_spheres import with_room
from .home_search import search_home
from .new_robot_arms import POINT_M, Remarks, Wanted, measured, named_arms, points_of
from .survey import FoundArm
from .urdf_checks import doubts

REACH_SPEED_S, REACH_PUSH_S = 0.25, 0.1
"""Assumed times in which a joint reaches its top speed, and its top acceleration, s."""
CROWDED, DOUBTFUL = 0.05, 0.5
"""Shares of all configurations in which the spheres of a pair touch: above the first, the pair is judged by its shapes;
above the second, it is reported."""

COARSE = 2.0
"""Factor of the protrusion, and of the distance of samples, with which coarse spheres are fitted."""

Apart = frozenset[Pair]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """A derived robot; ``robot.arms`` is empty.

    Attributes:
        wanted: The request.
        robot: Kinematics, spheres and pairs.
        arms: Arms by name.
        grippers: Measured grippers by the name of their arm.
        homes: Home by the name of the arm, (dof,), rad or m.
        motion: Acceleration, rad/s^2 or m/s^2, and jerk, rad/s^3 or m/s^3, by joint name.
        verdicts: Verdicts on all pairs of links with spheres.
        apart: Pairs whose spheres touch and whose shapes never do.
        covers: Quality of the spheres by link.
        remarks: Remarks for a person.
        frames: Fixed links that the URDF gets.
        cup: The suction cup; None for none.
        solids: The collision solids by link, in its frame.
    """

    wanted: Wanted
    robot: Robot
    arms: Mapping[str, FoundArm]
    grippers: Mapping[str, GripperFacts]
    homes: Mapping[str, tuple[float, ...]]
    motion: Mapping[str, tuple[float, float]]
    verdicts: tuple[PairVerdict, ...]
    apart: Apart
    covers: tuple[Coverage, ...]
    remarks: Remarks
    frames: tuple[AddedFrame, ...] = ()
    cup: CupFacts | None = None
    solids: Mapping[str, tuple[Solid, ...]] = field(default_factory=dict)


def describe(
    urdf: Path,
    wanted: Wanted,
    given: GivenRobot | None = None,
    text: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
    solids: Mapping[str, tuple[Solid, ...]] | None = None,
) -> Described:
    """Derive all data of a robot that Handiwork needs.

    Args:
        urdf: The URDF or xacro file.
        wanted: The request.
        given: Data of another tool's robot file; None for none.
        text: The URDF that is expanded already; None: it is read from the file.
        progress: Called with each step.
        solids: The collision solids by link that are read already; None: they are read.

    Raises:
        ConfigError: The URDF has faults; the error lists all.
    """
    text = expand(urdf) if text is None else text
    model, root = read_urdf(text, urdf, needs_inertia=True), ET.fromstring(text)
    given = known_parts(given or GivenRobot(), model)
    remarks = Remarks(missing=list(given.notes), doubtful=doubts(model, root))
    arms, cup = named_arms(model, urdf, wanted, given, remarks), None
    if wanted.cup_link:
        arms, cup = with_cup(arms, model, wanted.cup_link)
    if solids is None:
        progress(f"reading the collision shapes of {len(model.links)} links")
        solids = all_solids(root, urdf)
    if cup is not None:
        cup, source = with_rim(cup, solids.get(cup.link, ()), wanted.cup_radius_m)
        text = f"a rim {2e3 * cup.radius_m:g} mm wide ({source}), 80 kPa, friction 0.5; take the maker's"
        remarks.assumed.append(f"arms.{cup.arm}.suction: {text}")
    hands = _hands(model.joints, arms)
    spheres = given.spheres or _fitted(solids, wanted, hands, progress)
    if not spheres:
        raise ConfigError(
            str(urdf), ["links: none has a collision shape; add boxes, cylinders, spheres or meshes"]
        )
    joints = with_follower_limits(model.joints, [joint for arm in arms.values() for joint in arm.joints])
    robot = Robot(wanted.name, model.links[0], model.links, joints, spheres, frozenset(), {}, text)
    progress("judging pairs of links")
    verdicts = judge_pairs(robot, samples=wanted.samples, seed=wanted.seed)
    apart = frozenset() if given.ignored_pairs else _needless(robot, verdicts, solids, remarks)
    needless = neighbours(robot) & {verdict.pair for verdict in verdicts} | given.ignored_pairs
    robot = replace(robot, ignored_pairs=needless if given.ignored_pairs else ignored_pairs(verdicts) | apart)
    progress("measuring grippers, choosing a home")
    grippers = measured(robot, arms, solids, remarks, cup.arm if cup is not None else "")
    if not given.spheres:
        robot = with_room(robot, arms, grippers, solids, progress)
        spheres = robot.spheres
    homes, motion = _homes(robot, arms, given, remarks), _motion(robot, arms, given, remarks)
    arms, grippers, frames = all_with_own_frames(arms, grippers, model.links)
    _note_frames(arms, frames, remarks)
    return Described(
        wanted, robot, arms, grippers, homes, motion, verdicts, apart,
        tuple(_covers(spheres, solids, wanted, remarks)), remarks, frames, cup, solids,
    )  # fmt: skip


def _fitted(
    solids: Mapping[str, tuple[Solid, ...]],
    wanted: Wanted,
    hands: Collection[str],
    progress: Callable[[str], None],
) -> tuple[Spheres, ...]:
    """Fit the spheres; those of a cup are tighter, since its rim works close to what is below the object."""
    made = dict[str, Spheres]()
    for link, shapes in solids.items():
        out_m, coarseness = wanted.protrusion_m, 1.0
        if link == wanted.cup_link:
            out_m = min(CUP_PROTRUSION_M, out_m)
        elif wanted.is_coarse and link not in hands:
            out_m, coarseness = COARSE * out_m, COARSE
        progress(
            f"fitting {'coarse ' * wanted.is_coarse}spheres to {link} ({len(made) + 1} of {len(solids)})"
        )
        (made[link],) = fitted({link: shapes}, out_m, coarseness=coarseness)
    return tuple(made.values())


def _hands(joints: Mapping[str, Joint], arms: Mapping[str, FoundArm]) -> set[str]:
    """Return the links of grippers, and those that carry them."""
    hands = {arm.ee_link for arm in arms.values()}
    hands |= {
        link
        for arm in arms.values()
        if arm.gripper
        for link in (*arm.gripper.links, *arm.gripper.fixed_links)
    }
    for joint in joints.values():  # in tree order
        if joint.type is JointKind.FIXED and joint.parent in hands:
            hands.add(joint.child)
    return hands


def _note_frames(arms: Mapping[str, FoundArm], frames: tuple[AddedFrame, ...], remarks: Remarks) -> None:
    names = {frame.name for frame in frames}
    for name, arm in arms.items():
        if added := [link for link in (arm.ee_link, arm.tcp_link) if link in names]:
            text = f"{' and '.join(dict.fromkeys(added))} added, with +z to the fingertips, y across them"
            remarks.assumed.append(f"arms.{name}: {text}")
        elif arm.tcp_link == arm.ee_link and not TCP_WORDS.search(arm.tcp_link):
            text = "the URDF has no TCP frame; add a fixed link where the tool works"
            remarks.missing.append(f"arms.{name}.tcp_link: {text}")


def _needless(
    robot: Robot, verdicts: tuple[PairVerdict, ...], solids: Mapping[str, tuple[Solid, ...]], remarks: Remarks
) -> Apart:
    """Return the pairs whose spheres touch often while their shapes never do."""
    found = set()
    points: dict[str, Array] = {}
    for verdict in verdicts:
        a, b = verdict.pair
        if verdict.kind is PairKind.NEIGHBOURS or verdict.share <= CROWDED or not {a, b} <= set(solids):
            continue
        for link in (a, b):
            points.setdefault(link, points_of(solids[link], 2.0 * POINT_M))
        if not shapes_meet(robot, verdict.pair, solids, points, 1):
            found.add(verdict.pair)
        elif DOUBTFUL < verdict.share < 1.0:
            text = f"touch in {verdict.share:.0%} of all configurations"
            remarks.doubtful.append(
                f"links {a}, {b}: {text}; take them out of the arm's way, or ignore the pair"
            )
    return frozenset(found)


def _homes(
    robot: Robot, arms: Mapping[str, FoundArm], given: GivenRobot, remarks: Remarks
) -> dict[str, tuple[float, ...]]:
    homes = {}
    for name, arm in arms.items():
        if all(joint in given.home for joint in arm.joints):
            joints = [robot.joints[joint] for joint in arm.joints]
            homes[name] = tuple(float(np.clip(given.home[j.name], j.lower, j.upper)) for j in joints)
            continue
        found = search_home(robot, arm.ee_link, arm.joints, robot.ignored_pairs)
        if found is None:
            remarks.missing.append(
                f"arms.{name}.home: every sample touches itself; fit spheres tighter, or write one"
            )
            found = tuple(round(0.5 * (robot.joints[j].lower + robot.joints[j].upper), 2) for j in arm.joints)
        else:
            remarks.assumed.append(
                f"arms.{name}.home: {list(found)}: apart from itself, limits and singularities"
            )
        homes[name] = found
    return homes


def _motion(
    robot: Robot, arms: Mapping[str, FoundArm], given: GivenRobot, remarks: Remarks
) -> dict[str, tuple[float, float]]:
    """Return acceleration and jerk of the joints that arms and grippers drive."""
    driven = [
        name for arm in arms.values() for name in (*arm.joints, *([arm.gripper.joint] if arm.gripper else []))
    ]
    found, guessed = {}, []
    for name in driven:
        joint = robot.joints[name]
        acceleration = given.acceleration.get(name, _rounded(joint.velocity / REACH_SPEED_S))
        jerk = given.jerk.get(name, _rounded(acceleration / REACH_PUSH_S))
        found[name] = (float(acceleration), float(jerk))
        guessed += [name] * (name not in given.acceleration or name not in given.jerk)
    if guessed:
        text = f"top speed in {REACH_SPEED_S} s, top acceleration in {REACH_PUSH_S} s"
        remarks.assumed.append(
            f"limits of {', '.join(guessed)}: {text}; take the maker's acceleration and jerk"
        )
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _covers(
    spheres: tuple[Spheres, ...], solids: Mapping[str, tuple[Solid, ...]], wanted: Wanted, remarks: Remarks
) -> Iterator[Coverage]:
    for item in spheres:
        if item.link not in solids:
            remarks.doubtful.append(
                f"link {item.link}: has spheres but no collision shape to compare them with"
            )
            continue
        yield coverage(item, solids[item.link])
    bare = [link for link in solids if link not in {item.link for item in spheres}]
    if bare:
        remarks.missing.append(
            f"spheres.yaml: {', '.join(bare)} have shapes but no spheres; they collide with nothing"
        )
