"""Inference in a thread, so that the control loop never waits for a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import PolicyError
from .policy import Observation, Policy


@dataclass(frozen=True)
class Answer:
    """An answer, or the fault in its place.

    Attributes:
        step: Step of the loop at which its observation was made.
        actions: The server's map; None with a fault.
        fault: The fault.
        latency_s: Time from the request to the answer, s of steady time.
    """

    step: int
    actions: Mapping[str, Any] | None
    fault: PolicyError | None
    latency_s: float


class InferenceWorker:
    """One request under way at a time.

    Args:
        policy: The policy; only the worker's thread uses it from now on.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._wake = threading.Condition()
        self._request: tuple[int, Observation] | None = None
        self._answer: Answer | None = None
        self._since_s: float | None = None
        self._is_over = False
        self._thread = threading.Thread(target=self._work, name="inference", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """True from a request until its answer is taken."""
        with self._wake:
            return self._since_s is not None

    def waiting_s(self) -> float:
        """Return for how long the present request has waited, s of steady time; 0 without one."""
        with self._wake:
            return 0.0 if self._since_s is None else time.monotonic() - self._since_s

    def ask(self, step: int, observation: Observation) -> None:
        """Send an observation; the answer before must have been taken.

        Args:
            step: Step of the loop.
            observation: The observation.
        """
        with self._wake:
            if self._since_s is not None:
                raise RuntimeError("a request is under way already")
            self._request, self._since_s = (step, observation), time.monotonic()
            self._wake.notify_all()

    def take(self, timeout_s: float = 0.0) -> Answer | None:
        """Return the answer once it is there, else None.

        Args:
            timeout_s: Longest wait, s of steady time.
        """
        with self._wake:
            if self._answer is None and timeout_s > 0.0:
                self._wake.wait_for(lambda: self._answer is not None or self._is_over, timeout_s)
            answer = self._answer
            if answer is not None:
                self._answer, self._since_s = None, None
            return answer

    def close(self) -> None:
        """End the thread once its request is answered; does not wait for it."""
        with self._wake:
            self._is_over = True
            self._wake.notify_all()

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._request is not None or self._is_over)
                if self._is_over or self._request is None:
                    return
                step, observation = self._request
                self._request = None
            answer = ask_once(self._policy, step, observation)
            with self._wake:
                self._answer = answer
                self._wake.notify_all()


def ask_once(policy: Policy, step: int, observation: Observation) -> Answer:
    """Ask a policy, and return also its fault as a value.

    Args:
        policy: The policy.
        step: Step of the loop.
        observation: The observation.
    """
    begun_s = time.monotonic()
    try:
        found, fault = policy.infer(observation), None
    except PolicyError as error:
        found, fault = None, error
    except Exception as error:  # noqa: BLE001 - a policy in this process may raise anything
        found, fault = None, PolicyError(f"the policy failed ({type(error).__name__}: {error}); correct it")
    return Answer(step, found, fault, time.monotonic() - begun_s)
