"""Stacks that one process starts one after the other each lease a DDS domain."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from handiwork_cli.launch_files.model import ProcessSpec
from handiwork_cli.processes.domain import DomainError, lease_free_domain, lease_nodes
from handiwork_cli.stack import stack


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
