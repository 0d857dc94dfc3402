"""``handiwork demo --view`` is ended as services and containers end a program: by SIGTERM."""

from __future__ import annotations

from urllib.error import URLError
from urllib.request import urlopen

import pytest

from handiwork_cli.processes.interrupts import INTERRUPTED
from support.stack.browser import page_process

ANSWER_S, END_S = 30.0, 120.0


def test_a_demo_that_is_terminated_takes_its_page_with_it() -> None:
    with page_process("demo", "--view") as (address, process):
        with urlopen(address, timeout=ANSWER_S) as answer:
            assert answer.status == 200
        process.terminate()
        assert process.wait(END_S) == INTERRUPTED
        with pytest.raises(URLError):
            urlopen(address, timeout=ANSWER_S)
