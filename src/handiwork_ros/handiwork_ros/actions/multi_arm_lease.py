"""Holds the arms that one goal needs together: a goal for two arms begins when both are free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handiwork_core.model.outcome import Code

from .arm_lease import ArmLease, Job, Policy


@dataclass(frozen=True)
class MultiArmLease:
    """One or more leases of one node, used as one. Its methods are called on the executor's thread only.

    A goal enters all of them in one turn of the executor, so that two goals have the same order in every queue and
    never wait for each other.

    Attributes:
        leases: The leases of the arms.
    """

    leases: tuple[ArmLease, ...]

    @property
    def first(self) -> ArmLease:
        """The first lease: its worker runs the body, and its timer repeats the feedback."""
        return self.leases[0]

    def refusal(self, policy: Policy) -> str:
        """Return the reason why a goal cannot be taken now.

        Args:
            policy: Treatment of the goal while an arm is busy.

        Returns:
            A sentence; empty if the goal can be taken.
        """
        for lease in self.leases:
            owner = lease.owner()
            if policy is Policy.QUEUE and lease.is_full:
                waiting = len(lease.jobs) - 1
                return f"{lease.arm} is busy with {owner!r} and {waiting} goals wait for it; wait for their results"
            if policy is Policy.REJECT and lease.is_busy:
                text = "cancel that goal, wait for its result, or send when_busy 'queue'"
                return f"{lease.arm} is busy with {owner!r}; {text}"
        return ""

    def take(self, key: bytes, skill: str, policy: Policy) -> Job:
        """Enter a goal in all leases; under ``LATEST_WINS`` stop the earlier goals.

        Args:
            key: Id of the goal.
            skill: Holder of the arms, as messages name it.
            policy: Treatment of the earlier goals.

        Returns:
            The job of the goal in the first lease.
        """
        if policy is Policy.LATEST_WINS:
            for lease in self.leases:
                lease.stop_all(Code.PREEMPTED)
        job = self.first.take(key, skill, policy)
        if len(self.leases) > 1:
            job.leases = self.leases
            for lease in self.leases[1:]:
                lease.share(key, job)
        return job

    def is_waiting(self, key: bytes) -> bool:
        """Check whether another goal runs or waits before this one on any of the arms.

        Args:
            key: Id of the goal.
        """
        return any(lease.is_waiting(key) for lease in self.leases)

    async def turn(self, key: bytes) -> None:
        """Wait until all arms are free for the goal, or until the goal is stopped.

        Args:
            key: Id of the goal.
        """
        while not self.first.jobs[key].token.is_set() and self.is_waiting(key):
            await next(lease for lease in self.leases if lease.is_waiting(key)).turn(key)

    def run(self, key: bytes, body: Callable[[], None]) -> None:
        """Run a goal's body on the first arm's worker; call ``vacate`` when it has returned.

        Args:
            key: Id of the goal.
            body: The function to run; it must not raise.
        """
        for lease in self.leases:
            lease.occupy(lease.jobs[key])
        self.first.submit(body)

    def vacate(self, job: Job) -> None:
        """Note that the body of a goal has returned.

        Args:
            job: Any of the goal's jobs.
        """
        for lease, part in zip(self.leases, job.parts, strict=True):
            lease.vacate(part)

    def give_back(self, key: bytes) -> None:
        """Forget an answered goal.

        Args:
            key: Id of the goal.
        """
        for lease in self.leases:
            lease.give_back(key)
