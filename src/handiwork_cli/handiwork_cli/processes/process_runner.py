"""Runs and supervises processes: own groups, prefixed output, respawn, end of silent ones, no orphans."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from handiwork_cli.launch_files.model import ProcessSpec
from handiwork_core.process.service_notify import ServiceNotifier

from .process_watch import ProcessWatch, without_supervisor
from .refusals import ADVICE, Refusals

POLL_S = 0.05
"""The longest time until the end of a process is detected, s."""

SILENT_SIGKILL_S = 2.0
"""The time from SIGTERM to SIGKILL for a silent process, s: one that is stopped reacts to SIGKILL only."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class _Child:
    spec: ProcessSpec
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    refusals: Refusals = field(default_factory=Refusals)
    start_at: float = 0.0
    rest: dict[int, bytes] = field(default_factory=dict)
    done: bool = False
    silent_since: float | None = None


class ProcessRunner:
    """Starts processes and supervises them in ``run``.

    Each is the leader of its own process group; the group gets SIGINT, then SIGTERM, then SIGKILL. When the
    runner itself dies, even by SIGKILL, the kernel kills its children. A process that reports by sd_notify, as every
    Handiwork node does, is ended when its reports cease, and started again if it respawns. The runner reports to its
    own supervisor in the same way.

    Args:
        specs: The processes.
        environment: Environment of the processes; None takes that of this process.
        write: Receives each line of output.
    """

    def __init__(
        self,
        specs: Sequence[ProcessSpec],
        *,
        environment: Mapping[str, str] | None = None,
        write: Callable[[str], None] = print,
    ) -> None:
        self._children = {spec.label: _Child(spec) for spec in specs}
        self._watch, self._notifier, self._reported_s = ProcessWatch(), ServiceNotifier(), float("-inf")
        inherited = without_supervisor(dict(os.environ if environment is None else environment))
        self._environment = {**inherited, **self._watch.environment()}
        self._write = write
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._watch, selectors.EVENT_READ, None)
        self._stop = threading.Event()
        self._stopping_since: float | None = None
        self._failed = False

    def request_stop(self) -> None:
        """Ask for an orderly stop; signal handlers and other threads may call this."""
        self._stop.set()

    def pid(self, label: str) -> int | None:
        """Return the process id of a running process; None while it is not running.

        Args:
            label: Label of the process.
        """
        process = self._children[label].process
        return None if process is None else process.pid

    def run(self) -> int:
        """Run all processes to their end.

        Returns:
            0 when all ended well or by ``request_stop``; 1 when a required one ended by itself or one failed for good.
        """
        self._notifier.send("READY=1")
        try:
            while not all(child.done for child in self._children.values()):
                if self._stop.is_set() and self._stopping_since is None:
                    self._begin_stop()
                for child in self._children.values():
                    self._look_after(child)
                self._forward_output(POLL_S)
                self._report()
        finally:
            self._kill_groups(signal.SIGKILL)
            self._selector.close()
            self._watch.close()
            self._notifier.close()
        return int(self._failed)

    def _look_after(self, child: _Child) -> None:
        if child.done:
            return
        now = time.monotonic()
        if child.process is None:
            if self._stopping_since is not None:
                child.done = True
            elif now >= child.start_at:
                self._start(child)
        elif child.process.poll() is not None:
            self._ended(child, child.process)
        elif self._stopping_since is not None:
            self._escalate(child, child.process, now - self._stopping_since)
        else:
            self._end_if_silent(child, child.process, now)

    def _end_if_silent(self, child: _Child, process: subprocess.Popen[bytes], now: float) -> None:
        silence_s = self._watch.silence_s(process.pid)
        if child.silent_since is None and silence_s is not None:
            child.silent_since = now
            self._write(f"[{child.spec.label}] has been silent for {silence_s:.1f} s; ending it")
            _signal_group(process.pid, signal.SIGTERM)
        elif child.silent_since is not None and now - child.silent_since > SILENT_SIGKILL_S:
            _signal_group(process.pid, signal.SIGKILL)

    def _report(self) -> None:
        """Report to the runner's own supervisor."""
        period_s = 0.5 * (self._notifier.limit_s or 2.0)
        if time.monotonic() - self._reported_s > period_s:
            self._reported_s = time.monotonic()
            self._notifier.send("WATCHDOG=1")

    def _start(self, child: _Child) -> None:
        parent = os.getpid()

        def tie_to_parent() -> None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            # A background job of a shell ignores SIGINT, and so would its children.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        try:
            child.process = subprocess.Popen(
                child.spec.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**self._environment, **child.spec.environment},
                cwd=child.spec.cwd,
                start_new_session=True,
                preexec_fn=tie_to_parent,
            )
        except OSError as error:
            self._write(f"[{child.spec.label}] cannot be started: {error}")
            child.done, self._failed = True, True
            self._stop.set()
            return
        assert child.process.stdout is not None
        self._watch.add(child.process.pid)
        child.silent_since = None
        os.set_blocking(child.process.stdout.fileno(), False)
        self._selector.register(child.process.stdout, selectors.EVENT_READ, child)

    def _ended(self, child: _Child, process: subprocess.Popen[bytes]) -> None:
        spec, code = child.spec, process.returncode
        self._drain(child, process)
        self._watch.remove(process.pid)
        _signal_group(process.pid, signal.SIGKILL)  # other processes of the group
        child.process = None
        if self._stopping_since is not None:
            child.done = True
            return
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        is_refused = child.refusals.ends_with(code)
        if spec.respawn and is_refused:
            how += f"; {ADVICE}"
        elif spec.respawn and (spec.respawn_limit < 0 or child.restarts < spec.respawn_limit):
            child.restarts += 1
            child.start_at = time.monotonic() + spec.respawn_delay_s
            self._write(f"[{spec.label}] ended ({how}); starting it again in {spec.respawn_delay_s:g} s")
            return
        child.done = True
        self._failed = self._failed or spec.required or code != 0
        self._write(
            f"[{spec.label}] ended ({how})" + ("; it is required, stopping all" if spec.required else "")
        )
        if spec.required:
            self._stop.set()

    def _begin_stop(self) -> None:
        self._stopping_since = time.monotonic()
        self._notifier.send("STOPPING=1")
        self._kill_groups(signal.SIGINT)

    def _escalate(self, child: _Child, process: subprocess.Popen[bytes], waited_s: float) -> None:
        if waited_s > child.spec.sigterm_after_s + child.spec.sigkill_after_s:
            _signal_group(process.pid, signal.SIGKILL)
        elif waited_s > child.spec.sigterm_after_s:
            _signal_group(process.pid, signal.SIGTERM)

    def _kill_groups(self, number: signal.Signals) -> None:
        for child in self._children.values():
            if child.process is not None:
                _signal_group(child.process.pid, number)

    def _forward_output(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                self._watch.receive()
            else:
                self._read(key.data, key.fd, key.fileobj)

    def _read(self, child: _Child, fd: int, stream: object) -> bool:
        """Forward the available output; return False at the end of the stream."""
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return False
        *lines, rest = (child.rest.pop(fd, b"") + data).split(b"\n")
        if not data:
            self._selector.unregister(stream)  # type: ignore[arg-type]
            lines = [rest] if rest else []
        else:
            child.rest[fd] = rest
        for line in lines:
            self._write(f"[{child.spec.label}] {line.decode(errors='replace')}")
        return bool(data)

    def _drain(self, child: _Child, process: subprocess.Popen[bytes]) -> None:
        stream = process.stdout
        assert stream is not None
        while stream in self._selector.get_map() and self._read(child, stream.fileno(), stream):
            pass
        if stream in self._selector.get_map():
            self._selector.unregister(stream)
        for fd in list(child.rest):
            rest = child.rest.pop(fd)
            if rest:
                self._write(f"[{child.spec.label}] {rest.decode(errors='replace')}")
        stream.close()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)
