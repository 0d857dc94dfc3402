"""The contract of a policy, wherever it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

Observation = Mapping[str, Any]
"""Names and values of one moment: arrays of float32 for states, (h, w, 3) uint8 for pictures, texts."""
ACTIONS = "actions"
"""Key of an answer's chunk of actions, (h, d)."""


class Policy(Protocol):
    """Answers observations with chunks of actions."""

    def metadata(self) -> Mapping[str, Any]:
        """Return what the policy says about itself, such as ``action_dim``; may be empty."""
        ...

    def infer(self, observation: Observation) -> Mapping[str, Any]:
        """Answer an observation.

        Args:
            observation: The observation.

        Returns:
            A map with ``actions``, (h, d).

        Raises:
            PolicyError: There is no answer.
        """
        ...

    def reset(self) -> None:
        """Forget what belongs to the episode before."""
        ...
