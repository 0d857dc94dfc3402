"""A campaign whose goals come through a faulty network."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from handiwork_cli.chaos.network.link import LinkCondition
from handiwork_cli.chaos.network.orders import order
from handiwork_cli.chaos.ros.campaign import Campaign, ChaosPlan
from handiwork_cli.chaos.trials import JITTER_SHARE, FaultKind, Trial, draw_network_trial
from handiwork_cli.chaos.verdict import BOUND_S, RECOVERY_BOUND_S, Findings
from handiwork_cli.stack.stack import Stack
from handiwork_core.model.outcome import Code

if TYPE_CHECKING:
    import socket

    from .stack_end import RemoteClient


class NetworkCampaign(Campaign):
    """One stack under trial, with a client in another namespace.

    Args:
        plan: The settings.
        stack: The running stack.
        findings: Receives the endings and measurements.
        client: The client.
        relay: The socket to the relay.
    """

    def __init__(
        self, plan: ChaosPlan, stack: Stack, findings: Findings, client: RemoteClient, relay: socket.socket
    ) -> None:
        super().__init__(plan, stack, findings)
        self._seed, self._client, self._relay = plan.seed, client, relay

    def draw(self, index: int, *, is_holding: bool) -> Trial:
        """See ``Campaign.draw``.

        Args:
            index: Its index.
            is_holding: Whether the hand holds the object.
        """
        return draw_network_trial(self._seed, index, is_holding=is_holding)

    def send(self, trial: Trial) -> tuple[Trial, Code, str, float]:
        """See ``Campaign.send``; the network is whole again when the goal and its outage are over.

        Args:
            trial: The trial.

        Returns:
            See ``Campaign.send``.
        """
        begin_s, outages = time.monotonic(), []
        for fault in trial.faults:
            if fault.kind is FaultKind.NETWORK_LOSS:
                order(self._relay, condition=LinkCondition(loss=fault.amount))
            elif fault.kind is FaultKind.NETWORK_DELAY:
                jitter_s = JITTER_SHARE * fault.amount
                order(self._relay, condition=LinkCondition(delay_s=fault.amount, jitter_s=jitter_s))
            else:
                timer = threading.Timer(fault.at_s, order, (self._relay,), {"cut_s": fault.lasts_s})
                timer.start()
                outages.append((fault, timer))
        answer = self._client.ask(goal=trial.goal.value, bound_s=BOUND_S)
        late = {fault for fault, timer in outages if time.monotonic() - begin_s < fault.at_s}
        for fault, timer in outages:
            timer.cancel()
            over_s = begin_s + fault.at_s + fault.lasts_s
            if fault not in late:
                threading.Event().wait(max(0.0, over_s - time.monotonic()))
        order(self._relay, condition=LinkCondition())
        trial = replace(trial, faults=tuple(fault for fault in trial.faults if fault not in late))
        return trial, Code[answer["code"]], str(answer["message"]), float(answer["took_s"])

    def recovered(self) -> float | None:
        """Wait until every node is active and the client reaches the skill server; see ``Campaign.recovered``."""
        begin_s, found = time.monotonic(), super().recovered()
        is_ready = found is not None and self._client.ask(ready_s=RECOVERY_BOUND_S)["ready"]
        return time.monotonic() - begin_s if is_ready else None
