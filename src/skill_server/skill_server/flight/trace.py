"""What one run has seen and done. Everything is kept by reference: nothing is copied or encoded while it runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from handiwork_core.bundles.bundle import Before, Bundle, Call, Head, Seen, Stop
from handiwork_core.contracts.skill import Context, Progress, Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from skill_server.following.choice_ahead import choice_thread

CALLS = 4000
"""The greatest number of calls that are kept of one run; later ones are left out."""
SNAPSHOTS = 3000
"""The greatest number of snapshots that are kept of one run; the oldest go first."""
STATES = 100_000
"""The greatest number of poses of objects in the snapshots of one run, and in those of its calls: about 100 MB."""
SNAPSHOT_S = 0.02
"""The least time between two snapshots that a run has asked for, s of the world's clock."""
PROGRESS = 500
"""The greatest number of feedback messages that are kept of one run."""


class RunTrace:
    """What one run has seen and done. Safe between the threads of the run.

    Args:
        params: Checked parameters of the skill.
        context: Context of the run, before its ports are replaced by recorded ones.
        partners: Contexts of the further arms.
        plan_only: True for a preview.
    """

    def __init__(
        self, params: Any, context: Context, partners: Mapping[str, Context], *, plan_only: bool = False
    ) -> None:
        self._lock = threading.Lock()
        self._now_s, self._token = context.clock.now_s, context.token
        self._params, self._seed, self._plan_only = params, context.seed, plan_only
        self._supervision = context.supervision
        self._calls, self._is_cut = list[Call](), False
        self._seen = deque[Seen]()
        self._states = self._call_states = 0
        self._progress = deque[Progress](maxlen=PROGRESS)
        self._stop: Stop | None = None
        self.frames: dict[tuple[str, str], Pose] = {}
        contexts = {context.arm_spec.name: context, **partners}
        self._before = {name: _before(one) for name, one in contexts.items()}
        self.began_s = self._now_s()
        self.see(context.world.snapshot(), is_wanted=True)

    def see(self, world: World, *, is_wanted: bool = False) -> None:
        """Keep a snapshot that the run has asked for.

        Args:
            world: The snapshot.
            is_wanted: False: it may be left out where another one was kept just before.
        """
        at_s = self._now_s()
        with self._lock:
            newest = self._seen[-1] if self._seen else None
            if newest is not None and newest.world is world:
                return
            if newest is not None and not is_wanted and 0.0 <= at_s - newest.at_s < SNAPSHOT_S:
                return
            self._seen.append(Seen(at_s, world))
            self._states += len(world.states)
            while len(self._seen) > 1 and (self._states > STATES or len(self._seen) > SNAPSHOTS):
                self._states -= len(self._seen.popleft().world.states)

    def call(
        self,
        port: str,
        arm: str,
        request: Any,
        world: World,
        act: Callable[[], Any],
        see: Callable[[], World],
    ) -> Any:
        """Make a call of a port, and keep it.

        Args:
            port: Name of the call; see ``Call``.
            arm: Name of the arm.
            request: The arguments.
            world: Snapshot before it.
            act: Makes the call.
            see: Returns a snapshot, which is kept as well.

        Returns:
            What the port returns.
        """
        begun_s, answer = self._now_s(), None
        self.see(world, is_wanted=True)
        try:
            answer = act()
            return answer
        finally:
            self.look_for_stop()
            self.see(see(), is_wanted=True)
            made = Call(port, arm, begun_s, self._now_s(), request, answer, world, choice_thread())
            with self._lock:
                last = self._calls[-1].world if self._calls else None
                added = 0 if world is last else len(world.states)
                if len(self._calls) < CALLS and self._call_states + added <= STATES:
                    self._call_states += added
                    self._calls.append(made)
                else:
                    self._is_cut = True

    def note(self, progress: Progress) -> None:
        """Keep a feedback message.

        Args:
            progress: The feedback.
        """
        self._progress.append(progress)

    def look_for_stop(self) -> bool:
        """Return whether the token is set; the first time its reason is kept."""
        token: Token = self._token
        if not token.is_set():
            return False
        if self._stop is None:
            self._stop = Stop(token.reason, token.detail, self._now_s())
        return True

    def bundle(self, head: Head, goal: Mapping[str, Any]) -> Bundle:
        """Return what was kept, as a bundle without history and log.

        Args:
            head: Summary of the goal.
            goal: The goal message.
        """
        self.look_for_stop()
        with self._lock:
            calls, seen = tuple(self._calls), tuple(self._seen)
        return Bundle(
            head=head,
            goal=goal,
            params=self._params,
            plan_only=self._plan_only,
            seed=self._seed,
            before=self._before,
            supervision=self._supervision,
            began_s=self.began_s,
            ended_s=self._now_s(),
            stop=self._stop,
            calls=calls,
            seen=seen,
            progress=tuple(self._progress),
            frames=dict(self.frames),
            is_cut=self._is_cut,
        )


def _before(context: Context) -> Before:
    base: Pose | None = None
    try:
        base = context.world.world_T_base()
    except Exception:  # noqa: BLE001 - a recorder must not end a goal; the run itself says what is missing
        base = None
    return Before(base, dict(context.held), dict(context.held_by_others()))
