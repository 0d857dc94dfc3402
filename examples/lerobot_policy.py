"""Serves a policy of LeRobot, such as ACT, SmolVLA or pi0, to ``run_policy`` and ``handiwork evaluate``.

It runs in LeRobot's own environment, which needs two packages more, and nothing of ROS:

    pip install lerobot msgpack websockets
    PYTHONPATH=src/handiwork_policy python examples/lerobot_policy.py CHECKPOINT --device cuda

The settings of the run name what the policy was trained with; a data set of ``handiwork export`` has these names:

    state_key: observation.state
    prompt_key: task
    cameras: [{key: observation.images.front, camera: overview, width: 224, height: 224}]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors

from handiwork_policy.protocol.server import PolicyServer

TASK = "task"
LARGEST_BYTE = 255.0


class LeRobotPolicy:
    """A trained policy with the steps before and after it, such as the normalisation.

    Args:
        checkpoint: Folder of the checkpoint, or its name on the hub.
        device: Where it runs: ``cpu`` or ``cuda``.
    """

    def __init__(self, checkpoint: str, device: str) -> None:
        config = PreTrainedConfig.from_pretrained(checkpoint)
        config.device = device
        self._inputs = config.input_features
        self._numbers = int(config.output_features["action"].shape[0])
        policy = get_policy_class(config.type).from_pretrained(checkpoint, config=config)
        self._policy = policy.to(device).eval()
        override = {"device_processor": {"device": device}}
        self._before, self._after = make_pre_post_processors(
            config, pretrained_path=checkpoint, preprocessor_overrides=override
        )

    def metadata(self) -> Mapping[str, Any]:
        """Return the count of numbers in an action, and the names of what an observation must have."""
        return {"action_dim": self._numbers, "observation": sorted(self._inputs)}

    def infer(self, observation: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the chunk of actions, (h, d), of an observation.

        Args:
            observation: States, pictures (h, w, 3) and the sentence, by the names of the policy's features.
        """
        missing = [key for key in self._inputs if key not in observation]
        if missing:
            raise KeyError(f"the policy wants {missing}, and the observation has {sorted(observation)}")
        batch: dict[str, Any] = {key: as_tensor(observation[key]) for key in self._inputs}
        batch[TASK] = str(observation.get(TASK, ""))
        with torch.inference_mode():
            chunk = self._policy.predict_action_chunk(self._before(batch))
            rows = [self._after(chunk[:, step]) for step in range(chunk.shape[1])]
        return {"actions": torch.cat(rows).cpu().numpy()}

    def reset(self) -> None:
        """Forget the episode before."""
        self._policy.reset()


def as_tensor(value: np.ndarray[Any, Any]) -> torch.Tensor:
    """Return a state as it is, and a picture as (3, h, w) from 0 to 1.

    Args:
        value: A state, (n,), or a picture, (h, w, 3), 0 to 255.
    """
    found = torch.from_numpy(np.array(value, dtype=np.float32))
    return found.permute(2, 0, 1) / LARGEST_BYTE if found.ndim == 3 else found


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", help="folder, or name on the hub")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    server = PolicyServer(LeRobotPolicy(given.checkpoint, given.device), given.host, given.port)
    print(f"serving {given.checkpoint} at {server.address}", flush=True)
    try:
        server.run()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
