"""``handiwork evaluate`` with a real server process."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handiwork_cli.cli import main
from handiwork_data.evaluation.folder import ResultFolder
from support.paths import ROOT
from support.records.evaluations import folder_of
from support.records.short_task import AT_ONCE, short_task

pytestmark = [pytest.mark.processes, pytest.mark.slow]
WAIT_S = 300.0
SERVER = [sys.executable, "-m", "support.records.policy_server"]


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    processes = list[subprocess.Popen[str]]()

    def start(*options: str) -> str:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "test"), *sys.path])}
        made = subprocess.Popen([*SERVER, *options], env=environment, stdout=subprocess.PIPE, text=True)
        processes.append(made)
        assert made.stdout is not None
        return made.stdout.readline().strip()

    yield start
    for one in processes:
        one.kill()
        one.communicate()


def run(*words: object) -> int:
    return main(["evaluate", *map(str, words)])


def test_two_policies_are_evaluated_and_compared(
    tmp_path: Path, serve: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = short_task(tmp_path), short_task(tmp_path, "done", AT_ONCE)
    a, b = tmp_path / "a", tmp_path / "b"
    assert run(*tasks, "--policy", serve("--name", "stay"), "--episodes", "2", "--out", a, "--films", 1) == 0
    said = capsys.readouterr().out
    assert "4 episodes run, 0 were there already" in said
    assert "2 of 4 episodes succeed: 50.0 %, 95 % interval 15.0 to 85.0 %" in said
    assert (a / "report.md").read_text().strip() in said
    page = (a / "failures.html").read_text()
    name = f"{tmp_path.name}-short"
    assert f'src="films/{name}-000000000.webp"' in page and "000000001" not in page
    assert (a / f"films/{name}-000000000.webp").stat().st_size > 1000
    other = serve("--name", "turn", "--turn", "0.2")
    assert run(*tasks, "--policy", other, "--episodes", "0:2", "--out", b, "--workers", 2) == 0
    capsys.readouterr()
    assert run("--compare", a, b) == 0
    said = capsys.readouterr().out
    assert (
        "no significant difference between stay and turn: 0.0 points" in said and "4 common episodes" in said
    )
    assert run("--report", b) == 0
    assert "2 of 4 episodes succeed" in capsys.readouterr().out


def test_a_killed_evaluation_goes_on_where_it_ended(tmp_path: Path, serve: Callable[..., str]) -> None:
    task, out, address = short_task(tmp_path), tmp_path / "out", serve()
    words = ["evaluate", str(task), "--policy", address, "--episodes", "6", "--out", str(out)]
    command = [
        sys.executable,
        "-c",
        "import sys; from handiwork_cli.cli import main; sys.exit(main(sys.argv[1:]))",
    ]
    made = subprocess.Popen([*command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder, name = ResultFolder(out), f"{tmp_path.name}-short"
    waiting = threading.Event()
    for _ in range(int(WAIT_S / 0.05)):
        if folder.rows(name) or made.poll() is not None:
            break
        waiting.wait(0.05)
    made.send_signal(signal.SIGKILL)
    made.wait()
    before = folder.rows(name)
    assert before, "the evaluation ended before its first episode"
    file = next((out / name).glob("episode_results-*.jsonl"))
    file.write_text(file.read_text() + '{"episode": 5, "succ')
    assert run(*words[1:]) == 0
    after = folder.rows(name)
    assert list(after) == list(range(6)) and {n: after[n] for n in before} == before
    assert all(line.endswith("}") for line in file.read_text().splitlines())


def test_another_policy_does_not_go_into_the_folder(
    tmp_path: Path, serve: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    task, out = short_task(tmp_path, success=AT_ONCE), tmp_path / "out"
    assert run(task, "--policy", serve(), "--episodes", 1, "--out", out) == 0
    assert run(task, "--policy", serve("--name", "other"), "--episodes", 2, "--out", out) == 2
    said = capsys.readouterr().err
    assert "policy is 'turn' there and 'other' here" in said and "give another --out" in said
    task.write_text(task.read_text().replace("limit_s: 1", "limit_s: 2"))
    assert run(task, "--policy", serve(), "--episodes", 2, "--out", out) == 2
    assert "task_digest is" in capsys.readouterr().err


class SilentHandler(http.server.BaseHTTPRequestHandler):
    """Refuses every request without a line in the log."""

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def web_port() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SilentHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_servers_that_cannot_be_used_are_named_in_one_sentence(
    tmp_path: Path, web_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    task = short_task(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"ws://127.0.0.1:{free.getsockname()[1]}"
    for address, words in (
        (nobody, "no policy server at"),
        (f"ws://127.0.0.1:{web_port}", "speaks another protocol"),
        ("localhost:8000", "write an address such as ws://localhost:8000"),
    ):
        assert run(task, "--policy", address, "--episodes", 1) == 1
        said = capsys.readouterr().err
        assert words in said and len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "tasks: are missing; give task files, or --compare A B, or --report DIR"),
        (("T", "--episodes", 1), "policy: is missing; give --policy, as in ws://localhost:8000"),
        (("T", "--policy", "ws://x"), "episodes: is missing; give --episodes, a count, or BEGIN:END"),
        (("T", "--policy", "ws://x", "--episodes", "3", "--workers", 0), "workers: is 0; give 1 to 1024"),
        (
            ("T", "--policy", "ws://x", "--episodes", "3", "--films", 1),
            "films: need a folder; give --out, too",
        ),
        (("nowhere.yaml", "--policy", "ws://x", "--episodes", "3"), "nowhere.yaml: cannot be read"),
        (("--compare", "nowhere", "nowhere"), "nowhere: has no results; give a folder"),
        (("--report", "nowhere"), "nowhere: has no results; give a folder"),
    ],
)
def test_bad_options_are_refused(
    tmp_path: Path, words: tuple[object, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    task = short_task(tmp_path)
    assert run(*(task if word == "T" else word for word in words)) == 2
    assert said in capsys.readouterr().err


def test_folders_of_other_tasks_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder_of(tmp_path / "a", {"x": {0: True}})
    folder_of(tmp_path / "b", {"y": {0: True}})
    assert run("--compare", tmp_path / "a", tmp_path / "b") == 2
    assert "have different tasks" in capsys.readouterr().err
