"""Every shipped scene and robot as an OpenUSD stage: valid, with the bodies that MuJoCo makes of the same files."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdLux, UsdPhysics, UsdSemantics, UsdShade, UsdUtils, UsdValidation
from scipy.spatial import ConvexHull

from handiwork_cli.stack.demo_cells import described_robots, scene_of
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import PhysxSolver, Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, load_scene
from handiwork_core.scene.usd_gprims import READERS, Attributes
from isaac_bridge.usd import joint_drives, robot_prims
from isaac_bridge.usd.export import OBJECTS, Exported, build_stage
from isaac_bridge.usd.robot_bodies import NOMINAL_KG, robot_bodies
from sim_bridge.mujoco import world_model
from sim_bridge.mujoco.world import MujocoWorld
from support.paths import ROBOTS, ROOT

SCENES = ROOT / "config/scenes"
OWN = {"suction": "ur10_suction", "genie1_table": "genie1", "split_aloha_table": "split_aloha"}
CELLS = sorted(
    {(path.stem, OWN.get(path.stem, "fr3")) for path in SCENES.glob("*.yaml")}
    | {(scene_of(name), name) for name in described_robots()}
)


@dataclass(frozen=True)
class Cell:
    robot: Robot
    scene: Scene
    world: MujocoWorld
    stage: Usd.Stage
    found: Exported

    def prim(self, path: str) -> Usd.Prim:
        found = self.stage.GetPrimAtPath(path)
        assert found, path
        return found


@cache
def described(robot_name: str) -> Robot:
    return load_robot(ROBOTS / robot_name)


@cache
def cell(scene_name: str, robot_name: str) -> Cell:
    robot, scene = described(robot_name), load_scene(SCENES / f"{scene_name}.yaml")
    stage, found = build_stage(scene, robot, ROBOTS / robot_name)
    return Cell(robot, scene, MujocoWorld(robot, scene), stage, found)


both = pytest.mark.parametrize("names", CELLS, ids="-".join)
robots = pytest.mark.parametrize("names", [(scene_of(r), r) for r in described_robots()], ids=lambda n: n[1])


def world_pose(prim: Usd.Prim) -> Pose:
    matrix = UsdGeom.Imageable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default())
    return Pose.from_matrix(np.array(matrix).T)


def assert_same_mass(prim: Usd.Prim, body: Any) -> None:
    given = UsdPhysics.MassAPI(prim)
    assert given.GetMassAttr().Get() == pytest.approx(body.mass[0], rel=1e-5)
    assert np.allclose(given.GetCenterOfMassAttr().Get(), body.ipos, atol=1e-6)
    axes = given.GetPrincipalAxesAttr().Get()
    turn = Rotation.from_wxyz([axes.GetReal(), *axes.GetImaginary()]).matrix()
    ours = turn @ np.diag(given.GetDiagonalInertiaAttr().Get()) @ turn.T
    turn = Rotation.from_wxyz(body.iquat).matrix()
    theirs = turn @ np.diag(body.inertia) @ turn.T
    moments = np.linalg.eigvalsh(ours)
    if moments[0] + moments[1] < moments[2]:  # MuJoCo corrects moments that no solid can have
        theirs, ours = np.diag([np.trace(theirs)] * 3), np.diag([np.trace(ours)] * 3)
    assert np.allclose(ours, theirs, rtol=1e-3, atol=1e-5 * np.trace(theirs))


def points_of(prim: Usd.Prim) -> Array:
    """Return the points whose hull is a solid, in its body's frame."""
    points = READERS[prim.GetTypeName()](Attributes(prim))
    matrix = np.array(UsdGeom.Xformable(prim).GetLocalTransformation())
    return points @ matrix[:3, :3] + matrix[3, :3]


