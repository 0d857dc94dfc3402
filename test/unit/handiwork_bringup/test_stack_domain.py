"""Stacks that one process starts one after the other each lease a DDS domain."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from handiwork_bringup import stack
from handiwork_bringup.domain import lease_domain_id


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, "ProcessRunner", MagicMock())
    monkeypatch.setattr(stack, "plan_processes", MagicMock())
    client = SimpleNamespace(SkillClient=MagicMock())
    monkeypatch.setitem(sys.modules, "handiwork_ros.skill_client", client)
    monkeypatch.setattr(os, "environ", {**os.environ})


def test_a_later_stack_leases_a_domain_of_its_own(no_processes: None) -> None:
    os.environ.pop("ROS_DOMAIN_ID", None)
    with stack.Stack({}):
        pass
    taken, lease = lease_domain_id()  # another run of this machine comes between
    assert lease is not None
    with lease, stack.Stack({}):
        assert os.environ["ROS_DOMAIN_ID"] != str(taken)


def test_the_users_domain_is_taken_and_stays(no_processes: None) -> None:
    os.environ["ROS_DOMAIN_ID"] = "77"
    with stack.Stack({}):
        assert os.environ["ROS_DOMAIN_ID"] == "77"
    assert os.environ["ROS_DOMAIN_ID"] == "77"
