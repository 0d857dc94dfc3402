"""Searches for another live node of the same full name, before a node begins and while it runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from handiwork_msgs.msg import NodeStatus
from rclpy.node import Node
from rclpy.subscription import Subscription

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.process.domain import DomainError, Lease, NameHeldError, lease_node
from handiwork_ros.intake.topic_writers import UNKNOWN_NAME
from handiwork_ros.liveness.bond import CANDIDATES
from handiwork_ros.liveness.bond_events import Sample
from handiwork_ros.liveness.bond_topic import (
    StatusWriter,
    bond_topic,
    sample_of,
    writers_of,
)
from handiwork_ros.rclpy_support.node_executor import NodeExecutor
from handiwork_ros.rclpy_support.qos import BOND_READER
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.silence_limits import SchedulingDelay

from .name_claim import Claim, NameClaim

POLL_S = 0.02
UNNAMED_S = 5.0
"""The time after which a writer whose node is unknown counts as one of this name, s; less than ``YIELD_S``."""
STATUS_AGAIN_S = 0.1
"""The period in which a searching node publishes its status, for one that starts at the same time, s."""

_IS_REQUIRED: ContextVar[bool] = ContextVar("is_unique_name_required", default=False)


@contextlib.contextmanager
def unique_names_required() -> Iterator[None]:
    """Make every managed node that is created in this context search for its name first, which takes half a second.

    Yields:
        Nothing.
    """
    token = _IS_REQUIRED.set(True)
    try:
        yield
    finally:
        _IS_REQUIRED.reset(token)


class NameTakenError(ConfigError):
    """Another live node has the full name of this one."""

    exit_code = 69
    """EX_UNAVAILABLE of sysexits.h: a later start succeeds if the other node was about to end."""


class _SearchExecutor(NodeExecutor):
    """Serves one subscription of a node only.

    The node is not built yet, and what else begins here, such as a transition, would be lost with this executor. All
    other messages and requests wait for the executor of the process.
    """

    def __init__(self, served: Subscription, **options: Any) -> None:
        super().__init__(**options)
        self._served = served

    def can_execute(self, entity: Any) -> bool:
        """Return whether an entity is the subscription, and ready.

        Args:
            entity: The entity.
        """
        return entity is self._served and bool(super().can_execute(entity))


class UniqueName:
    """Subscriber of the bond of the node's own name."""

    def __init__(
        self, node: Node, writer: StatusWriter, on_refusal: Callable[[NameTakenError], None]
    ) -> None:
        """Subscribe.

        Args:
            node: The node.
            writer: The node's own writer.
            on_refusal: Called on the executor's thread if a message of an older node of the name comes after the
                search.
        """
        self._node, self._gid, self._on_refusal = node, writer.gid, on_refusal
        self._unnamed_s: dict[bytes, float] = {}
        self._lease: Lease | None = None
        self.claim = NameClaim(node.get_fully_qualified_name(), writer.gid, time.monotonic())
        receive = guard(node, self._on_status)

        def callback(message: NodeStatus, info: Any) -> None:
            receive(message, info)  # rclpy counts the parameters, so they must be two

        self._subscription = node.create_subscription(
            NodeStatus, bond_topic(node.get_name()), callback, BOND_READER
        )

    @property
    def sole_for_s(self) -> float:
        """The time since the name was found free, s; 0 during the search."""
        return self.claim.sole_for_s(time.monotonic())

    @property
    def warning(self) -> str:
        """The other nodes of this name from which messages came recently; empty if there are none."""
        return self.claim.warning(time.monotonic())

    def release(self) -> None:
        """Release the lease of the name, for the next node of this process."""
        if self._lease is not None:
            self._lease.close()

    def require(self, publish: Callable[[], None]) -> None:
        """Wait until the name was found free, if the process demands it.

        No message comes from a node of this name that was killed, even while the graph still lists it.

        Args:
            publish: Publishes the node's status.

        Raises:
            NameTakenError: Another node of this name is alive; the message names its host and process.
        """
        if not _IS_REQUIRED.get():
            self.claim.settle()
            return
        self._lease_name()
        executor = _SearchExecutor(self._subscription, context=self._node.context)
        executor.add_node(self._node)
        published_s, delay = float("-inf"), SchedulingDelay(POLL_S, time.monotonic())
        try:
            while self.claim.state is Claim.LOOKING:
                if time.monotonic() - published_s > STATUS_AGAIN_S:
                    published_s = time.monotonic()
                    publish()
                executor.spin_once(timeout_sec=POLL_S)
                listed = {writer.gid for writer in writers_of(self._node, self._node.get_name())}
                unknown = len(listed - self.claim.known_gids() - {self._gid})
                now_s = time.monotonic()
                delay.tick(now_s)
                self.claim.look(now_s, delay.greatest_s(now_s), unknown)
        finally:
            # ``remove_node`` alone would leave this executor set in the node, where the next task would be lost.
            self._node.executor = None
            executor.shutdown()
        if self.claim.state is Claim.REFUSED:
            raise self._refusal()

    def _lease_name(self) -> None:
        """Hold the name on this machine until the process ends, where discovery may be too slow."""
        domain_id, name = self._node.context.get_domain_id(), self._node.get_fully_qualified_name()
        try:
            self._lease = lease_node(domain_id, name)
        except NameHeldError as error:
            raise NameTakenError(f"node {self._node.get_name()}", [str(error)]) from error
        except DomainError as error:
            self._node.get_logger().warning(
                f"{error}; until then a second {name} is found by DDS alone, which takes longer"
            )

    def _on_status(self, message: NodeStatus, info: Any) -> None:
        sample = sample_of(message, int(info["publication_sequence_number"]), int(info["source_timestamp"]))
        if not self._is_namesake(sample):
            return
        was_sole = self.claim.state is Claim.SOLE
        text = self.claim.receive(sample, time.monotonic())
        if was_sole and self.claim.state is Claim.REFUSED:
            self._on_refusal(self._refusal())
        elif text and was_sole:
            self._node.get_logger().error(text)

    def _is_namesake(self, sample: Sample) -> bool:
        """Check whether a node of this name wrote a message: other writers to the topic must not block a start.

        The graph learns the node of a new writer later than its first message, and for a process that was stopped for
        long it may never learn it: a writer that stays without a name for ``UNNAMED_S`` counts.
        """
        name = self._node.get_name()
        node = next((w.node for w in writers_of(self._node, name) if w.gid == sample.gid), None)
        if node != UNKNOWN_NAME:
            self._unnamed_s.pop(sample.gid, None)
            return node == name
        if len(self._unnamed_s) >= CANDIDATES and sample.gid not in self._unnamed_s:
            return False
        now_s = time.monotonic()
        return now_s - self._unnamed_s.setdefault(sample.gid, now_s) >= UNNAMED_S

    def _refusal(self) -> NameTakenError:
        return NameTakenError(f"node {self._node.get_name()}", [self.claim.refusal])