@both
def test_stage_is_valid(names: tuple[str, str]) -> None:
    stage = cell(*names).stage
    checker = UsdUtils.ComplianceChecker()
    checker.CheckCompliance(stage.GetRootLayer().identifier)
    assert checker.GetErrors() + checker.GetFailedChecks() + checker.GetWarnings() == []
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    assert [error.GetErrorAsString() for error in errors if error.GetName() != "Info"] == []
    assert (UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.GetStageUpAxis(stage)) == (1.0, "Z")
    for prim in stage.Traverse():
        assert "xformOp:scale" not in prim.GetPropertyNames()


@both
def test_objects_are_those_of_the_simulation(names: tuple[str, str]) -> None:
    it = cell(*names)
    model = it.world.model
    assert set(it.found.object_paths) == {item.name for item in it.scene.objects}
    for item in it.scene.objects:
        prim = it.prim(it.found.object_paths[item.name])
        assert UsdSemantics.LabelsAPI(prim, "class").GetLabelsAttr().Get() == [item.name]
        assert world_pose(prim).almost_equal(it.world.body_pose(item.name), within_m=1e-6, within_rad=1e-4)
        assert prim.HasAPI(UsdPhysics.RigidBodyAPI) == (not item.body.is_static or item.belt is not None)
        if not item.body.is_static:
            assert_same_mass(prim, model.body(item.name))
            assert prim.GetAttribute("physxRigidBody:sleepThreshold").Get() == 0.0
            assert "PhysxContactReportAPI" in prim.GetMetadata("apiSchemas").GetAddedOrExplicitItems()
        geoms = [model.geom(f"{item.name}/{i}") for i in range(len(item.body.shapes))]
        for index, geom in enumerate(geoms):
            solid = it.prim(f"{prim.GetPath()}/solid_{index}")
            assert_same_solid(solid, geom, model)
            material, _ = UsdShade.MaterialBindingAPI(solid).ComputeBoundMaterial("physics")
            friction = UsdPhysics.MaterialAPI(material).GetStaticFrictionAttr().Get()
            assert friction == pytest.approx(geom.friction[0])


def assert_same_solid(solid: Usd.Prim, geom: Any, model: Any) -> None:
    assert solid.HasAPI(UsdPhysics.CollisionAPI)
    kind = mujoco.mjtGeom(geom.type[0]).name
    if kind in ("mjGEOM_SPHERE", "mjGEOM_CYLINDER", "mjGEOM_CAPSULE"):
        assert solid.GetAttribute("radius").Get() == pytest.approx(geom.size[0])
        if kind != "mjGEOM_SPHERE":
            assert solid.GetAttribute("height").Get() == pytest.approx(2.0 * geom.size[1])
        return
    if kind == "mjGEOM_BOX":
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        theirs = signs * geom.size
    else:
        mesh = model.mesh(geom.dataid[0])
        start, count = mesh.vertadr[0], mesh.vertnum[0]
        theirs = model.mesh_vert[start : start + count]
    turn = Rotation.from_wxyz(geom.quat).matrix()
    theirs = ConvexHull(theirs @ turn.T + geom.pos)
    ours = ConvexHull(points_of(solid))
    assert ours.volume == pytest.approx(theirs.volume, rel=1e-5)
    # Equal volumes and one in the other: the same solid.
    gap = ours.points @ theirs.equations[:, :3].T + theirs.equations[:, 3]
    assert gap.max() < 1e-6


@robots
def test_links_are_those_of_the_simulation(names: tuple[str, str]) -> None:
    it = cell(*names)
    root = it.world.body_pose(f"{it.robot.name}/{it.robot.root_link}")
    seen = 0
    for body in robot_bodies(it.robot, ROBOTS / names[1]):
        prim = it.prim(f"{it.found.robot_path}/{body.name}")
        assert prim.HasAPI(UsdPhysics.RigidBodyAPI)
        if body.joint is not None or body.mass.mass_kg != NOMINAL_KG:
            assert_same_mass(prim, it.world.model.body(f"{it.robot.name}/{body.name}"))
            seen += 1
        here = it.world.body_pose(f"{it.robot.name}/{body.name}")
        assert world_pose(prim).almost_equal(here, within_m=1e-5, within_rad=1e-4)
        count = sum(len(part.shapes) for part in body.parts)
        solids = [p for p in Usd.PrimRange(prim) if p.HasAPI(UsdPhysics.CollisionAPI)]
        assert len(solids) == count
    weighed = [
        link for link in ET.fromstring(it.robot.urdf).findall("link") if link.find("inertial") is not None
    ]
    assert seen == len(weighed)
    assert root.almost_equal(it.scene.world_T_base, within_m=1e-9, within_rad=1e-6)


