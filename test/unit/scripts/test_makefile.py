"""What the Makefile keeps from the environment of its user."""

from __future__ import annotations

import os
import subprocess

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.processes

SHOW = "show-environment: ; @env"


def test_modules_are_compiled_once_and_not_at_each_start_of_a_node() -> None:
    given = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    command = ["make", "--no-print-directory", f"--eval={SHOW}", "show-environment"]
    shown = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=True).stdout
    assert "PYTHONUNBUFFERED=1" in shown  # the rest of the environment passes
    assert "PYTHONDONTWRITEBYTECODE" not in shown
