"""The bond to one node: its DDS writer, the liveliness of that writer, and other claimants of its name. Without ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from handiwork_ros.rclpy_support.silence_limits import (
    GIVE_UP_SILENCE_S,
    SILENCE_S,
    silence_limit_s,
)

from .bond_events import BondEvent, BondWriter, EventKind, Loss, ProcessEnd, Sample, Sign
from .writer_sequence import Origin, WriterSequence

ABSENT_S = 1.0
"""The time after which a writer that the graph does not list has left, s."""

UNNAMED_S = 2.0
"""The time after which a writer of an unknown node is a stranger, s; its first message may precede its node's name."""

CANDIDATES = 16
"""The largest number of unknown writers that are remembered at a time."""


class Bond:
    """Follows one writer. Not thread-safe."""

    def __init__(self, name: str, watch_process: Callable[[int, str], ProcessEnd]) -> None:
        """Begin without a writer.

        Args:
            name: Name of the node, without its namespace.
            watch_process: Makes the watch of a process id within a process space.
        """
        self._name, self._watch_process = name, watch_process
        self.sign: Sign | None = None
        self.loss = Loss.NONE
        self.reason = ""
        """The reason why the writer is lost; empty while it is alive."""
        self._numbers = WriterSequence(0, 0)
        self._delay_s = 0.0
        self._listed_s = 0.0
        self._process: ProcessEnd | None = None
        self._candidates: dict[bytes, tuple[float, Sample]] = {}
        self._named: set[bytes] = set()

    def receive(
        self, sample: Sample, now_s: float, writers: Callable[[], Iterable[BondWriter]]
    ) -> list[BondEvent]:
        """Process a message.

        Args:
            sample: The message.
            now_s: Steady time, s.
            writers: Returns the writers of the topic in the graph.

        Returns:
            The changes that the message causes.
        """
        sign = self.sign
        if sign is None or sample.gid != sign.gid:
            return self._consider(sample, now_s, tuple(writers()))
        if self._process is not None and self._process.has_ended:
            is_last = all(writer.gid == sign.gid for writer in writers())  # it was under way at the end
            what = "repeats the identity of a process that has ended"
            return [] if is_last else self._intrude(sample, what)
        origin = self._numbers.origin(sample.sequence, sample.source_ns, now_s - sign.heard_s)
        if origin is Origin.AGAIN:
            return []
        if origin is Origin.OTHER and len(tuple(writers())) > 1:
            return self._intrude(sample, "repeats the identity of the true one")
        if origin is Origin.OTHER:  # there is no other writer
            self._numbers = WriterSequence(sample.sequence, sample.source_ns)
        if origin is Origin.DOUBTFUL:
            sample = replace(sample, state=sign.state, message=sign.message, is_leaving=False)
        return self._accept(sample, now_s)

    def look(
        self,
        now_s: float,
        delay_s: float,
        writers: Callable[[], Iterable[BondWriter]],
        alive_writers: int | None,
    ) -> list[BondEvent]:
        """Judge the liveness of the writer. Only a process that was not delayed itself may call this.

        Args:
            now_s: Steady time, s.
            delay_s: Scheduling delay of this process, s.
            writers: Returns the writers of the topic in the graph.
            alive_writers: Number of writers that DDS holds for alive; None if DDS does not report it.

        Returns:
            The changes that were found.
        """
        events = self.check_process()
        listed = tuple(writers())
        if self.sign is not None and self.loss is not Loss.GONE:
            events += self._judge(self.sign, now_s, delay_s, listed, alive_writers)
        for first_s, sample in list(self._candidates.values()):
            events += self._consider(sample, now_s, listed, first_s)
        return events

    def check_process(self) -> list[BondEvent]:
        """Check whether a process of this machine has ended, which also a delayed process may judge.

        Returns:
            The changes that were found.
        """
        sign = self.sign
        if sign is None or self.loss is Loss.GONE or self._process is None or not self._process.has_ended:
            return []
        return self._lose(Loss.GONE, f"{self._name} (pid {sign.pid}) has ended")

    @property
    def delay_s(self) -> float:
        """Scheduling delay that the writer reported last, s; 0 before its first message."""
        return self._delay_s

    def limit_s(self, base_s: float, delay_s: float) -> float:
        """Return the longest accepted silence of the writer, s.

        Args:
            base_s: Longest silence on a machine without delays, s.
            delay_s: Scheduling delay of this process, s; the delay that the writer reported counts as well.
        """
        return silence_limit_s(base_s, delay_s, self._delay_s)

    def close(self) -> None:
        """Release the resources of the watch of the process."""
        if self._process is not None:
            self._process.close()

    def _judge(
        self,
        sign: Sign,
        now_s: float,
        delay_s: float,
        listed: tuple[BondWriter, ...],
        alive_writers: int | None,
    ) -> list[BondEvent]:
        if any(writer.gid == sign.gid for writer in listed):
            self._listed_s = now_s
        limit_s, silence_s = self.limit_s(SILENCE_S, delay_s), now_s - sign.heard_s
        is_absent = now_s - self._listed_s > ABSENT_S and silence_s > ABSENT_S
        # The graph also forgets a process that is stopped for longer than its participant's lease.
        if is_absent and not (self._process is not None and self._process.is_known):
            return self._lose(Loss.GONE, f"{self._name} (pid {sign.pid}) has left the ROS graph")
        # Messages that DDS has received and this process has not read are no silence of the writer.
        is_unread = alive_writers is not None and alive_writers > 0 and len(listed) == 1
        if silence_s > limit_s and not (is_unread and silence_s < GIVE_UP_SILENCE_S):
            return self._lose(Loss.SILENT, f"{self._name} (pid {sign.pid}) was silent for {silence_s:.1f} s")
        return []

    def _consider(
        self, sample: Sample, now_s: float, listed: tuple[BondWriter, ...], first_s: float | None = None
    ) -> list[BondEvent]:
        """Process a message of a writer that is not the bonded one."""
        known = self._candidates.pop(sample.gid, None)
        first_s = known[0] if known is not None else (now_s if first_s is None else first_s)
        writer = next((w for w in listed if w.gid == sample.gid), None)
        if writer is None or writer.node != self._name:
            if now_s - first_s > UNNAMED_S:
                return self._intrude(sample, "is not written by a node of that name")
            if len(self._candidates) < CANDIDATES:
                self._candidates[sample.gid] = (first_s, sample)
            return []
        sign = self.sign
        if sign is None or self.loss is Loss.GONE:
            return self._bind(sample, now_s)
        has_left = all(w.gid != sign.gid for w in listed)
        if has_left or self.loss is Loss.LEAVING or self._may_have_ended():
            text = f"{self._name} was restarted: pid {sample.pid} has taken the place of pid {sign.pid}"
            return [*self._lose(Loss.GONE, text), *self._bind(sample, now_s)]
        return self._intrude(sample, "runs beside the bonded one")

    def _may_have_ended(self) -> bool:
        """Check whether the process has ended; one of another machine may have ended when it is silent."""
        if self._process is not None and self._process.is_known:
            return self._process.has_ended
        return self.loss is Loss.SILENT

    def _bind(self, sample: Sample, now_s: float) -> list[BondEvent]:
        self.close()
        self._process = self._watch_process(sample.pid, sample.process_space)
        self._listed_s, self._numbers = now_s, WriterSequence(sample.sequence, sample.source_ns)
        self.loss, self.reason = Loss.NONE, ""
        return self._accept(sample, now_s)

    def _accept(self, sample: Sample, now_s: float) -> list[BondEvent]:
        before, self._delay_s = self.loss, sample.delay_s
        self.sign = Sign(now_s, sample.state, sample.message, sample.pid, sample.host, sample.gid)
        if sample.is_leaving:
            return self._lose(Loss.LEAVING, f"{self._name} (pid {sample.pid}) shuts down")
        self.loss, self.reason = Loss.NONE, ""
        text = f"{self._name} (pid {sample.pid}) is back"
        return [BondEvent(EventKind.RETURNED, text)] if before is not Loss.NONE else []

    def _lose(self, loss: Loss, reason: str) -> list[BondEvent]:
        """Report each loss once; a node that left or was silent before it is gone was lost before."""
        before, self.loss, self.reason = self.loss, loss, reason
        return [BondEvent(EventKind.LOST, reason)] if before is Loss.NONE else []

    def _intrude(self, sample: Sample, what: str) -> list[BondEvent]:
        if sample.gid in self._named or len(self._named) >= CANDIDATES:
            return []
        self._named.add(sample.gid)
        where = f"pid {sample.pid} on {sample.host or 'an unnamed host'}, writer {sample.gid.hex()}"
        text = f"a second status of {self._name} ({where}) {what}; it is ignored"
        return [BondEvent(EventKind.INTRUDER, text)]
