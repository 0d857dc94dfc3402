"""A stub model server of vla-eval: it asks for the joints that it is shown."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from vla_eval.model_servers.predict import PredictModelServer
from vla_eval.model_servers.serve import serve

PICTURE = "overview"
SHAPE = (48, 64, 3)


class StayingServer(PredictModelServer):
    """Keeps the arm where it is, in chunks of four.

    Args:
        wants_picture: True: an observation without a picture of ``SHAPE`` is refused.
    """

    def __init__(self, *, wants_picture: bool) -> None:
        super().__init__(chunk_size=4)
        self._wants_picture = wants_picture

    def predict(self, obs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        assert obs["task_description"] == "Take the cube."
        if self._wants_picture:
            picture = np.asarray(obs["images"][PICTURE])
            assert picture.shape == SHAPE and picture.dtype == np.uint8, picture.shape
            assert picture.std() > 5.0, "the picture is empty"
        return {"actions": np.repeat([obs["state"][:7]], 4, axis=0)}

    def get_action_spec(self) -> dict[str, Any]:
        return {}

    def get_observation_spec(self) -> dict[str, Any]:
        return {}


if __name__ == "__main__":
    serve(StayingServer(wants_picture=PICTURE in sys.argv[2:]), "127.0.0.1", int(sys.argv[1]))
