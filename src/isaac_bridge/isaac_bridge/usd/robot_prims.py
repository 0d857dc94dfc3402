"""A robot as an articulation of prims, at its home: bodies, joints, drives, and the grippers of suction cups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, PhysxSolver, Robot

from .joint_drives import DrivenJoint, driven_joints
from .joint_prims import JointPlace, MovingJoint, connect, fix
from .named_schemas import Value, apply_schema, write_named
from .prim_names import PrimNames
from .robot_bodies import RobotBody, robot_bodies
from .stage_parts import Frictions, add_frame, add_solid, label, make_body

if TYPE_CHECKING:
    from pxr import Usd

FRICTION, FINGER_FRICTION = 0.6, 1.2
"""The friction of links, and of finger tips and cups, as in the MuJoCo world."""

COLOR = (0.8, 0.8, 0.8, 1.0)


class RobotPrims:
    """Adds a robot below ``/World/<name>``: bodies by the names of their links, joints in ``joints``.

    Args:
        stage: The stage.
        path: Path of the robot.
        robot: The robot.
        folder: Folder from which the paths of the robot's meshes start.
        frictions: Materials of the stage.
    """

    def __init__(self, stage: Usd.Stage, path: str, robot: Robot, folder: Path, frictions: Frictions) -> None:
        self._stage, self._robot, self._frictions = stage, robot, frictions
        self.path = path
        self._bodies = robot_bodies(robot, folder)
        self._names = PrimNames(path, ("joints", "grippers"))
        self._paths: dict[str, str] = {}
        self._joints: dict[str, MovingJoint] = {}

    def add(self, world_T_root: Pose) -> None:
        """Add the robot.

        Args:
            world_T_root: The robot's root in the world.

        Raises:
            ValueError: Two links or two joints would be the same prim.
        """
        from pxr import UsdGeom, UsdPhysics

        prim = add_frame(self._stage, self.path, world_T_root)
        label(prim, self._robot.name)
        UsdPhysics.ArticulationRootAPI.Apply(prim)
        solver = _solver(self._robot.physx or PhysxSolver())
        apply_schema(
            prim, "PhysxArticulationAPI", {"physxArticulation:enabledSelfCollisions": False, **solver}
        )
        self._frictions.bind(prim, FRICTION)
        poses = link_poses(self._robot, {})
        soft = {link for arm in self._robot.arms.values() if arm.gripper for link in arm.gripper.finger_links}
        for body in self._bodies:
            self._add_body(body, poses[body.name], soft)
        UsdGeom.Scope.Define(self._stage, f"{self.path}/joints")
        names = PrimNames(f"{self.path}/joints")
        driven = {joint.name: joint for joint in driven_joints(self._robot)}
        for body in self._bodies:
            self._add_joint(body, names, driven)
        for joint in self._robot.joints.values():
            if joint.mimic is not None:
                leader = self._joints[joint.mimic.joint]
                self._joints[joint.name].follow(leader, joint.mimic.multiplier, joint.mimic.offset)
        self._add_cups(world_T_root, poses)

    def _add_body(self, body: RobotBody, root_T_body: Pose, soft: set[str]) -> None:
        path = self._paths[body.name] = f"{self.path}/{self._names.take(body.name)}"
        prim = add_frame(self._stage, path, root_T_body)
        label(prim, body.name)
        make_body(prim, body.mass, is_weightless=True)
        inner = PrimNames(path)
        for part in body.parts:
            home, frame, names = path, prim, inner
            if part.link != body.name:
                home = self._paths[part.link] = f"{path}/{inner.take(part.link)}"
                frame, names = add_frame(self._stage, home, part.body_T_link), PrimNames(home)
            if part.link in soft:
                self._frictions.bind(frame, FINGER_FRICTION)
            for index, shape in enumerate(part.shapes):
                solid = f"{home}/{names.take(f'solid_{index}')}"
                add_solid(self._stage, solid, shape, COLOR, is_fixed=False)

    def _add_joint(self, body: RobotBody, names: PrimNames, driven: dict[str, DrivenJoint]) -> None:
        joint, other = body.joint, self._paths[body.name]
        if joint is None:
            place = JointPlace(self.path, other, Pose.identity(), Pose.identity())
            fix(self._stage, f"{self.path}/joints/{names.take('root_joint')}", place)
            return
        place = JointPlace(self._paths[body.parent], other, body.parent_T_joint, Pose.identity())
        path = f"{self.path}/joints/{names.take(joint.name)}"
        if joint.type is JointKind.FIXED:
            fix(self._stage, path, place)
            return
        slides = joint.type is JointKind.PRISMATIC
        made = self._joints[joint.name] = MovingJoint(self._stage, path, place, joint.axis, slides=slides)
        if made.prim.GetName() != joint.name:
            write_named(made.prim, {"isaac:nameOverride": joint.name})
        law = driven[joint.name]
        made.limit(joint.lower, joint.upper)
        made.begin(law.start)
        made.gear(law.armature, joint.velocity)
        if law.drive is not None:
            made.drive(law.drive, law.start)

    def _add_cups(self, world_T_root: Pose, poses: dict[str, Pose]) -> None:
        from pxr import UsdGeom

        arms = [arm for arm in self._robot.arms.values() if arm.gripper and arm.gripper.suction]
        if arms:
            UsdGeom.Scope.Define(self._stage, f"{self.path}/grippers")
        names = PrimNames(f"{self.path}/grippers")
        for arm in arms:
            self._add_cup(arm, names, world_T_root, poses)

    def _add_cup(self, arm: ArmSpec, names: PrimNames, world_T_root: Pose, poses: dict[str, Pose]) -> None:
        """Add a surface gripper with one attachment point in the middle of the rim, along the approach axis."""
        from pxr import UsdPhysics

        assert arm.gripper is not None
        assert arm.gripper.suction is not None
        cup = arm.gripper.suction
        body = next(b for b in self._bodies if any(part.link == cup.link for part in b.parts))
        tip = Pose.of(poses[arm.tcp_link].translation_m, poses[arm.ee_link].rotation)
        body_T_tip = poses[body.name].inverse() @ tip @ _along(arm.gripper.ee_axis)
        path = f"{self.path}/grippers/{names.take(arm.gripper.name)}"
        prim = self._stage.DefinePrim(path, "IsaacSurfaceGripper")
        joint = UsdPhysics.Joint.Define(self._stage, f"{path}/attachment")
        # Isaac Sim disables the joint while the gripper is open; before that it holds the cup at its place.
        world_T_tip = world_T_root @ poses[body.name] @ body_T_tip
        connect(joint, JointPlace(self._paths[body.name], "", body_T_tip, world_T_tip))
        joint.CreateExcludeFromArticulationAttr(True)
        for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
            locked = UsdPhysics.LimitAPI.Apply(joint.GetPrim(), axis)
            locked.CreateLowAttr(1.0)
            locked.CreateHighAttr(-1.0)
        point: dict[str, Value] = {"isaac:forwardAxis": "X", "isaac:clearanceOffset": 0.0}
        apply_schema(joint.GetPrim(), "IsaacAttachmentPointAPI", point)
        prim.CreateRelationship("isaac:attachmentPoints", custom=False).SetTargets([joint.GetPath()])
        limits: dict[str, Value] = {
            "isaac:coaxialForceLimit": cup.max_pull_n,
            "isaac:shearForceLimit": cup.max_shear_n,
            "isaac:maxGripDistance": cup.reach_m,
            "isaac:retryInterval": 0.0,
            "isaac:status": "Open",
        }
        write_named(prim, limits)


def _solver(solver: PhysxSolver) -> dict[str, Value]:
    """Return the solver settings of the articulation; those that are None keep PhysX's defaults."""
    values = {
        "solverPositionIterationCount": solver.position_iterations,
        "solverVelocityIterationCount": solver.velocity_iterations,
        "stabilizationThreshold": solver.stabilization_threshold,
    }
    return {f"physxArticulation:{name}": value for name, value in values.items() if value is not None}


def _along(axis: int) -> Pose:
    """Return a frame whose x is axis 0, 1 or 2 of the frame before; the axes are permuted cyclically."""
    columns = [[float(row == (axis + column) % 3) for column in range(3)] for row in range(3)]
    return Pose.of((0.0, 0.0, 0.0), Rotation.from_matrix(columns))
