"""A stub model server of vla-eval: it asks for the joints that it is shown."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from vla_eval.model_servers.predict import PredictModelServer
from vla_eval.model_servers.serve import serve


class StayingServer(PredictModelServer):
    """Keeps the arm where it is, in chunks of four."""

    def __init__(self) -> None:
        super().__init__(chunk_size=4)

    def predict(self, obs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        assert obs["task_description"] == "Take the cube."
        return {"actions": np.repeat([obs["state"][:7]], 4, axis=0)}

    def get_action_spec(self) -> dict[str, Any]:
        return {}

    def get_observation_spec(self) -> dict[str, Any]:
        return {}


if __name__ == "__main__":
    serve(StayingServer(), "127.0.0.1", int(sys.argv[1]))
