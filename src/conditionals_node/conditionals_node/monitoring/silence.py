"""How long the streams of the world have been silent, in steady time. Pure.

A stamp cannot show that a simulator has ended: the time that it would be compared with stops with ``/clock``. A world
that is paused repeats its messages, so it is not silent.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Silence:
    """The steady time since the newest good message of each stream, s.

    Attributes:
        states_s: That of ``world/object_states``.
        contacts_s: That of ``world/contacts``.
        joints_s: That of ``joint_states``.
    """

    states_s: float = 0.0
    contacts_s: float = 0.0
    joints_s: float = 0.0


NO_SILENCE = Silence()


@dataclass(frozen=True, slots=True)
class Limits:
    """The greatest ages of what a condition may read.

    Attributes:
        age_s: Greatest age of a stamp, in the clock of the stamps, s.
        silence_s: Greatest silence of a stream in steady time, s.
    """

    age_s: float
    silence_s: float

    def silent(self, topic: str, silence_s: float) -> list[str]:
        """Return why a stream is too old to be read; empty when it is not.

        Args:
            topic: Name of the stream.
            silence_s: Its silence, s.
        """
        if silence_s <= self.silence_s:
            return []
        return [f"nothing has come on {topic} for {silence_s:.1f} s"]
