"""Work that a button begins: each on a thread of its own, which the end of the page does not wait for."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from handiwork_core.model.errors import HandiworkError

if TYPE_CHECKING:
    import viser


class Commands:
    """Runs the work of buttons off the page's own thread, and shows faults in every open browser.

    Args:
        server: The page's server.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server

    def start(self, name: str, work: Callable[[], str | None]) -> None:
        """Begin work.

        Args:
            name: What it is, for messages.
            work: Returns a fault in one sentence, which is shown; None or empty without one.
        """

        def run() -> None:
            try:
                fault = work()
            except (HandiworkError, ValueError) as error:
                fault = str(error)
            except Exception as error:  # noqa: BLE001 - shown to the user; the page goes on
                traceback.print_exc()
                fault = f"{type(error).__name__}: {error}"
            if fault:
                self.tell(name, fault)

        threading.Thread(target=run, name=f"view-{name}", daemon=True).start()

    def tell(self, title: str, text: str, *, is_good: bool = False) -> None:
        """Show a message for a while.

        Args:
            title: Its title.
            text: Its text.
            is_good: True for good news.
        """
        for client in self._server.get_clients().values():
            client.add_notification(title, text, auto_close_seconds=8.0, color="green" if is_good else "red")
