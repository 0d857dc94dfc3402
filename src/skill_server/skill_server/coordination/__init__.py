"""Coordination of several arms in one workspace: reservations, order, and ports that refuse an abandoned goal."""
