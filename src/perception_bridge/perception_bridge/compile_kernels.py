"""Compile the kernels of the search for obstacles ahead: ``python -m perception_bridge.compile_kernels``."""

from __future__ import annotations

from perception_bridge.obstacles.warm_up import warm_up

if __name__ == "__main__":
    warm_up()