@robots
def test_joints_are_those_of_the_simulation(names: tuple[str, str]) -> None:
    it = cell(*names)
    model, moving = it.world.model, [j for j in it.robot.joints.values() if j.type is not JointKind.FIXED]
    for joint in moving:
        prim = it.prim(f"{it.found.robot_path}/joints/{joint.name}")
        slides = joint.type is JointKind.PRISMATIC
        made = (UsdPhysics.PrismaticJoint if slides else UsdPhysics.RevoluteJoint)(prim)
        unit = 1.0 if slides else math.degrees(1.0)
        theirs = model.joint(f"{it.robot.name}/{joint.name}")
        limits = [made.GetLowerLimitAttr().Get() / unit, made.GetUpperLimitAttr().Get() / unit]
        assert np.allclose(limits, theirs.range, atol=1e-6)
        kind = "linear" if slides else "angular"
        for name in ("physxJoint:armature", f"physxJointAxis:{kind}:armature"):
            assert prim.GetAttribute(name).Get() == pytest.approx(theirs.armature[0])
        assert_frames_meet(it, made, joint.name, unit)
        assert UsdPhysics.DriveAPI(
            prim, "linear" if slides else "angular"
        ).GetStiffnessAttr().IsAuthored() == (joint.mimic is None)


def assert_frames_meet(it: Cell, joint: Any, name: str, unit: float) -> None:
    """Check that the joint's frames differ by its position at home, along or about their x.

    x is the axis of the simulation.
    """
    ends = []
    for relation, place, turn in (
        (joint.GetBody0Rel(), joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr()),
        (joint.GetBody1Rel(), joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr()),
    ):
        body = world_pose(it.prim(str(relation.GetTargets()[0])))
        quaternion: Gf.Quatf = turn.Get()
        wxyz = [quaternion.GetReal(), *quaternion.GetImaginary()]
        ends.append(body @ Pose.of(np.array(place.Get()), Rotation.from_wxyz(wxyz)))
    q = joint_position(it.robot, name, {})
    x = np.array([1.0, 0.0, 0.0])
    motion = Pose.of(x * q) if unit == 1.0 else Pose.of(x * 0.0, Rotation.from_axis_angle(x, q))
    assert (ends[0] @ motion).almost_equal(ends[1], within_m=1e-5, within_rad=2e-3)
    axis = it.world.data.joint(f"{it.robot.name}/{name}").xaxis
    assert np.allclose(ends[1].rotation.matrix()[:, 0], axis, atol=1e-4)


@robots
def test_followers_follow(names: tuple[str, str]) -> None:
    it = cell(*names)
    for joint in it.robot.joints.values():
        if joint.mimic is None:
            continue
        prim = it.prim(f"{it.found.robot_path}/joints/{joint.name}")
        leader = prim.GetRelationship("physxMimicJoint:rotX:referenceJoint").GetTargets()[0]
        assert leader.name == joint.mimic.joint
        kinds = {it.robot.joints[name].type for name in (joint.name, joint.mimic.joint)}
        assert len(kinds) == 1  # so that the gearing has no unit
        gearing = prim.GetAttribute("physxMimicJoint:rotX:gearing").Get()
        assert gearing == pytest.approx(-joint.mimic.multiplier)


