"""Torques of every arm of every robot against those of MuJoCo."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Array, Pose, Rotation, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.dynamics.arm_bodies import ArmMasses
from handiwork_planning.dynamics.inverse_dynamics import joint_torques
from support.paths import ROBOTS

FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))
COMPILER = '<mujoco><compiler strippath="false" fusestatic="false" discardvisual="true"/></mujoco>'
TILTED = Pose.of((0.3, 0.2, 0.1), Rotation.from_rpy(0.4, -0.3, 1.0))
BOX_M, BOX_KG = (0.05, 0.08, 0.2), 2.5
EE_T_BOX = Pose.of((0.02, -0.01, 0.12), Rotation.from_rpy(0.2, 0.1, -0.5))


def model_of(robot: Robot, box_on: str) -> tuple[Any, Any]:
    """Return MuJoCo's model of a robot alone that holds the box, and its data at home."""
    urdf = re.sub(r"(<robot\b[^>]*>)", lambda found: found.group(1) + COMPILER, robot.urdf, count=1)
    part = mujoco.MjSpec.from_string(urdf.replace("file://", ""))
    for coupling in list(part.equalities):
        part.delete(coupling)
    if box_on:
        body = next(item for item in part.bodies if item.name == box_on).add_body(
            pos=EE_T_BOX.translation_m, quat=EE_T_BOX.rotation.wxyz
        )
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=np.array(BOX_M) / 2.0, mass=BOX_KG)
    spec = mujoco.MjSpec()
    frame = spec.worldbody.add_frame(pos=TILTED.translation_m, quat=TILTED.rotation.wxyz)
    spec.attach(part, frame=frame, prefix="")
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.dof_damping[:], model.dof_frictionloss[:] = 0.0, 0.0
    data = mujoco.MjData(model)
    for joint in robot.joints.values():
        if joint.type is not JointKind.FIXED:
            data.joint(joint.name).qpos[0] = joint_position(robot, joint.name, {})
    return model, data


def by_mujoco(robot: Robot, names: tuple[str, ...], box_on: str, rows: list[Array]) -> Array:
    model, data = model_of(robot, box_on)
    places = [model.joint(name).qposadr[0] for name in names]
    dofs = [model.joint(name).dofadr[0] for name in names]
    found = []
    for q, qd, qdd in zip(*rows, strict=True):
        data.qpos[places], data.qvel[dofs], data.qacc[dofs] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        found.append(data.qfrc_inverse[dofs].copy())
    return np.array(found)


@pytest.mark.parametrize("has_box", [False, True], ids=["alone", "with a box"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_torques_equal_those_of_mujoco(folder: Path, has_box: bool) -> None:
    robot, rng = load_robot(folder), np.random.default_rng(0)
    shape = Shape(ShapeKind.BOX, frozen(BOX_M), Pose.identity())
    box = WorldObject("box", (shape,), mass_kg=BOX_KG)
    for arm in robot.arms.values():
        joints = [robot.joints[name] for name in arm.joint_names]
        low, high = np.array([(joint.lower, joint.upper) for joint in joints]).T
        fast, hard = np.array([(joint.velocity, joint.acceleration) for joint in joints]).T
        rows = [rng.uniform(a, b, (20, len(joints))) for a, b in ((low, high), (-fast, fast), (-hard, hard))]
        masses = ArmMasses(robot, arm, {}, TILTED)
        held = [(Attachment("box", arm.ee_link, EE_T_BOX), box)] if has_box else []
        ours = joint_torques(masses.bodies(held), masses.gravity, *rows)
        theirs = by_mujoco(robot, arm.joint_names, arm.ee_link if has_box else "", rows)
        assert np.abs(theirs).max() > 1.0
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
