"""``handiwork safety`` where no safety layer runs names the service that does not answer."""

from __future__ import annotations

import pytest

from handiwork_cli.cli import main
from handiwork_cli.commands.goals import safety


@pytest.mark.parametrize(
    ("words", "service"),
    [
        (["safety", "speed", "0.5"], "safety/set_speed_scale"),
        (["safety", "recover"], "safety/recover"),
        (["stop"], "safety/emergency_stop"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_service_that_does_not_answer_is_named(
    words: list[str],
    service: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(safety, "ANSWER_S", 0.5)
    assert main(words) == safety.NO_ANSWER
    assert capsys.readouterr().err.startswith(f"handiwork safety: {service} does not answer in ")
