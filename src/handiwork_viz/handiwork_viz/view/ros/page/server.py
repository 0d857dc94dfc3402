"""The page's server: guarded, offline, with its look and its first camera."""

from __future__ import annotations

import secrets
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

from handiwork_viz.show.page_guard import PageNotGuarded, guarded_serving, is_loopback

if TYPE_CHECKING:
    import viser

PANEL_PX = 340
CAMERA = ((1.55, -1.2, 1.1), (0.35, 0.0, 0.2))
"""Place of the first camera, and the point that it looks at, in ``world`` [m]."""
FIELD_OF_VIEW = 0.75
"""Vertical field of view of the first camera, rad."""


def token_for(host: str) -> str:
    """Return a new token for an address that others reach; empty for loopback.

    Args:
        host: Address to serve at.
    """
    return "" if is_loopback(host) else secrets.token_urlsafe(24)


def serve(host: str, port: int, token: str, *, simple_lighting: bool = False) -> viser.ViserServer:
    """Start the server.

    Args:
        host: Address to serve at.
        port: Port to serve at; the next free one where it is taken, any for 0.
        token: Token that every browser must have; empty: none.
        simple_lighting: Draw no shadows and no reflections.

    Returns:
        The server.

    Raises:
        PageNotGuarded: The installed viser cannot be guarded, so nothing is served.
    """
    import viser  # here because it is optional

    server = None
    try:
        # viser prints an address of its own, without the token.
        with guarded_serving(host, token), redirect_stdout(StringIO()):
            server = viser.ViserServer(host=host, port=port, label="Handiwork", verbose=False)
    except PageNotGuarded:
        if server is not None:
            server.stop()
        raise
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(25, 113, 194))
    server.scene.set_up_direction("+z")
    server.scene.add_grid("/ground", cell_size=0.1, section_size=0.5, width=6.0, height=6.0)
    set_lighting(server, is_simple=simple_lighting)
    server.initial_camera.position, server.initial_camera.look_at = CAMERA
    server.initial_camera.fov = FIELD_OF_VIEW
    server.gui.main_panel.dock_right()
    server.gui.main_panel.set_width(PANEL_PX)
    return server


def set_lighting(server: viser.ViserServer, *, is_simple: bool) -> None:
    """Choose between full lighting and one that a browser without a GPU draws several times as fast.

    Args:
        server: The page's server.
        is_simple: Draw no shadows and no reflections.
    """
    server.scene.configure_default_lights(cast_shadow=not is_simple)
    server.scene.configure_environment_map(None if is_simple else "warehouse")


def address_of(host: str, port: int, token: str) -> str:
    """Return the address that a user opens.

    Args:
        host: Address that is served at.
        port: Port that is served at.
        token: Token of the page; empty: none.
    """
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
