"""Python's C headers are found, fetched without root, or named with the remedy."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from support.paths import ROOT

SCRIPTS = ROOT / "scripts"


@pytest.fixture
def headers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("python_headers")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a Python below /usr whose folder of headers does not exist."""
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: "/usr/include/python-without-headers")


def test_own_headers_need_nothing(
    headers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    assert headers.find_headers(tmp_path / "build") == []


def test_without_apt_the_mend_is_named(
    headers: ModuleType, bare: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _tool: None)
    with pytest.raises(headers.Missing, match="apt install python3-dev"):
        headers.find_headers(tmp_path / "build")


def test_what_apt_said_is_told(
    headers: ModuleType, bare: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*command: str, folder: Path) -> None:
        raise subprocess.CalledProcessError(100, command, stderr="E: no package\n")

    monkeypatch.setattr(shutil, "which", lambda tool: tool)
    monkeypatch.setattr(headers, "run", fail)
    with pytest.raises(headers.Missing, match=r"\(E: no package\).*apt install python3-dev"):
        headers.find_headers(tmp_path / "build")


def test_fetched_headers_are_kept(
    headers: ModuleType, bare: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[str, ...]] = []

    def fetch(*command: str, folder: Path) -> None:
        asked.append(command)
        include = folder / "usr" / "include" / "python-without-headers"
        include.mkdir(parents=True, exist_ok=True)
        (include / "Python.h").touch()

    monkeypatch.setattr(shutil, "which", lambda tool: tool)
    monkeypatch.setattr(headers, "run", fetch)
    usr = tmp_path / "usr" / "include"
    for _ in range(2):
        assert headers.find_headers(tmp_path) == [usr / "python-without-headers", usr]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert asked == [("apt-get", "download", f"libpython{version}-dev")]
