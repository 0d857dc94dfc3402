"""Permissions are made for each process and for its robot, and the table has no unread keys."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from handiwork_cli.cli import main
from handiwork_cli.commands.stack.security import TABLE
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.security.interfaces import load_table, nodes_of
from handiwork_cli.security.policy import policy_text
from handiwork_cli.stack.demo_cells import robot_of
from handiwork_core.config.dataclass_loader import ConfigError
from support.navigated import navigated_robot

SOURCE = share_of("handiwork_bringup") / TABLE


def enclaves(robot: str) -> dict[str, Xml.Element]:
    """Return the enclaves of a robot's policy by their paths.

    Args:
        robot: Name of the robot.
    """
    root = Xml.fromstring(policy_text(nodes_of(load_table(SOURCE), robot_of(robot))))
    return {enclave.attrib["path"]: enclave for enclave in root.iter("enclave")}


def allowed(enclave: Xml.Element, group: str, right: str) -> set[str]:
    """Return the names that an enclave allows.

    Args:
        enclave: The enclave.
        group: topics, services or actions.
        right: Attribute of the group.
    """
    return {item.text or "" for found in enclave.iter(group) if right in found.attrib for item in found}


def test_the_skill_server_may_command_the_arm_and_a_client_may_not() -> None:
    found = enclaves("fr3")
    arm = "/fr3_arm_controller/follow_joint_trajectory"
    assert arm in allowed(found["/handiwork/skill_server"], "actions", "call")
    assert arm not in allowed(found["/handiwork/client"], "actions", "call")
    assert allowed(found["/handiwork/client"], "actions", "call") == {
        "/pick",
        "/place",
        "/run_skill",
        "/run_task",
        "/execute_plan",
    }


def test_only_the_simulation_and_perception_may_publish_the_world() -> None:
    publishers = {
        path for path, e in enclaves("fr3").items() if "/world/objects" in allowed(e, "topics", "publish")
    }
    assert publishers == {"/handiwork/sim_bridge", "/handiwork/perception_bridge"}


def test_a_suction_arm_gets_the_rights_of_its_cup_and_no_gripper() -> None:
    server = enclaves("ur10_suction")["/handiwork/skill_server"]
    assert any(name.endswith("/set_suction") for name in allowed(server, "services", "request"))
    assert not any("gripper_cmd" in name for name in allowed(server, "actions", "call"))


def test_the_recorder_reads_everything_and_commands_nothing() -> None:
    recorder = enclaves("fr3")["/handiwork/recorder"]
    assert allowed(recorder, "topics", "subscribe") == {"/*"}
    assert allowed(recorder, "topics", "publish") == {"/parameter_events"}
    assert not allowed(recorder, "services", "request") | allowed(recorder, "actions", "call")


def test_the_page_may_command_the_simulation_and_no_controller() -> None:
    page = enclaves("fr3")["/handiwork/view"]
    assert "/sim/set_object_pose" in allowed(page, "services", "request")
    assert not any("controller" in name for name in allowed(page, "actions", "call"))


def test_both_nodes_of_a_process_are_in_its_enclave() -> None:
    server = enclaves("fr3")["/handiwork/skill_server"]
    assert [p.attrib["node"] for p in server.iter("profile")] == ["skill_server", "skill_server_actions"]


def test_a_misspelt_key_of_the_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "interfaces.yaml"
    path.write_text(SOURCE.read_text(encoding="utf-8").replace("executes:", "excutes:"), encoding="utf-8")
    with pytest.raises(ConfigError, match="excutes"):
        load_table(path)


def test_the_command_writes_the_policy_and_names_what_a_keystore_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.xml"
    assert main(["security", str(policy)]) == 0
    assert Xml.parse(policy).getroot().attrib["version"] == "0.2.0"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["security", str(policy), "--keystore", str(tmp_path / "keys")]) == 1
    assert "ros-jazzy-sros2" in capsys.readouterr().err


def test_the_skill_server_may_send_goals_to_the_server_that_drives_the_base() -> None:
    text = policy_text(nodes_of(load_table(SOURCE), navigated_robot()))
    found = {one.attrib["path"]: one for one in Xml.fromstring(text).iter("enclave")}
    assert "/navigate_to_pose" in allowed(found["/handiwork/skill_server"], "actions", "call")
    own = enclaves("fr3_mobile")["/handiwork/skill_server"]
    assert "/navigate_to_pose" not in allowed(own, "actions", "call")
