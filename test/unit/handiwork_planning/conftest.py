"""One engine in the demo world for all tests of this folder."""

from support.planning.demo_world import bare_engine, engine, robot  # noqa: F401 - fixtures
