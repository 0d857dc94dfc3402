"""Obstacles that nobody modelled in the page: drawn as they come, hidden with their layer, and taken away."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.robot_files.loader import load_robot
from handiwork_core.voxels.voxel_map import VoxelGrid, VoxelMap
from support.paths import ROBOTS

viser = pytest.importorskip("viser", reason="needs viser; pip install -r requirements/show.txt")

GRID = VoxelGrid.over((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0.1)


def test_cells_are_drawn_hidden_and_removed() -> None:
    from handiwork_viz.view.ros.page.scene_view import SceneView

    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        folder = ROBOTS / "fr3"
        scene = SceneView(server, load_robot(folder), folder, lambda *_event: None)
        layer = scene._layers["unmodelled"]
        scene.draw_unmodelled(VoxelMap.of_points(GRID, np.array([[0.05, 0.05, 0.05], [0.25, 0.05, 0.05]])))
        (cloud,) = layer
        np.testing.assert_allclose(cloud.points, [[0.05, 0.05, 0.05], [0.25, 0.05, 0.05]], atol=1e-3)
        scene.show("unmodelled", False)
        assert not cloud.visible
        scene.draw_unmodelled(VoxelMap.of_points(GRID, np.zeros((1, 3)) + 0.45))
        assert not layer[0].visible
        scene.draw_unmodelled(VoxelMap.of_points(GRID, np.zeros((0, 3))))
        assert not layer
        scene.draw_unmodelled(None)
    finally:
        server.stop()
