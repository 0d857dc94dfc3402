"""The launch files have the same meaning here as for ros2 launch, and faults name file and line."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from handiwork_cli.commands.stack.launch import add_parser, resolve
from handiwork_cli.launch_files.evaluation import RUNNER, declared_arguments, plan_processes
from handiwork_cli.launch_files.model import LaunchError, Substitution
from handiwork_cli.launch_files.text import parse_template, split_words, typed
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_cli.stack.stack import nodes_of
from handiwork_core.process.dds_profiles import NEW_VARIABLE, OLD_VARIABLE, profile_variable
from support.paths import ROOT

BRINGUP = ROOT / "launch" / "bringup.launch.xml"


def commands(folder: Path, body: str, **arguments: str) -> list[tuple[str, ...]]:
    """Return the commands of the processes of a launch file.

    Args:
        folder: Folder of the file.
        body: Elements inside of ``<launch>``.
        arguments: Launch arguments.
    """
    path = folder / "it.launch.xml"
    path.write_text(f"<launch>\n{body}\n</launch>")
    return [spec.command for spec in plan_processes(path, arguments)]


def test_template_with_nested_substitution_and_escape() -> None:
    assert parse_template(r"a\$(b") == ("a$(b",)
    inner = Substitution("var", (("x",),))
    assert parse_template("a$(env 'H O' $(var x))b") == ("a", Substitution("env", (("H O",), (inner,))), "b")


def test_words_split_at_plain_space_only() -> None:
    words = split_words(parse_template("run $(var a)/b 'c d' $(var e)"))
    assert [len(word) for word in words] == [1, 2, 1, 1]
    assert words[2] == ("c d",)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("4", "float", 4.0),
        ("4", "", 4),
        ("4", "str", "4"),
        ("1", "bool", True),
        ("yes", "bool", True),
        ("Off", "bool", False),
        ("[1, 2]", "list_of_int", [1, 2]),
    ],
)
def test_parameter_types(text: str, kind: str, value: object) -> None:
    got = typed(text, kind)
    assert got == value
    assert type(got) is type(value)


def test_mixed_list_is_refused() -> None:
    with pytest.raises(ValueError, match="one kind"):
        typed("[1, a]", "")


def test_group_forgets_and_unscoped_group_keeps(tmp_path: Path) -> None:
    body = """<let name="a" value="1"/>
      <group><let name="a" value="2"/><executable cmd="x $(var a)"/></group><executable cmd="x $(var a)"/>
      <group scoped="false"><let name="a" value="3"/></group><executable cmd="x $(var a)"/>"""
    assert [c[1] for c in commands(tmp_path, body)] == ["2", "1", "3"]


def test_conditions_and_argument_values(tmp_path: Path) -> None:
    body = """<arg name="on" default="true"/><executable cmd="x" if="$(var on)"/>
      <executable cmd="y" unless="$(var on)"/>"""
    assert commands(tmp_path, body) == [("x",)]
    assert commands(tmp_path, body, on="false") == [("y",)]


def test_include_passes_arguments(tmp_path: Path) -> None:
    (tmp_path / "in.launch.xml").write_text('<launch><arg name="n"/><executable cmd="x $(var n)"/></launch>')
    body = '<include file="$(dirname)/in.launch.xml"><arg name="n" value="7"/></include>'
    assert commands(tmp_path, body) == [("x", "7")]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<nodde/>", r"it.launch.xml:2: <nodde> is not supported; did you mean 'node'"),
        ('<executable cmd="$(vra a)"/>', r":2: \$\(vra"),
        ('<executable cmd="x" shel="true"/>', r":2: <executable> does not take 'shel'"),
        ('<executable cmd="x" on_exit="respawn"/>', r":2: on_exit"),
        ('<executable cmd="x" if="maybe"/>', r":2: 'maybe' is no condition"),
        ("\n<include file='/no/such'/>", r":3: included file /no/such"),
        ('<arg name="a"/>', r":2: argument 'a' has no value"),
        (
            '<node pkg="planner_node" exec="planer"/>',
            r":2: package 'planner_node' has no executable 'planer'",
        ),
        ('<include file="$(filename)"/>', "break the circle"),
    ],
)
def test_faults_name_their_place(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        commands(tmp_path, body)


def test_bringup_starts_five_nodes_and_four_on_a_real_robot() -> None:
    labels = [spec.label for spec in plan_processes(BRINGUP, {"real_time_factor": "4"})]
    assert labels == ["robot_description", "sim_bridge", "planner_node", "skill_server", "conditionals_node"]
    sim = next(s for s in plan_processes(BRINGUP, {"real_time_factor": "4"}) if s.label == "sim_bridge")
    assert "real_time_factor:=4.0" in sim.command
    real = plan_processes(BRINGUP, {"backend": "none"})
    assert "sim_bridge" not in [spec.label for spec in real]
    assert all("use_sim_time:=false" in spec.command for spec in real)


@pytest.mark.parametrize(("backend", "nodes"), [("isaac", 5), ("isaac_stand_in", 6)])
def test_isaac_sim_takes_the_simulations_place(backend: str, nodes: int) -> None:
    planned = {spec.label: spec.command for spec in plan_processes(BRINGUP, {"backend": backend})}
    assert set(planned) == set(nodes_of(backend))
    assert len(planned) == nodes
    assert "use_sim_time:=true" in planned["skill_server"]
    assert ('interface:="isaac"' in planned.get("sim_bridge", ())) == (backend == "isaac_stand_in")


def test_one_argument_takes_the_same_stack_to_a_real_robot(monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"controller_manager": Path("/opt/cm")}
    monkeypatch.setattr(
        "handiwork_cli.launch_files.process_spec.executable_of",
        lambda package, name: str(places.get(package, Path("/ws") / package) / name),
        raising=True,
    )
    planned = plan_processes(BRINGUP, {"backend": "ros2_control", "robot": "ur10_suction"})
    labels = [spec.label for spec in planned]
    assert "sim_bridge" not in labels
    assert {
        "controller_manager",
        "spawn_controllers",
        "suction_driver",
        "safety_node",
        "planner_node",
        "skill_server",
    } <= set(labels)
    by_label = {spec.label: " ".join(spec.command) for spec in planned}
    assert "ur10_suction/ros2_control.yaml" in by_label["controller_manager"]
    assert by_label["spawn_controllers"].split()[1].endswith("robots/ur10_suction")
    assert 'hardware_plugin:="mock_components/GenericSystem"' in by_label["robot_description"]
    assert "use_sim_time:=false" in by_label["planner_node"]
    simulated = plan_processes(BRINGUP, {})
    assert not any("mock_components" in " ".join(spec.command) for spec in simulated)


@pytest.mark.parametrize("perception", ["none", "bridge", "detections", "tags"])
def test_with_perception_the_world_is_that_of_detections(perception: str) -> None:
    planned = {
        spec.label: " ".join(spec.command)
        for spec in plan_processes(BRINGUP, {"perception": perception, "cameras": "true"})
    }
    assert ("perception_bridge" in planned) == (perception != "none")
    assert ("sim_detector" in planned) == (perception == "detections")
    for label in ("sim_bridge", "sim_cameras"):
        for topic in ("objects", "object_states"):
            remapped = f"world/{topic}:=ground_truth/{topic}" in planned[label]
            assert remapped == (perception != "none")
    assert ("world/contacts:=ground_truth/contacts" in planned["sim_bridge"]) == (perception != "none")
    assert ("tf:=ground_truth/tf" in planned["sim_bridge"]) == (perception != "none")
    readers = [label for label in planned if label not in ("sim_bridge", "sim_cameras")]
    assert not any("ground_truth" in planned[label] for label in readers)


def test_unknown_argument_and_choice_are_refused() -> None:
    with pytest.raises(LaunchError, match="did you mean 'robot'"):
        plan_processes(BRINGUP, {"robt": "fr3"})
    with pytest.raises(LaunchError, match="mujoco"):
        plan_processes(BRINGUP, {"backend": "mujoko"})


VARIABLE = profile_variable(os.environ)
DISCOVERY = ("ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", VARIABLE)
WISHES = (*DISCOVERY[:2], OLD_VARIABLE, NEW_VARIABLE, "RMW_IMPLEMENTATION")


def planned_discovery(path: Path, **arguments: str) -> set[tuple[str, str, str]]:
    """Return discovery range, peers and name of the DDS profile of each process that a launch file starts.

    Args:
        path: The launch file.
    """
    required = {a.name: "x" for a in declared_arguments(path) if a.default is None}
    found = set()
    for spec in plan_processes(path, {**required, **arguments}):
        reach, peers, profile = ({**os.environ, **spec.environment}[name] for name in DISCOVERY)
        found.add((reach, peers, Path(profile).name))
    return found


@pytest.fixture
def no_discovery_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WISHES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_discovery_wish")
@pytest.mark.parametrize("path", sorted(BRINGUP.parent.glob("*.launch.xml")), ids=lambda path: path.name)
def test_every_launch_file_keeps_its_nodes_on_this_machine(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path.name == "discovery.launch.xml":
        return
    if path.name == "ros2_control.launch.xml":  # its packages are not among the wheels
        (tmp_path / "ros2_control.yaml").touch()
        monkeypatch.setattr(
            "handiwork_cli.launch_files.process_spec.executable_of", lambda *words: "/".join(words)
        )
        assert planned_discovery(path, robot_dir=str(tmp_path)) == {("SYSTEM_DEFAULT", "", "localhost.xml")}
        return
    assert planned_discovery(path) == {("SYSTEM_DEFAULT", "", "localhost.xml")}


@pytest.mark.usefixtures("no_discovery_wish")
def test_discovery_argument_opens_the_nodes_to_other_machines() -> None:
    assert planned_discovery(BRINGUP, discovery="localhost") == {("SYSTEM_DEFAULT", "", "localhost.xml")}
    assert planned_discovery(BRINGUP, discovery="subnet") == {("SUBNET", "", "fast.xml")}
    peers = planned_discovery(BRINGUP, discovery="peers", peers="192.0.2.7;192.0.2.8")
    assert peers == {("LOCALHOST", "192.0.2.7;192.0.2.8", "fast.xml")}
    with pytest.raises(LaunchError, match="subnet"):
        planned_discovery(BRINGUP, discovery="subnets")


@pytest.mark.usefixtures("no_discovery_wish")
def test_discovery_of_the_environment_holds_unless_the_argument_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROS_STATIC_PEERS", "192.0.2.7")
    assert planned_discovery(BRINGUP) == {("LOCALHOST", "192.0.2.7", "fast.xml")}
    assert planned_discovery(BRINGUP, discovery="localhost") == {("SYSTEM_DEFAULT", "", "localhost.xml")}
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    assert planned_discovery(BRINGUP) == {("SUBNET", "192.0.2.7", "fast.xml")}
    monkeypatch.setenv(VARIABLE, "/etc/own.xml")
    assert planned_discovery(BRINGUP) == {("SUBNET", "192.0.2.7", "own.xml")}


@pytest.mark.usefixtures("no_discovery_wish")
def test_another_middleware_is_confined_by_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp")
    assert {reach for reach, _, _ in planned_discovery(BRINGUP)} == {"LOCALHOST"}
    assert with_ros_defaults({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})[DISCOVERY[0]] == "LOCALHOST"


@pytest.mark.usefixtures("no_discovery_wish")
def test_a_profile_of_ones_own_is_kept_and_confined_by_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/etc/own.xml")
    assert planned_discovery(BRINGUP) == {("LOCALHOST", "", "own.xml")}
    made = with_ros_defaults({VARIABLE: "/etc/own.xml"})
    assert (made[DISCOVERY[0]], made[DISCOVERY[2]]) == ("LOCALHOST", "/etc/own.xml")


@pytest.mark.usefixtures("no_discovery_wish")
@pytest.mark.parametrize(("distro", "taken"), [("jazzy", "localhost.xml"), ("kilted", "own.xml")])
def test_a_variable_that_fast_dds_2_does_not_read_leaves_nothing_open(
    distro: str, taken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DISTRO", distro)
    monkeypatch.setenv(NEW_VARIABLE, "/etc/own.xml")
    names = (OLD_VARIABLE,) if distro == "jazzy" else (NEW_VARIABLE,)
    made = with_ros_defaults(dict(os.environ))
    (launched,) = {
        tuple({**os.environ, **spec.environment}[name] for name in names)
        for spec in plan_processes(BRINGUP, {})
    }
    assert [Path(made[name]).name for name in names] == [Path(file).name for file in launched] == [taken]


@pytest.mark.parametrize(
    ("asked", "reach", "profile"),
    [
        ({}, "SYSTEM_DEFAULT", "localhost.xml"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, "SYSTEM_DEFAULT", "localhost.xml"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, "SUBNET", "fast.xml"),
        ({"ROS_STATIC_PEERS": "192.0.2.7"}, "LOCALHOST", "fast.xml"),
    ],
)
def test_commands_choose_the_profile_by_the_same_rule(
    asked: dict[str, str], reach: str, profile: str
) -> None:
    made = with_ros_defaults(asked)
    assert Path(made[VARIABLE]).name == profile
    assert made["ROS_AUTOMATIC_DISCOVERY_RANGE"] == reach


@pytest.mark.parametrize("path", sorted(BRINGUP.parent.glob("*.launch.xml")), ids=lambda path: path.name)
def test_ros_launch_too_leaves_a_refused_node_of_every_launch_file_down(path: Path) -> None:
    """Check what ``refusals.launch.py`` relies on; test/native runs it in ROS's own launch."""
    root = ElementTree.parse(path).getroot()
    again = [node for node in root.iter("node") if node.get("respawn") == "true"]
    if again:
        assert "$(dirname)/discovery.launch.xml" in [one.get("file") for one in root.iter("include")]
    for node in again:
        assert f"--enclave /handiwork/{node.get('name')}" in node.get("ros_args", "")
        assert float(node.get("respawn_delay", "0")) > 0.0, "launch needs the time to handle the end"