@robots
def test_robot_is_one_articulation_fixed_to_the_world(names: tuple[str, str]) -> None:
    it = cell(*names)
    roots = [p for p in it.stage.Traverse() if p.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert [str(p.GetPath()) for p in roots] == [it.found.robot_path]
    joints = [UsdPhysics.Joint(p) for p in it.stage.Traverse() if p.IsA(UsdPhysics.Joint)]
    own = [j for j in joints if str(j.GetPath()).startswith(f"{it.found.robot_path}/joints/")]
    held = {str(target) for j in own for target in j.GetBody1Rel().GetTargets()}
    bodies = {str(p.GetPath()) for p in Usd.PrimRange(roots[0]) if p.HasAPI(UsdPhysics.RigidBodyAPI)}
    assert held == bodies
    assert len(own) == len(bodies)


def test_articulation_is_solved_as_its_robot_file_says() -> None:
    robot, scene = described("fr3"), cell("tabletop", "fr3").scene
    counts = ("solverPositionIterationCount", "solverVelocityIterationCount", "stabilizationThreshold")
    given = replace(robot, physx=PhysxSolver(128, 4, 0.005))
    for one, wanted in ((robot, [32, None, None]), (given, [128, 4, pytest.approx(0.005)])):
        stage, found = build_stage(scene, one, ROBOTS / "fr3")
        prim = stage.GetPrimAtPath(found.robot_path)
        assert [prim.GetAttribute(f"physxArticulation:{name}").Get() for name in counts] == wanted


@robots
def test_openusd_itself_finds_the_articulation_and_its_root(names: tuple[str, str]) -> None:
    it = cell(*names)
    parsed = UsdPhysics.LoadUsdPhysicsFromRange(it.stage, ["/World"])
    _, (found,) = parsed[UsdPhysics.ObjectType.Articulation]
    assert [str(path) for path in found.rootPrims] == [f"{it.found.robot_path}/joints/root_joint"]
    bodies = {str(path) for path in found.articulatedBodies if not path.isEmpty}
    made = robot_bodies(it.robot, ROBOTS / names[1])
    assert bodies == {f"{it.found.robot_path}/{body.name}" for body in made}
    joints = sum(
        len(paths)
        for kind, (paths, _) in parsed.items()
        if kind in (UsdPhysics.ObjectType.RevoluteJoint, UsdPhysics.ObjectType.PrismaticJoint)
    )
    assert joints == sum(j.type is not JointKind.FIXED for j in it.robot.joints.values())


def test_drives_are_those_of_the_simulation() -> None:
    assert joint_drives.BANDWIDTH == world_model.ARM_BANDWIDTH
    assert joint_drives.ROTOR_INERTIA == world_model.ROTOR_INERTIA
    assert world_model.FINGER_FRICTION[0] == robot_prims.FINGER_FRICTION
    it = cell("tabletop", "fr3")
    gripper = it.robot.arm("").gripper
    assert gripper is not None
    leader = it.prim(f"{it.found.robot_path}/joints/{gripper.joint}")
    drive = UsdPhysics.DriveAPI(leader, "linear")
    servos = [it.world.model.actuator(f"fr3/fr3_finger_joint{i}") for i in (1, 2)]
    assert drive.GetStiffnessAttr().Get() == pytest.approx(sum(s.gainprm[0] for s in servos))
    assert drive.GetMaxForceAttr().Get() == pytest.approx(sum(s.forcerange[1] for s in servos))
    arm = UsdPhysics.DriveAPI(it.prim(f"{it.found.robot_path}/joints/fr3_joint2"), "angular")
    assert arm.GetTypeAttr().Get() == "acceleration"
    stiffness = math.radians(world_model.ARM_BANDWIDTH**2)  # the gains of an angular drive are per degree
    assert arm.GetStiffnessAttr().Get() == pytest.approx(stiffness)
    assert arm.GetDampingAttr().Get() == pytest.approx(math.radians(2.0 * world_model.ARM_BANDWIDTH))
    assert arm.GetTargetPositionAttr().Get() == pytest.approx(math.degrees(it.robot.arm("").home_q[1]))


def test_parts_move_as_in_the_simulation() -> None:
    for names in (("drawer", "fr3"), ("door", "fr3"), ("knob", "fr3")):
        it = cell(*names)
        parts = [item for item in it.scene.objects if item.body.articulation is not None]
        assert parts
        for item in parts:
            prim = it.prim(f"{OBJECTS}/{item.name}/joint")
            slides = prim.IsA(UsdPhysics.PrismaticJoint)
            unit = 1.0 if slides else math.degrees(1.0)
            made = (UsdPhysics.PrismaticJoint if slides else UsdPhysics.RevoluteJoint)(prim)
            theirs = it.world.model.joint(item.name)
            limits = [made.GetLowerLimitAttr().Get() / unit, made.GetUpperLimitAttr().Get() / unit]
            assert np.allclose(limits, theirs.range, atol=1e-6)
            drive = UsdPhysics.DriveAPI(prim, "linear" if slides else "angular")
            assert drive.GetDampingAttr().Get() * unit == pytest.approx(theirs.damping[0])
            assert drive.GetStiffnessAttr().Get() == 0.0


def test_a_light_shines_and_the_camera_sees_what_the_robot_works_on() -> None:
    it = cell("tabletop", "fr3")
    assert UsdLux.DomeLight(it.prim("/World/light")).GetIntensityAttr().Get() > 0.0
    frustum = UsdGeom.Camera(it.prim("/World/camera")).GetCamera(Usd.TimeCode.Default()).frustum
    for name in ("cube", "can", "bin"):
        assert frustum.Intersects(Gf.Vec3d(*it.world.body_pose(name).translation_m.tolist())), name


def test_belt_runs_and_cup_looks_out_of_its_rim() -> None:
    it = cell("belt", "fr3")
    belts = [item for item in it.scene.objects if item.belt is not None]
    for item in belts:
        assert item.belt is not None
        prim = it.prim(it.found.object_paths[item.name])
        assert UsdPhysics.RigidBodyAPI(prim).GetKinematicEnabledAttr().Get()
        speed = prim.GetAttribute("physxSurfaceVelocity:surfaceVelocity").Get()
        assert np.allclose(speed, item.belt.velocity)
    assert belts
    it = cell("suction", "ur10_suction")
    arm = it.robot.arm("")
    assert arm.gripper is not None
    assert arm.gripper.suction is not None
    gripper = it.prim(f"{it.found.robot_path}/grippers/{arm.gripper.name}")
    assert gripper.GetTypeName() == "IsaacSurfaceGripper"
    assert gripper.GetAttribute("isaac:maxGripDistance").Get() == pytest.approx(arm.gripper.suction.reach_m)
    joint = UsdPhysics.Joint(it.prim(str(gripper.GetRelationship("isaac:attachmentPoints").GetTargets()[0])))
    assert joint.GetExcludeFromArticulationAttr().Get()
    body = world_pose(it.prim(str(joint.GetBody0Rel().GetTargets()[0])))
    turn: Gf.Quatf = joint.GetLocalRot0Attr().Get()
    tip = body @ Pose.of(
        np.array(joint.GetLocalPos0Attr().Get()), Rotation.from_wxyz([turn.GetReal(), *turn.GetImaginary()])
    )
    ee = it.world.body_pose(f"{it.robot.name}/{arm.ee_link}").rotation.matrix()
    assert np.allclose(tip.rotation.matrix()[:, 0], ee[:, arm.gripper.ee_axis], atol=1e-5)
    tcp = it.world.body_pose(f"{it.robot.name}/{arm.tcp_link}").translation_m
    assert np.allclose(tip.translation_m, tcp, atol=1e-5)
    # An enabled joint to the world must not pull at the cup before Isaac Sim disables it.
    assert np.allclose(joint.GetLocalPos1Attr().Get(), tcp, atol=1e-5)
