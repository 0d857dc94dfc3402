"""A command that runs long ends by SIGINT and SIGTERM with a KeyboardInterrupt, once."""

from __future__ import annotations

import signal

import pytest

from handiwork_cli.processes.interrupts import SIGNALS, interruptible


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_interrupts_also_where_a_shell_had_sigint_ignored(number: signal.Signals) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible():
            with pytest.raises(KeyboardInterrupt, match=number.name):
                signal.raise_signal(number)
            for later in SIGNALS:
                signal.raise_signal(later)  # the end of the stack goes on
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
