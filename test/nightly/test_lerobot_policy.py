"""The example that serves policies of LeRobot, in LeRobot's own environment with an ACT of random weights.

``build/lerobot`` is made as ``test_lerobot_reads_exports.py`` says, with ``msgpack`` and ``websockets`` besides.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from handiwork_policy.protocol.connection import PolicyConnection, connect_policy
from handiwork_policy.protocol.errors import ServerFault
from support.paths import ROOT

pytestmark = pytest.mark.timeout(1800)
LEROBOT = ROOT / "build/lerobot/bin/python"
CHUNK, NUMBERS, EDGE = 16, 8, 96
MAKE = f"""
import json, sys
import torch
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.factory import make_pre_post_processors
torch.manual_seed(3)
numbers, edge, chunk = {NUMBERS}, {EDGE}, {CHUNK}
inputs = {{
    "observation.state": PolicyFeature(FeatureType.STATE, (numbers,)),
    "observation.images.front": PolicyFeature(FeatureType.VISUAL, (3, edge, edge)),
}}
config = ACTConfig(
    input_features=inputs, output_features={{"action": PolicyFeature(FeatureType.ACTION, (numbers,))}},
    chunk_size=chunk, n_action_steps=chunk, device="cpu", pretrained_backbone_weights=None,
    dim_model=64, dim_feedforward=64, n_heads=2, n_encoder_layers=1, use_vae=False,
)
stats = {{
    "observation.state": {{"mean": torch.full((numbers,), 0.1), "std": torch.full((numbers,), 2.0)}},
    "observation.images.front": {{"mean": torch.full((3, 1, 1), 0.5), "std": torch.full((3, 1, 1), 0.25)}},
    "action": {{"mean": torch.arange(numbers) * 0.1, "std": torch.full((numbers,), 0.5)}},
}}
policy = ACTPolicy(config).eval()
policy.save_pretrained(sys.argv[1])
for one in make_pre_post_processors(config, dataset_stats=stats):
    one.save_pretrained(sys.argv[1])
state = (torch.linspace(-1, 1, numbers) - 0.1) / 2.0
image = (torch.full((3, edge, edge), 100 / 255) - 0.5) / 0.25
with torch.inference_mode():
    raw = policy.predict_action_chunk({{"observation.state": state[None], "observation.images.front": image[None]}})
print("wanted", json.dumps((raw[0] * 0.5 + torch.arange(numbers) * 0.1).tolist()))
"""
OBSERVATION = {
    "observation.state": np.linspace(-1.0, 1.0, NUMBERS, dtype=np.float32),
    "observation.images.front": np.full((EDGE, EDGE, 3), 100, np.uint8),
    "task": "Take the cube.",
}


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """Return the checkpoint, and the actions that LeRobot itself makes of the observation."""
    if not LEROBOT.exists():
        pytest.skip("there is no build/lerobot: test_lerobot_reads_exports.py says how to make it")
    path = tmp_path_factory.mktemp("act")
    run = subprocess.run(
        [LEROBOT, "-c", MAKE, path], capture_output=True, text=True, check=False, timeout=900
    )
    assert run.returncode == 0, run.stderr
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("wanted ")]
    return path, np.array(json.loads(line.removeprefix("wanted ")))


@pytest.fixture(scope="module")
def client(wanted: tuple[Path, np.ndarray]) -> Iterator[PolicyConnection]:
    command = [LEROBOT, ROOT / "examples/lerobot_policy.py", wanted[0], "--device", "cpu", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src/handiwork_policy")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        said = ""
        while "serving" not in said:
            said = server.stdout.readline()
            assert said, "the server has ended"
        made = connect_policy(said.split(" at ")[1].strip(), 60.0)
        yield made
        made.close()
        server.kill()


def test_the_actions_are_those_that_lerobot_makes_itself(
    client: PolicyConnection, wanted: tuple[Path, np.ndarray]
) -> None:
    found = client.infer(OBSERVATION)["actions"]
    assert found.shape == (CHUNK, NUMBERS)
    np.testing.assert_allclose(found, wanted[1], atol=1e-4)
    assert client.metadata()["action_dim"] == NUMBERS


def test_what_the_observation_lacks_is_named(client: PolicyConnection) -> None:
    with pytest.raises(ServerFault, match=r"the policy wants \['observation.images.front'\]"):
        client.infer({key: value for key, value in OBSERVATION.items() if "images" not in key})
