"""The bring-up script's parts: versions, order of steps, the calls that build the graph, resets, cups, contacts.

Isaac Sim is not installed here; ``fake_isaac`` records the calls.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics

from handiwork_core.isaac_wire import CupState
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from isaac_bridge.isaac_app.__main__ import main
from isaac_bridge.isaac_app.app import SAY_ALWAYS, IsaacApp
from isaac_bridge.isaac_app.contact_report import contacts_of
from isaac_bridge.isaac_app.session import Session
from isaac_bridge.isaac_app.stage_index import BadStage, read_stage
from isaac_bridge.isaac_app.startup_sequence import bring_up
from isaac_bridge.isaac_app.versions import UnsupportedError, graph_version
from isaac_bridge.usd.export import STEPS_PER_S, export_scene
from support.paths import ROBOTS, ROOT
from support.records.fake_isaac import FakeIsaac

SCENES = ROOT / "config/scenes"


@pytest.fixture(scope="module")
def stage_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("stage") / "suction.usda"
    folder = ROBOTS / "ur10_suction"
    export_scene(load_scene(SCENES / "suction.yaml"), load_robot(folder), folder, out)
    return out


@pytest.mark.parametrize(
    ("text", "version"), [("5.1.0", "5.1"), ("5.1.0-rc.19", "5.1"), ("6.0.1", "6.0"), ("6.1.0", "6.0")]
)
def test_versions(text: str, version: str) -> None:
    assert graph_version(text) == version


@pytest.mark.parametrize("text", ["", "4.5.0", "5.0.0", "2023.1.1", "7.0.0"])
def test_other_versions_end_with_one_sentence(text: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        graph_version(text)
    said = str(caught.value)
    assert said.startswith("Isaac Sim")
    assert said.endswith("install 5.1 or 6.x.")
    assert "\n" not in said


def test_python_without_isaac_ends_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "isaacsim", None)
    monkeypatch.setattr(sys, "argv", ["bring_up", "stage.usda"])
    assert main() == 1
    assert capsys.readouterr().err == "This Python has no Isaac Sim: run it by Isaac Sim's python.sh.\n"


@pytest.mark.parametrize("version", ["5.1.0", "6.0.1"])
def test_order_of_steps(version: str, monkeypatch: pytest.MonkeyPatch, stage_file: Path) -> None:
    isaac = FakeIsaac(monkeypatch, version)
    bring_up(IsaacApp(headless=True), stage_file)
    sensors = ["enable isaacsim.sensors.physics.nodes"] if version.startswith("6") else []
    assert isaac.calls == [
        "app {'headless': True}",
        f"set {SAY_ALWAYS} True",
        "enable isaacsim.ros2.bridge",
        *sensors,
        "enable isaacsim.robot.surface_gripper",
        "update",
        f"stage {stage_file}",
        "update",
        "graph",
        "device cpu",
        "set_target_framerate 50.0",
        "set_time_codes_per_second 50.0",
        "update",
        "play",
        "update",
    ]
    assert STEPS_PER_S % 50 == 0


def test_graph_is_built_as_it_is_written(monkeypatch: pytest.MonkeyPatch, stage_file: Path) -> None:
    isaac = FakeIsaac(monkeypatch, "5.1.0")
    bring_up(IsaacApp(headless=True), stage_file)
    settings, changes = isaac.graphs[0]
    assert settings["pipeline_stage"] == "GRAPH_PIPELINE_STAGE_ONDEMAND"
    assert set(changes) == {"CREATE_NODES", "SET_VALUES", "CONNECT"}
    nodes = dict(changes["CREATE_NODES"])
    assert nodes["Commands"] == "isaacsim.ros2.bridge.ROS2SubscribeJointState"
    values = dict(changes["SET_VALUES"])
    assert values["Commands.inputs:queueSize"] == 1
    assert values["Controller.inputs:robotPath"] == "/World/ur10_suction"
    assert values["States.inputs:targetPrim"] == [("path", "/World/ur10_suction")]
    targets = [path for _, path in values["Frames.inputs:targetPrims"]]
    assert "/World/Objects/carton" in targets
    assert not any(path.startswith("/World/ur10") for path in targets)
    assert ("Commands.outputs:positionCommand", "Controller.inputs:positionCommand") in changes["CONNECT"]


@pytest.mark.parametrize("version", ["4.5.0", "7.0.0"])
def test_unsupported_version_opens_nothing(
    version: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stage_file: Path
) -> None:
    isaac = FakeIsaac(monkeypatch, version)
    monkeypatch.setattr(sys, "argv", ["bring_up", str(stage_file), "--headless"])
    assert main() == 1
    assert isaac.calls == ["app {'headless': True}", "close app"]
    assert capsys.readouterr().err.count("\n") == 1


def test_stage_in_centimetres_without_robot_or_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    with pytest.raises(BadStage, match=r"0\.01 m per unit and Y up, not 1 and Z"):
        read_stage(stage)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Z")
    with pytest.raises(BadStage, match="0 articulations, not 1"):
        read_stage(stage)
    FakeIsaac(monkeypatch, "6.0.1")
    with pytest.raises(BadStage, match=r"none\.usda is no file"):
        bring_up(IsaacApp(headless=True), tmp_path / "none.usda")


def test_names_of_bodies(stage_file: Path) -> None:
    index = read_stage(Usd.Stage.Open(str(stage_file)))
    assert index.body_at("/World/Objects/carton/solid_0") == "carton"
    assert index.body_at("/World/ur10_suction/suction_cup/solid_0") == "ur10_suction/suction_cup"
    assert index.body_at("/World/ground/plane") == ""
    assert list(index.grippers) == ["ur10_suction"]
    assert index.fixed == ("/World/camera",)


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch, stage_file: Path) -> tuple[FakeIsaac, Session]:
    isaac = FakeIsaac(monkeypatch, "6.0.1")
    session = bring_up(IsaacApp(headless=True), stage_file)
    isaac.calls.clear()
    return isaac, session


def test_reset_brings_objects_back_and_opens_cups(cell: tuple[FakeIsaac, Session]) -> None:
    isaac, session = cell
    start = session.index.places["carton"]
    there = Pose.of((0.1, 0.2, 0.3), Rotation.from_rpy(0.1, 0.2, 0.3))
    prim = isaac.stage.GetPrimAtPath(session.index.objects["carton"])
    UsdPhysics.RigidBodyAPI(prim).CreateVelocityAttr((1.0, 2.0, 3.0))
    assert session.place("carton", there) == ""
    assert read_stage(isaac.stage).places["carton"].almost_equal(there, within_m=1e-9, within_rad=1e-6)
    assert np.allclose(prim.GetAttribute("physics:velocity").Get(), 0.0)
    assert "'cartn' is not one of" in session.place("cartn", there)
    session.reset()
    assert read_stage(isaac.stage).places["carton"].almost_equal(start, within_m=1e-9, within_rad=1e-6)
    assert isaac.calls == [
        "open /World/ur10_suction/grippers/ur10_suction",
        "stop",
        "update",
        "play",
        "update",
    ]


def test_belts_run_as_told_and_start_over_with_a_reset(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out, folder = tmp_path / "belt.usda", ROBOTS / "fr3"
    export_scene(load_scene(SCENES / "belt.yaml"), load_robot(folder), folder, out)
    isaac = FakeIsaac(monkeypatch, "5.1.0")
    session = bring_up(IsaacApp(headless=True), out)
    start = {"belt": pytest.approx((0.0, 0.08, 0.0))}
    assert session.index.belts == start
    assert session.run_belt("belt", (0.0, -0.2, 0.0)) == ""
    assert read_stage(isaac.stage).belts == {"belt": pytest.approx((0.0, -0.2, 0.0))}
    assert "'parcel' is not one of ['belt']" in session.run_belt("parcel", (0.0, 0.0, 0.0))
    session.reset()
    assert read_stage(isaac.stage).belts == start


def test_steps_only_while_paused(cell: tuple[FakeIsaac, Session]) -> None:
    isaac, session = cell
    assert session.step() == "the physics runs; pause it first"
    session.pause(paused=True)
    assert session.step() == ""
    session.pause(paused=False)
    assert isaac.calls == ["pause", "forward_one_frame", "update", "play"]


def test_cups_tell_what_they_hold(cell: tuple[FakeIsaac, Session]) -> None:
    isaac, session = cell
    assert session.cups() == {"ur10_suction": CupState(False, False)}
    session.switch("ur10_suction", close=True)
    assert session.cups() == {"ur10_suction": CupState(True, False)}
    isaac.status = "Closed"
    assert session.cups() == {"ur10_suction": CupState(True, True, ("carton",))}


def test_contacts_are_net_forces_in_order_of_names() -> None:
    names = {1: "table", 2: "cube", 3: ""}
    points = [SimpleNamespace(position=(x, 0.0, 0.0), impulse=(0.0, 0.0, 0.01)) for x in (0.0, 0.2, 9.0)]
    headers = [
        # On the table from the cube, then on the cube from the table, then a body that is not ours.
        SimpleNamespace(collider0=1, collider1=2, contact_data_offset=0, num_contact_data=1),
        SimpleNamespace(collider0=2, collider1=1, contact_data_offset=1, num_contact_data=1),
        SimpleNamespace(collider0=2, collider1=3, contact_data_offset=2, num_contact_data=1),
    ]
    (one,) = contacts_of(headers[:1], points, names.__getitem__, 0.005)
    assert (one.a, one.b) == ("cube", "table")
    assert np.allclose(one.force_on_a_n, [0.0, 0.0, -2.0])
    both = contacts_of(headers, points, names.__getitem__, 0.005)
    assert [(item.a, item.b) for item in both] == [("cube", "table")] * 2
    assert np.allclose(sum(item.force_on_a_n for item in both), 0.0)
    assert np.allclose([np.linalg.norm(item.force_on_a_n) for item in both], 2.0)
    assert np.allclose(np.mean([item.point_m for item in both], axis=0), [0.1, 0.0, 0.0])
    assert contacts_of(headers[2:], points, names.__getitem__, 0.005) == ()


def test_session_reads_the_report_with_the_step_of_the_stage(cell: tuple[FakeIsaac, Session]) -> None:
    isaac, session = cell
    point = SimpleNamespace(position=(0.0, 0.0, 0.0), impulse=(0.0, 0.0, 0.01))
    header = SimpleNamespace(collider0=1, collider1=2, contact_data_offset=0, num_contact_data=1)
    isaac.report = ([header], [point])
    paths = {1: "/World/Objects/carton/solid_0", 2: "/World/Objects/table/solid_0"}
    session.app.path_of = paths.__getitem__  # type: ignore[method-assign]
    (contact,) = session.contacts()
    assert (contact.a, contact.b) == ("carton", "table")
    assert contact.force_on_a_n[2] == pytest.approx(0.01 * STEPS_PER_S)
