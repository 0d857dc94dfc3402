"""The contacts of MuJoCo's bodies, summed by pairs and by the side from which they press."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from handiwork_core.model.geometry import frozen
from handiwork_core.model.opposed_forces import summed_by_side
from handiwork_core.model.world import Contact


def body_contacts(model: Any, data: Any, names: Sequence[str]) -> tuple[Contact, ...]:  # noqa: ANN401 - MuJoCo has no types
    """Return net force and mean point of the contacts of each pair of bodies, apart for two sides that squeeze.

    Args:
        model: The model.
        data: Its data, after a step.
        names: Names of the bodies, in their order.
    """
    contact = data.contact
    active = np.flatnonzero(contact.efc_address >= 0)
    if len(active) == 0:
        return ()
    bodies = model.geom_bodyid[contact.geom[active]]
    order = np.sort(bodies, axis=1)
    # Rows of the frame are the contact's axes; its force acts on the second geom.
    rows = contact.efc_address[active, None] + np.arange(3)
    force = np.einsum("ni,nij->nj", data.efc_force[rows], contact.frame[active].reshape(-1, 3, 3))
    force_on_first = np.where((bodies[:, :1] == order[:, :1]), -force, force)
    # One number for each pair: np.unique of rows takes several times as long.
    keys, member = np.unique(order[:, 0].astype(np.intp) * len(names) + order[:, 1], return_inverse=True)
    found, total, point = summed_by_side(force_on_first, contact.pos[active], member)
    pairs = [divmod(key, len(names)) for key in keys[found].tolist()]
    return tuple(
        Contact(names[a], names[b], frozen(f), frozen(p))
        for (a, b), f, p in zip(pairs, total, point, strict=True)
    )
