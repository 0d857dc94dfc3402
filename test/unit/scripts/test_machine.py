"""The set-up must refuse an unsuitable machine in one sentence that names the remedy."""

from __future__ import annotations

import collections
import importlib
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support.paths import ROOT

SCRIPTS = ROOT / "scripts"
Version = collections.namedtuple("Version", ["major", "minor", "micro"])


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("machine")


def test_this_machine_runs_the_tests_and_so_passes(machine: ModuleType) -> None:
    machine.check_platform()
    machine.check_tools()


@pytest.mark.parametrize("version", [(3, 9, 0), (3, 14, 1)])
def test_a_python_without_wheels_is_named(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(sys, "version_info", Version(*version))
    with pytest.raises(machine.Missing, match=r"3\.10, 3\.11, 3.12 or 3.13"):
        machine.check_python()


def test_a_missing_venv_module_is_named(machine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    with pytest.raises(machine.Missing, match="python3-venv"):
        machine.check_python()


@pytest.mark.parametrize("tool", ["g++", "make"])
def test_a_missing_tool_is_named(machine: ModuleType, monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else f"/usr/bin/{name}")
    with pytest.raises(machine.Missing, match=tool.replace("+", r"\+")):
        machine.check_tools()


def test_another_processor_is_named(machine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.platform, "machine", lambda: "aarch64")
    with pytest.raises(machine.Missing, match="aarch64"):
        machine.check_platform()


@pytest.mark.parametrize("version", ["glibc 2.27", ""])
def test_an_old_or_other_c_library_is_refused(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(machine.os, "confstr", lambda name: version)
    with pytest.raises(machine.Missing, match=r"glibc 2\.28"):
        machine.check_platform()


def test_a_full_disk_is_named(machine: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1_200_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(machine.Missing, match=r"1\.2 GB free"):
        machine.check_disk(tmp_path)
