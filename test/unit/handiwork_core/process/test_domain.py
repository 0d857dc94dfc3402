"""Leases of domains and node names are in a folder that no other user can write to, and name their holder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from handiwork_core.process import domain
from handiwork_core.process.domain import (
    DomainError,
    NameHeldError,
    lease_domain,
    lease_free_domain,
    lease_node,
    lease_nodes,
    runtime_folder,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a runtime folder of the test's own."""
    path = tmp_path / "run"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(path))
    return path


@pytest.fixture
def no_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Remove the runtime folder; return the folder for temporary files."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if Path(f"/run/user/{os.getuid()}").exists():
        pytest.skip("this user has a runtime folder")
    return tmp_path


def test_each_run_gets_a_domain_of_its_own(folder: Path) -> None:
    with lease_free_domain() as one, lease_free_domain() as other:
        assert one.domain_id != other.domain_id
        taken = one.domain_id
    with lease_free_domain() as again:
        assert again.domain_id == taken


def test_the_users_domain_is_taken_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "142")
    with lease_domain() as lease:
        assert lease.domain_id == 142


@pytest.mark.parametrize("text", ["-1", "233", "one", "1.5"])
def test_a_domain_that_is_none_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", text)
    with pytest.raises(DomainError, match="0 to 232"):
        lease_domain()


@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_planted_link_is_not_followed(folder: Path, tmp_path: Path, target: str) -> None:
    victim = tmp_path / target
    if target == "there":
        victim.write_text("precious")
    (folder / f"handiwork_domain_{domain.DOMAIN_IDS.start}.lock").symlink_to(victim)
    with pytest.raises(DomainError, match="remove it"):
        lease_free_domain()
    assert not victim.exists() or victim.read_text() == "precious"


@pytest.mark.parametrize("kind", ["fifo", "folder", "hard link"])
def test_what_is_no_file_of_ours_is_no_lease(folder: Path, tmp_path: Path, kind: str) -> None:
    path = folder / f"handiwork_domain_{domain.DOMAIN_IDS.start}.lock"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        victim = tmp_path / "victim"
        victim.write_text("precious")
        path.hardlink_to(victim)
    with pytest.raises(DomainError, match="remove it"):
        lease_free_domain()
    if kind == "hard link":
        assert victim.read_text() == "precious"


def test_lease_files_are_for_this_user_alone(folder: Path) -> None:
    with lease_free_domain(), lease_nodes(0, ["/a"]):
        for path in folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_runtime_folder_one_is_made_for_this_user_alone(no_runtime: Path) -> None:
    path = runtime_folder()
    assert path.parent == no_runtime
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert runtime_folder() == path


@pytest.mark.parametrize("what", ["open to others", "a link", "a file"])
def test_a_planted_runtime_folder_is_refused(no_runtime: Path, what: str) -> None:
    path = no_runtime / f"handiwork-{os.getuid()}"
    if what == "open to others":
        path.mkdir()
        path.chmod(0o755)
    elif what == "a link":
        (no_runtime / "elsewhere").mkdir(mode=0o700)
        path.symlink_to(no_runtime / "elsewhere")
    else:
        path.write_text("")
    with pytest.raises(DomainError, match="XDG_RUNTIME_DIR"):
        lease_free_domain()
    assert not (no_runtime / "elsewhere").exists() or not list((no_runtime / "elsewhere").iterdir())


def test_a_runtime_folder_that_others_may_write_to_is_not_used(
    folder: Path, no_runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    assert runtime_folder() == no_runtime / f"handiwork-{os.getuid()}"


def test_the_second_of_two_equal_names_in_a_domain_is_refused_with_the_holders_pid(folder: Path) -> None:
    with lease_nodes(7, ["/sim_bridge", "/skill_server"]):
        with pytest.raises(DomainError) as refused:
            lease_nodes(7, ["/other", "/skill_server"])
        for part in ("/skill_server", "domain 7", str(os.getpid()), "ROS_DOMAIN_ID"):
            assert part in str(refused.value)
        lease_nodes(8, ["/skill_server"]).close()
        lease_nodes(7, ["/lab/skill_server"]).close()
        lease_nodes(7, ["/other"]).close()
    lease_nodes(7, ["/skill_server"]).close()


def test_a_domain_in_which_nodes_were_launched_is_not_free(folder: Path) -> None:
    first = domain.DOMAIN_IDS.start
    with lease_nodes(first, ["/sim_bridge"]), lease_free_domain() as lease:
        assert lease.domain_id == first + 1


def test_a_run_may_launch_nodes_in_the_domain_that_it_leased(folder: Path) -> None:
    with lease_free_domain() as lease, lease_nodes(lease.domain_id, ["/sim_bridge"]):
        pass


@pytest.mark.processes
def test_a_lease_ends_with_its_process(folder: Path) -> None:
    code = "from handiwork_core.process.domain import lease_nodes; l = lease_nodes(7, ['/a']); print('held'); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(DomainError, match=f"the pid {child.pid}"):
            lease_nodes(7, ["/a"])
    finally:
        child.kill()
        child.communicate()
    lease_nodes(7, ["/a"]).close()


@pytest.mark.processes
def test_a_running_node_holds_its_name_beside_the_run_that_launched_it(folder: Path) -> None:
    code = "from handiwork_core.process.domain import lease_node; l = lease_node(7, '/lab/a'); print('held'); input()"
    with lease_nodes(7, ["/lab/a"]):
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"held\n"
            with pytest.raises(NameHeldError, match=f"as pid {child.pid} on "):
                lease_node(7, "/lab/a")
            lease_node(7, "/a").close()
            lease_node(8, "/lab/a").close()
        finally:
            child.kill()
            child.communicate()
        lease_node(7, "/lab/a").close()
