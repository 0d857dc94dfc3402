"""Folders for logs and kernels are found if HOME is read-only; folders planted by other users are not used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handiwork_core.process.kernel_cache import chosen_folder
from handiwork_core.process.writable_folders import cache_folder, choose_log_folder

READ_ONLY = "/dev/null/home"
"""No user can write below a file, not even root."""


def test_the_named_folder_goes_first_and_the_users_own_before_shared_ones(tmp_path: Path) -> None:
    environment = {"HANDIWORK_CACHE_DIR": str(tmp_path / "named"), "HOME": str(tmp_path / "home")}
    shared = (tmp_path,)
    assert cache_folder(environment, shared) == tmp_path / "named" / "handiwork"
    assert cache_folder({**environment, "HANDIWORK_CACHE_DIR": READ_ONLY}, shared) == (
        tmp_path / "home" / ".cache" / "handiwork"
    )
    assert cache_folder({"HOME": READ_ONLY}, shared) == tmp_path / f"handiwork-{os.getuid()}"
    assert cache_folder({"HOME": READ_ONLY}, shared) == cache_folder({"HOME": READ_ONLY}, shared)
    assert cache_folder({"HOME": READ_ONLY}, (Path(READ_ONLY),)) is None


@pytest.mark.parametrize("plant", ["link", "file", "open folder"])
def test_what_somebody_else_may_have_planted_in_a_shared_folder_is_not_taken(
    tmp_path: Path, plant: str
) -> None:
    place = tmp_path / f"handiwork-{os.getuid()}"
    if plant == "link":
        (tmp_path / "target").mkdir()
        place.symlink_to(tmp_path / "target")
    elif plant == "file":
        place.touch()
    else:
        place.mkdir()
        place.chmod(0o777)
    assert cache_folder({"HOME": READ_ONLY}, (tmp_path,)) is None


def test_logs_stay_where_ros_has_them_unless_that_is_read_only(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert choose_log_folder(home) == (tmp_path / ".ros" / "log", "")
    assert choose_log_folder({**home, "ROS_HOME": str(tmp_path / "r")})[0] == tmp_path / "r" / "log"
    assert choose_log_folder({**home, "ROS_LOG_DIR": str(tmp_path / "l")})[0] == tmp_path / "l"
    folder, text = choose_log_folder({"HOME": READ_ONLY, "HANDIWORK_CACHE_DIR": str(tmp_path)})
    assert folder == tmp_path / "handiwork" / "log"
    assert "/dev/null/home/.ros/log is read-only" in text
    assert str(folder) in text


def test_kernels_are_kept_at_the_same_place_at_each_start(tmp_path: Path) -> None:
    sources = tmp_path / "package"
    sources.mkdir()
    assert chosen_folder(sources, {"HOME": READ_ONLY}) == ("", "")
    environment = {"HOME": READ_ONLY, "HANDIWORK_CACHE_DIR": str(tmp_path / "cache")}
    assert chosen_folder(Path(READ_ONLY), {"HOME": str(tmp_path)}) == ("", "")
    assert chosen_folder(Path(READ_ONLY), {"HOME": READ_ONLY, "NUMBA_CACHE_DIR": "/x"}) == ("", "")
    folder, text = chosen_folder(Path(READ_ONLY), environment)
    assert folder == str(tmp_path / "cache" / "handiwork" / "numba")
    assert folder in text
    assert chosen_folder(Path(READ_ONLY), environment) == (folder, text)
