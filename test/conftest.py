"""Gives each test run a DDS domain of its own, and finds threads and processes that a test leaves behind."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from handiwork_core.process.dds_profiles import profile_variable
from handiwork_core.process.domain import Lease, lease_free_domain

ROOT = Path(__file__).resolve().parents[1]
LEFT_OVER_GRACE_S = 5.0
NIGHTLY = "HANDIWORK_NIGHTLY"
WITH_STACKS = ("test/system/", "test/nightly/")
WITH_NODES = ("test/node/",)
_LEASE = pytest.StashKey[Lease]()

# On a machine that hangs for half a minute hypothesis would report that a test's data are too slow.
settings.register_profile("busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy machine")


def pytest_configure(config: pytest.Config) -> None:
    """Set the ROS environment before any test module imports rclpy; child processes inherit it."""
    lease = config.stash[_LEASE] = lease_free_domain()
    os.environ["ROS_DOMAIN_ID"] = str(lease.domain_id)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SYSTEM_DEFAULT"
    os.environ[profile_variable(os.environ)] = str(ROOT / "config" / "dds" / "localhost.xml")
    os.environ["FASTDDS_BUILTIN_TRANSPORTS"] = "UDPv4"
    os.environ.pop("ROS_LOCALHOST_ONLY", None)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the lease of the domain id."""
    config.stash[_LEASE].close()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave modules and tests out of Python's collections of garbage: nearly all of them stay until the run ends.

    While they grow to half a million objects, collections of garbage take a quarter of the processor time in which each
    worker collects the tests, and every later one would look at all these objects again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip nightly tests in the daytime, and order the rest.

    The tests with stacks come first, then those with nodes: one process runs all stacks, and ends last else.
    """
    for item in items:
        if item.nodeid.startswith("test/nightly/"):
            item.add_marker(pytest.mark.nightly)
        if item.get_closest_marker("nightly") and not os.environ.get(NIGHTLY):
            item.add_marker(pytest.mark.skip(reason=f"takes long: set {NIGHTLY}=1 to run it"))
    items.sort(
        key=lambda item: (not item.nodeid.startswith(WITH_STACKS), not item.nodeid.startswith(WITH_NODES))
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker more than there are cores for ``--numprocesses=auto``: tests of nodes wait most of the time.

    ``--numprocesses=logical`` means as many as cores.
    """
    return len(os.sched_getaffinity(0)) + (config.option.numprocesses == "auto")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give parallel workers whole files, and one of them all that starts stacks, as two stacks starve each other.

    Tests of single nodes wait most of the time, each worker in a domain of its own: they disturb a stack less than
    the pure tests do, which keep a core busy.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "stacks" if nodeid.startswith(WITH_STACKS) else nodeid.split("::")[0]

    return Scheduling(config, log)


def pytest_report_header() -> str:
    """Show the domain id, which helps when a run hangs."""
    return f"ROS_DOMAIN_ID: {os.environ['ROS_DOMAIN_ID']}"


def child_pids() -> set[int]:
    """Return the child processes of all threads of this process that have not ended."""
    alive: set[int] = set()
    for tasks in Path("/proc/self/task").iterdir():
        try:
            children = {int(pid) for pid in (tasks / "children").read_text().split()}
        except FileNotFoundError:  # the thread has ended meanwhile
            continue
        alive |= {pid for pid in children if not is_zombie(pid)}
    return alive


def is_zombie(pid: int) -> bool:
    """Check whether a process has ended, so that only its exit status is left.

    Args:
        pid: Its process id.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def name_process(pid: int) -> str:
    """Return the command line of a process for a message.

    Args:
        pid: Its process id.
    """
    try:
        return f"{pid} ({Path(f'/proc/{pid}/cmdline').read_text().replace(chr(0), ' ').strip()})"
    except (FileNotFoundError, ProcessLookupError):
        return str(pid)


def left_over(threads: set[threading.Thread], pids: set[int]) -> list[str]:
    """Name the threads and processes that are alive now and were not before; daemon threads may stay.

    Args:
        threads: Threads before the test.
        pids: Child processes before the test.
    """
    new_threads = [t for t in threading.enumerate() if t not in threads and not t.daemon]
    return [f"thread {t.name}" for t in new_threads] + [
        f"process {name_process(pid)}" for pid in child_pids() - pids
    ]


@pytest.fixture
def nothing_left_over() -> Iterator[None]:
    """Fail the test that leaves a thread or a child process behind; they have a moment to end."""
    threads, pids = set(threading.enumerate()), child_pids()
    yield
    deadline = time.monotonic() + LEFT_OVER_GRACE_S
    while left_over(threads, pids) and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    left = left_over(threads, pids)
    if left:
        pytest.fail(f"left over after the test: {', '.join(left)}")
