"""Files that other processes name: regular ones only, bounded, below the roots, and without hints on other files."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError, read_yaml
from handiwork_core.intake.regular_files import DataRoots, FileRefused, read_bytes


def refusal(roots: DataRoots, name: str) -> str:
    with pytest.raises(FileRefused) as caught:
        roots.locate(name)
    return str(caught.value).replace(repr(name), "NAME")


def test_missing_forbidden_and_foreign_files_are_refused_alike(tmp_path: Path) -> None:
    roots = DataRoots.of([tmp_path / "data"])
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "secret.npy").write_bytes(b"x")
    (data / "locked.npy").write_bytes(b"x")
    (data / "locked.npy").chmod(0)
    (data / "link.npy").symlink_to(tmp_path / "secret.npy")
    (data / "folder").mkdir()
    os.mkfifo(data / "pipe.npy")
    names = [
        "/etc/passwd",
        "/etc/absent",
        "/dev/zero",
        "/proc/self/fd/1",
        "/proc/self/environ",
        "../secret.npy",
    ]
    names += [
        str(tmp_path / "secret.npy"),
        "absent.npy",
        "link.npy",
        "folder",
        "pipe.npy",
        "a\0b",
        "x" * 5_000,
    ]
    names += [] if os.access(data / "locked.npy", os.R_OK) else ["locked.npy"]
    said = {refusal(roots, name) for name in names if len(name) <= 200}
    assert len(said) == 1
    assert "the parameter data_roots" in said.pop()
    assert len(refusal(roots, "x" * 5_000)) < 1_000


def test_files_below_the_roots_are_found(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    (second / "deep").mkdir(parents=True)
    first.mkdir()
    (second / "deep" / "rows.npy").write_bytes(b"rows")
    (first / "link.npy").symlink_to(second / "deep" / "rows.npy")
    roots = DataRoots.of([first, "", second, first])
    assert roots.folders == (first, second)
    whole = second / "deep" / "rows.npy"
    for name in ("deep/rows.npy", str(whole), "link.npy", "deep/../deep/rows.npy"):
        assert roots.locate(name) == whole
    assert refusal(DataRoots(()), str(whole))


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    said: list[str] = []

    def read() -> None:
        with pytest.raises(ConfigError) as caught:
            read_yaml(tmp_path / "pipe.yaml")
        said.append(str(caught.value))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(30.0)
    assert said == [f"{tmp_path}/pipe.yaml: is not a regular file; name one"]


def test_what_never_ends_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="not a regular file"):
        read_bytes(Path("/dev/zero"), 1_000)
    (tmp_path / "large").write_bytes(bytes(1_001))
    with pytest.raises(FileRefused, match="has 1001 bytes; at most 1000 are read"):
        read_bytes(tmp_path / "large", 1_000)
    assert read_bytes(tmp_path / "large", 1_001) == bytes(1_001)
