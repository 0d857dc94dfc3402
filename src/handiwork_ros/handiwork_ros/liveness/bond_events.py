"""What a bond observes and reports: status messages, writers, kinds of loss, and changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Loss(Enum):
    """The kinds of loss of a bonded writer."""

    NONE = "none"
    LEAVING = "leaving"
    """The node has announced its shutdown; results may still come."""
    SILENT = "silent"
    """Its liveliness was not asserted in time; its process may be stopped or blocked, and may return."""
    GONE = "gone"
    """Its process has ended, another one has taken its place, or, on another machine, it has left the graph."""


class EventKind(Enum):
    """The kinds of change that a message or a check causes."""

    LOST = "lost"
    RETURNED = "returned"
    INTRUDER = "intruder"


@dataclass(frozen=True)
class BondEvent:
    """One change.

    Attributes:
        kind: Kind of the change.
        text: Sentence for a person.
    """

    kind: EventKind
    text: str


@dataclass(frozen=True)
class Sample:
    """A status message as it came from the bond's topic.

    Attributes:
        gid: GID of the writer that the message claims to come from.
        sequence: Sequence number that DDS gave the message.
        state: State of the node, a constant of ``NodeStatus``.
        message: Text of the status.
        pid: Process id of the node.
        host: Name of the node's machine.
        process_space: See ``process_identity.process_space``.
        delay_s: Scheduling delay that the node measured, s.
        is_leaving: True if the node announces its shutdown.
        source_ns: Source timestamp of DDS, ns.
    """

    gid: bytes
    sequence: int
    state: int
    message: str
    pid: int
    host: str = ""
    process_space: str = ""
    delay_s: float = 0.0
    is_leaving: bool = False
    source_ns: int = 0
    is_sole: bool = True
    """False while its node still searches for another node of its name."""
    sole_for_s: float = 0.0
    """Time since its node found its name free, s."""


@dataclass(frozen=True)
class Sign:
    """The newest message of the bonded writer.

    Attributes:
        heard_s: Time of its arrival, s of steady time.
        state: State of the node, a constant of ``NodeStatus``.
        message: Text of the status.
        pid: Process id of the node.
        host: Name of the node's machine.
        gid: GID of the writer.
    """

    heard_s: float
    state: int
    message: str
    pid: int
    host: str = ""
    gid: bytes = b""


@dataclass(frozen=True)
class BondWriter:
    """A writer of the bond's topic in the ROS graph.

    Attributes:
        gid: GID of the writer.
        node: Name of its node, without the namespace.
    """

    gid: bytes
    node: str


class ProcessEnd(Protocol):
    """Detects the end of a process; see ``process_identity.ProcessWatch``."""

    @property
    def is_known(self) -> bool:
        """True if ``has_ended`` can be relied on."""

    @property
    def has_ended(self) -> bool:
        """True once the process has ended."""

    def close(self) -> None:
        """Release the resources of the watch."""
