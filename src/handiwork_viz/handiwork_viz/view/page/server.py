"""The page's server: guarded, offline, with its look and its first camera."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from handiwork_viz.show.page_guard import PageNotGuarded, guarded_serving, is_loopback

if TYPE_CHECKING:
    import viser

PANEL_PX = 340


def token_for(host: str) -> str:
    """Return a new token for an address that others reach; empty for loopback.

    Args:
        host: Address to serve at.
    """
    return "" if is_loopback(host) else secrets.token_urlsafe(24)


def serve(host: str, port: int, token: str) -> viser.ViserServer:
    """Start the server.

    Args:
        host: Address to serve at.
        port: Port to serve at; the next free one where it is taken, any for 0.
        token: Token that every browser must have; empty: none.

    Returns:
        The server.

    Raises:
        PageNotGuarded: The installed viser cannot be guarded, so nothing is served.
    """
    import viser  # here because it is optional

    server = None
    try:
        with guarded_serving(host, token):
            server = viser.ViserServer(host=host, port=port, label="Handiwork", verbose=False)
    except PageNotGuarded:
        if server is not None:
            server.stop()
        raise
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(25, 113, 194))
    server.scene.set_up_direction("+z")
    server.scene.add_grid("/ground", cell_size=0.1, section_size=0.5, width=6.0, height=6.0)
    server.initial_camera.position = (1.75, -1.35, 1.15)
    server.initial_camera.look_at = (0.35, 0.0, 0.25)
    return server


def address_of(host: str, port: int, token: str) -> str:
    """Return the address that a user opens.

    Args:
        host: Address that is served at.
        port: Port that is served at.
        token: Token of the page; empty: none.
    """
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
