"""A suction cup at the end of an arm: the frames that it needs, and its entry in ``robot.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Joint
from handiwork_core.robot.urdf import UrdfModel
from robot_description.solids.primitives import Solid

from .survey import FoundArm

VACUUM_PA, FRICTION = 80e3, 0.5
"""Vacuum under the cup and friction of its lip, from which the loads that it bears are derived."""
LIP_M, TILT_RAD = 0.003, 0.17
CUP_PROTRUSION_M = 0.004
"""Largest protrusion of the spheres of a cup, m."""
ON_AXIS_M, PARALLEL = 1e-4, 0.9999
USUAL_RADIUS_M = 0.02
"""Radius of a rim that is neither given nor seen in the shapes, m."""
END_M, STEP_M = 0.006, 0.002
"""Largest distance of the shape's end from the plane of the rim, and step of the points on its surface, m."""


@dataclass(frozen=True, slots=True)
class CupFacts:
    """A cup.

    Attributes:
        arm: Name of the arm that carries it.
        link: Link of the cup.
        tcp_m: Distance of the rim's middle from the EE link along its z, m.
        link_T_tip: Pose of the rim in the frame of the cup's link; its z points out of the cup.
        radius_m: Radius of the rim, m.
    """

    arm: str
    link: str
    tcp_m: float
    link_T_tip: Pose
    radius_m: float = USUAL_RADIUS_M


def with_cup(
    arms: Mapping[str, FoundArm], model: UrdfModel, link: str
) -> tuple[dict[str, FoundArm], CupFacts]:
    """Give the arm that carries a cup the frames for it.

    The rim lies in the plane of the last fixed link below the cup's, or of the cup's own when there is none, and z of
    that link points out of the cup. The EE link is the farthest one behind it on that axis whose z is parallel.

    Args:
        arms: Arms by name.
        model: The URDF.
        link: Link of the cup.

    Returns:
        The arms, and the cup, whose rim has the usual radius.

    Raises:
        ConfigError: There is no such link, no arm carries it, or that arm has fingers or no link behind the cup.
    """
    if link not in model.links:
        raise ConfigError("new-robot", [f"--suction: there is no link {link!r}; name the link of the cup"])
    above = {joint.child: joint for joint in model.joints.values()}
    chain = _fixed_chain(above, link)
    name = next((n for n, arm in arms.items() if arm.ee_link in _body(model, chain[0])), None)
    if name is None:
        raise ConfigError(
            "new-robot", [f"--suction: no arm carries link {link!r}; fix it to the arm's flange"]
        )
    if arms[name].gripper is not None:
        raise ConfigError("new-robot", [f"--suction: arm {name} has fingers too; describe it with one tool"])
    tip = _last_below(model, link)
    ee, tcp_m = _behind(above, tip)
    if tcp_m <= 0.0:
        text = f"no link lies behind {tip!r} on its z; let z of the last link of the cup point out of it"
        raise ConfigError("new-robot", [f"--suction: {text}"])
    arm = replace(arms[name], ee_link=ee, tcp_link=tip)
    return {**arms, name: arm}, CupFacts(name, link, tcp_m, _between(above, link, tip))


def with_rim(cup: CupFacts, shapes: Sequence[Solid], given_m: float | None) -> tuple[CupFacts, str]:
    """Give a cup the radius of its rim: the given one, or that of the end of its shape, or the usual one.

    Args:
        cup: The cup.
        shapes: The collision solids of its link, in the frame of the link.
        given_m: The given radius, m; None: it is measured.

    Returns:
        The cup, and where its radius is from.

    Raises:
        ConfigError: The given radius is not positive.
    """
    if given_m is not None:
        if not 0.0 < given_m < np.inf:
            raise ConfigError(
                "new-robot", [f"--cup-radius: {1e3 * given_m:g} mm; give the radius of the rim"]
            )
        return replace(cup, radius_m=given_m), "as given"
    seen_m = _end_radius(cup, shapes)
    if seen_m is None:
        return replace(cup, radius_m=USUAL_RADIUS_M), f"no shape of {cup.link} ends there"
    return replace(cup, radius_m=seen_m), f"the end of {cup.link}'s shape"


def cup_yaml(cup: CupFacts) -> list[str]:
    """Return the lines of ``suction`` in ``robot.yaml``.

    Args:
        cup: The cup.
    """
    pull = VACUUM_PA * np.pi * cup.radius_m**2
    return [
        "suction:",
        f"  name: {cup.arm.removesuffix('_arm')}_suction",
        f"  link: {cup.link}",
        f"  radius: {cup.radius_m:g}",
        f"  reach: {LIP_M}",
        f"  max_angle: {TILT_RAD}",
        f"  max_pull: {pull:.1f}",
        f"  max_shear: {FRICTION * pull:.1f}",
        f"  max_moment: {pull * cup.radius_m:.2f}",
        "  ee_axis: 2",
        "  closing_axis: 1",
        f"  tcp_offset: {cup.tcp_m:.6f}",
        "  R_ee_graspnet:",
        "  - [0.0, 0.0, -1.0]",
        "  - [0.0, 1.0, 0.0]",
        "  - [1.0, 0.0, 0.0]",
    ]


def _end_radius(cup: CupFacts, shapes: Sequence[Solid]) -> float | None:
    """Return the radius of the last part of the shapes, as long as the lip, m; None if they end elsewhere."""
    if not shapes:
        return None
    points = cup.link_T_tip.inverse().apply(np.concatenate([shape.surface(STEP_M) for shape in shapes]))
    end_m = float(points[:, 2].max())
    if abs(end_m) > END_M:
        return None
    last = points[points[:, 2] > end_m - LIP_M]
    return float(np.round(np.hypot(last[:, 0], last[:, 1]).max(), 4))


def _fixed_chain(above: Mapping[str, Joint], link: str) -> list[str]:
    """Return the links from the one that the last joint moves down to a link."""
    chain = [link]
    while (joint := above.get(chain[0])) is not None and joint.type is JointKind.FIXED:
        chain.insert(0, joint.parent)
    return chain


def _body(model: UrdfModel, top: str) -> set[str]:
    """Return all links that are fixed to one."""
    found = {top}
    for joint in model.joints.values():  # parents come before their children
        if joint.type is JointKind.FIXED and joint.parent in found:
            found.add(joint.child)
    return found


def _last_below(model: UrdfModel, link: str) -> str:
    below = [joint.child for joint in model.joints.values() if joint.parent == link]
    return _last_below(model, below[-1]) if below else link


def _between(above: Mapping[str, Joint], link: str, tip: str) -> Pose:
    """Return the pose of a link in the frame of one that it is fixed to."""
    link_T_tip = Pose.identity()
    while tip != link:
        link_T_tip, tip = above[tip].parent_T_joint @ link_T_tip, above[tip].parent
    return link_T_tip


def _behind(above: Mapping[str, Joint], tip: str) -> tuple[str, float]:
    """Return the farthest fixed link behind the tip on its z, and the distance, m; of equal ones the one nearest it."""
    best, best_m = tip, 0.0
    link_T_tip, link = Pose.identity(), tip
    for parent in reversed(_fixed_chain(above, tip)[:-1]):
        link_T_tip = above[link].parent_T_joint @ link_T_tip
        link = parent
        x, y, z = link_T_tip.translation_m
        is_parallel = link_T_tip.rotation.matrix()[2, 2] > PARALLEL
        if is_parallel and np.hypot(x, y) < ON_AXIS_M and z > best_m + ON_AXIS_M:
            best, best_m = link, float(z)
    return best, best_m
