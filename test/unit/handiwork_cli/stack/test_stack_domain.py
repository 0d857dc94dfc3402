"""Stacks that one process starts one after the other each lease a DDS domain."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from handiwork_cli.cli import main
from handiwork_cli.launch_files.model import ProcessSpec, node_names
from handiwork_cli.stack import stack
from handiwork_core.process.domain import DomainError, lease_free_domain, lease_nodes


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, "ProcessRunner", MagicMock())
    specs = [ProcessSpec("skill_server", ("skill_server",))]
    monkeypatch.setattr(stack, "plan_processes", lambda *_: specs)
    client = SimpleNamespace(SkillClient=MagicMock())
    monkeypatch.setitem(sys.modules, "handiwork_ros.clients.skill_client", client)
    monkeypatch.setattr(os, "environ", {**os.environ})


def test_a_later_stack_leases_a_domain_of_its_own(no_processes: None) -> None:
    os.environ.pop("ROS_DOMAIN_ID", None)
    with stack.Stack({}):
        pass
    with lease_free_domain() as other, stack.Stack({}):  # another run on this machine starts between both
        assert os.environ["ROS_DOMAIN_ID"] != str(other.domain_id)


def test_the_users_domain_is_taken_and_stays(no_processes: None) -> None:
    os.environ["ROS_DOMAIN_ID"] = "77"
    with stack.Stack({}):
        assert os.environ["ROS_DOMAIN_ID"] == "77"
    assert os.environ["ROS_DOMAIN_ID"] == "77"


def test_a_stack_beside_another_one_in_the_users_domain_is_refused(no_processes: None) -> None:
    os.environ["ROS_DOMAIN_ID"] = "177"
    with (
        lease_nodes(177, ["/skill_server"]),
        pytest.raises(DomainError, match="/skill_server"),
        stack.Stack({}),
    ):
        pass
    with stack.Stack({}):
        pass


def test_names_of_nodes_carry_their_namespaces() -> None:
    specs = [
        ProcessSpec("skill_server", ("skill_server", "--ros-args")),
        ProcessSpec("sim_bridge", ("sim_bridge", "--ros-args", "-r", "__ns:=/lab")),
    ]
    assert node_names(specs) == ("/skill_server", "/lab/sim_bridge")


def test_a_second_launch_is_refused_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    monkeypatch.setenv("ROS_DOMAIN_ID", "142")
    with lease_nodes(142, ["/skill_server"]):
        assert main(["launch", "handiwork_bringup", "bringup.launch.xml"]) == 2
    printed = capsys.readouterr()
    assert str(os.getpid()) in printed.err
    assert not printed.out
