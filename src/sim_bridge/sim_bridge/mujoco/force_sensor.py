"""The force-torque sensor of an arm in MuJoCo, between the flange and the tool."""

# ruff: noqa: ANN401 the simulator's module and its model are arguments

from __future__ import annotations

from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array


class ForceSensor:
    """Measures the wrench of the surroundings on the tool: on the EE link and all links behind it.

    Weight and inertia of the tool are compensated; those of an object in the hand are not, because it is no part of it.

    Args:
        mj: The simulator's module.
        model: The model.
        data: Its data.
        body: Name of the EE link's body.
    """

    def __init__(self, mj: Any, model: Any, data: Any, body: str) -> None:
        self._mj, self._model, self._data = mj, model, data
        self._body = int(model.body(body).id)
        parents = model.body_parentid
        tool = {self._body}
        for i in range(self._body + 1, model.nbody):  # parents come before their children
            if int(parents[i]) in tool:
                tool.add(i)
        self._tool = np.array(sorted(tool))
        self._root = int(model.body_rootid[self._body])

    def wrench(self) -> tuple[Array, Array]:
        """Measure, as of the last step.

        Returns:
            Force, (3,), N, and torque about the origin of the EE frame, (3,), Nm, of the surroundings on the tool, both
            in the EE frame.
        """
        data = self._data
        self._mj.mj_rnePostConstraint(self._model, data)
        torque, force = np.split(data.cfrc_ext[self._tool].sum(axis=0), 2)
        torque = torque + np.cross(data.subtree_com[self._root] - data.xpos[self._body], force)
        into_frame = data.xmat[self._body].reshape(3, 3).T
        return into_frame @ force, into_frame @ torque