def test_only_ros_launch_includes_the_file_in_python() -> None:
    files = [one for one in ElementTree.parse(BRINGUP.parent / "discovery.launch.xml").iter("include")]
    (include,) = files
    assert include.get("file") == "$(dirname)/refusals.launch.py"
    assert include.get("unless") == f"$(var {RUNNER} false)"
    assert (BRINGUP.parent / "refusals.launch.py").is_file()


NODE = '<node pkg="planner_node" exec="planner_node" name="planner_node">{0}</node>'


def test_remappings_and_parameters_of_a_group_reach_its_nodes_alone(tmp_path: Path) -> None:
    file = tmp_path / "some.yaml"
    file.write_text("/**: {ros__parameters: {watchdog_s: 3.0}}\n")
    own = NODE.format('<remap from="a" to="b"/><param name="watchdog_s" value="2.0"/>')
    body = (
        f'<group><set_remap from="/tf" to="tf"/><set_parameters_from_file filename="{file}"/>'
        f'<set_parameter name="watchdog_s" value="1.0"/>'
        f"{own}</group>"
        f"{NODE.format('')}"
    )
    inside, outside = commands(tmp_path, body)
    words = inside[inside.index("--ros-args") + 1 :]
    assert words == (
        *("-r", "__node:=planner_node", "--params-file", str(file)),
        *("-p", "watchdog_s:=1.0", "-p", "watchdog_s:=2.0", "-r", "/tf:=tf", "-r", "a:=b"),
    )
    assert outside[-2:] == ("-r", "__node:=planner_node")


def test_bring_up_takes_a_namespace_and_files_by_path() -> None:
    specs = plan_processes(BRINGUP, {"namespace": "left", "scene_file": "/there/scene.yaml"})
    assert all("__ns:=/left" in spec.command for spec in specs)
    assert any('scene_file:="/there/scene.yaml"' in spec.command for spec in specs)
    assert not any(word.startswith("__ns") for spec in plan_processes(BRINGUP, {}) for word in spec.command)


def test_launch_file_in_python_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "mine.launch.py"
    path.write_text("x")
    with pytest.raises(LaunchError, match="Python; run it by `ros2 launch`"):
        resolve([str(path)])


@pytest.mark.parametrize("words", [[], ["robot:=lift2", "scene_file:=/there/scene.yaml"]])
def test_without_a_file_the_bringup_is_launched(words: list[str]) -> None:
    path, arguments = resolve(words)
    assert path.samefile(BRINGUP)
    assert [f"{name}:={value}" for name, value in arguments.items()] == words
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    assert parser.parse_args(["launch", *words]).words == words


def test_too_many_words_are_refused() -> None:
    with pytest.raises(LaunchError, match=r"cannot read 'a b c'; write \[\[package\] file\] argument:=value"):
        resolve(["a", "b", "c"])
