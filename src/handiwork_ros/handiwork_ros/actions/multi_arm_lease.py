"""The arms that one goal needs, held together: a goal for two arms begins when both are free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handiwork_core.model.outcome import Code

from .arm_lease import ArmLease, Job, Policy


@dataclass(frozen=True)
class MultiArmLease:
    """One or more leases of one node, as one. Used on the executor's thread only.

    A goal enters all of them in one turn, so that two goals stand in the same order in every queue and never wait for
    each other.
    """

    leases: tuple[ArmLease, ...]

    @property
    def first(self) -> ArmLease:
        """Its worker runs the body, and its beat repeats the feedback."""
        return self.leases[0]

    def refusal(self, policy: Policy) -> str:
        """Why a goal cannot be taken now, or nothing."""
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
        """Enter a goal in all leases; under ``LATEST_WINS`` those before it are told to stop."""
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
        """True while another goal goes first on any of the arms."""
        return any(lease.is_waiting(key) for lease in self.leases)

    async def turn(self, key: bytes) -> None:
        """Return when all arms are free for the goal, or when it was told to end."""
        while not self.first.jobs[key].token.is_set() and self.is_waiting(key):
            await next(lease for lease in self.leases if lease.is_waiting(key)).turn(key)

    def run(self, key: bytes, body: Callable[[], None]) -> None:
        """Let ``body``, which must not raise, run on the first arm's worker; ``vacate`` when it has returned."""
        for lease in self.leases:
            lease.occupy(lease.jobs[key])
        self.first.submit(body)

    def vacate(self, job: Job) -> None:
        """The body of a goal has returned; ``job`` is any of its jobs."""
        for lease, part in zip(self.leases, job.parts, strict=True):
            lease.vacate(part)

    def give_back(self, key: bytes) -> None:
        """Forget an answered goal."""
        for lease in self.leases:
            lease.give_back(key)
