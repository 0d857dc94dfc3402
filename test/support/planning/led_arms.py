"""Random arms whose links follow their joints, in the chain and beside it, and their kinematics in plain numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import with_follower_limits
from handiwork_core.robot.robot import ArmSpec, Joint, Mimic, Robot, Spheres


def led_arm(
    rng: np.random.Generator, joints: int, followers: int, rods: int, *, is_parallel: bool = False
) -> Robot:
    """Make an arm with joints that follow its own.

    Its chain has ``joints`` joints of the arm and ``followers`` that follow some of those before them; ``rods`` links
    beside the chain follow a joint of the arm, too. Every link has one sphere.

    Args:
        rng: Random numbers.
        joints: Number of the arm's own joints.
        followers: Number of followers in the chain.
        rods: Number of links beside the chain.
        is_parallel: All axes are parallel, in either sense, as those of a parallelogram.
    """
    kinds = ["own"] + list(rng.permutation(["own"] * (joints - 1) + ["led"] * followers))
    made, own = dict[str, Joint](), list[str]()
    for i, kind in enumerate(kinds):
        name = f"{kind}{i}"
        made[name] = _joint(rng, name, f"l{i}", f"l{i + 1}", own if kind == "led" else [], is_parallel)
        own += [name] * (kind == "own")
    count = len(kinds)
    tool = Pose.of((0.02, 0.0, 0.1), Rotation.from_rpy(0.1, -0.2, 0.3))
    made["tool"] = Joint("tool", JointKind.FIXED, f"l{count}", "ee", tool, np.array([0.0, 0.0, 1.0]))
    links = [*(f"l{i}" for i in range(count + 1)), "ee"]
    for i in range(rods):
        parent = str(rng.choice([link for link in links if link != "ee"]))
        made[f"rod{i}"] = _joint(rng, f"rod{i}", parent, f"r{i}", own, is_parallel)
        links.append(f"r{i}")
    spheres = tuple(Spheres(link, rng.uniform(-0.05, 0.05, (1, 3)), np.array([0.02])) for link in links)
    limited = with_follower_limits(made, own)
    home = np.array([0.5 * (limited[name].lower + limited[name].upper) for name in own])
    arm = ArmSpec("arm", "l0", "ee", "ee", tuple(own), home, None)
    return Robot("led", "l0", tuple(links), limited, spheres, frozenset(), {"arm": arm}, "")


def _joint(
    rng: np.random.Generator, name: str, parent: str, child: str, leaders: list[str], is_parallel: bool
) -> Joint:
    slides = rng.random() < 0.2
    place = rng.uniform(-0.1, 0.3, 3) * rng.integers(0, 2, 3)
    turn = Rotation.from_rpy(*(rng.uniform(-1.5, 1.5, 3) * ([0.0, 0.0, 1.0] if is_parallel else 1.0)))
    axis = np.array([0.0, 0.0, rng.choice([-1.0, 1.0])]) if is_parallel else np.array(rng.normal(size=3))
    kind = JointKind.PRISMATIC if slides else JointKind.REVOLUTE
    width = 0.2 if slides else 1.5
    made = Joint(
        name, kind, parent, child, Pose.of(place, turn), axis / np.linalg.norm(axis), -width, width, 1.0, 10.0, 100.0
    )  # fmt: skip
    if not leaders:
        return made
    law = Mimic(
        str(rng.choice(leaders)), float(rng.choice([-1.0, 1.0, -0.5, 1.7])), float(rng.uniform(-0.1, 0.1))
    )
    return replace(made, mimic=law, lower=-4.0, upper=4.0, velocity=3.0, acceleration=30.0, jerk=300.0)


def link_matrices(robot: Robot, q: Array, world_T_base: Pose) -> dict[str, Array]:
    """Return the world pose (4, 4) of every link: products of matrices along the tree, each joint by its own law.

    Args:
        robot: The robot.
        q: Joints of its only arm, (n,), rad or m.
        world_T_base: Pose of the root link.
    """
    positions = dict(zip(robot.arm("").joint_names, q.tolist(), strict=True))
    found = {robot.root_link: world_T_base.matrix()}
    for joint in robot.joints.values():
        law = joint.mimic
        x = (
            positions.get(joint.name, 0.0)
            if law is None
            else law.multiplier * positions[law.joint] + law.offset
        )
        step = np.eye(4)
        if joint.type is JointKind.PRISMATIC:
            step[:3, 3] = x * joint.axis
        elif joint.type is JointKind.REVOLUTE:
            k = np.cross(np.eye(3), joint.axis)
            step[:3, :3] += np.sin(x) * k + (1.0 - np.cos(x)) * (k @ k)
        found[joint.child] = found[joint.parent] @ joint.parent_T_joint.matrix() @ step
    return found
