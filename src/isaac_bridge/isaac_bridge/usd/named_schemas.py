"""Schemas that usd-core does not have, by the names of their attributes: those of PhysX, and Isaac Sim's gripper.

Their attributes are written as Isaac Sim reads them. Where its plugins are loaded they are the schemas themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pxr import Usd

Value = float | int | bool | str | tuple[float, ...]

TYPES = {
    "isaac:clearanceOffset": "Float",
    "isaac:coaxialForceLimit": "Float",
    "isaac:forwardAxis": "Token",
    "isaac:maxGripDistance": "Float",
    "isaac:nameOverride": "String",
    "isaac:retryInterval": "Float",
    "isaac:shearForceLimit": "Float",
    "isaac:status": "Token",
    "physxArticulation:enabledSelfCollisions": "Bool",
    "physxArticulation:solverPositionIterationCount": "Int",
    "physxArticulation:solverVelocityIterationCount": "Int",
    "physxArticulation:stabilizationThreshold": "Float",
    "physxContactReport:threshold": "Float",
    "physxJoint:armature": "Float",
    "physxJoint:maxJointVelocity": "Float",
    "physxJointAxis:angular:armature": "Float",
    "physxJointAxis:angular:maxJointVelocity": "Float",
    "physxJointAxis:linear:armature": "Float",
    "physxJointAxis:linear:maxJointVelocity": "Float",
    "physxMaterial:frictionCombineMode": "Token",
    "physxMaterial:restitutionCombineMode": "Token",
    "physxMimicJoint:rotX:gearing": "Float",
    "physxMimicJoint:rotX:offset": "Float",
    "physxMimicJoint:rotX:referenceJointAxis": "Token",
    "physxRigidBody:disableGravity": "Bool",
    "physxRigidBody:sleepThreshold": "Float",
    "physxRigidBody:solverPositionIterationCount": "Int",
    "physxScene:broadphaseType": "Token",
    "physxScene:enableGPUDynamics": "Bool",
    "physxScene:timeStepsPerSecond": "UInt",
    "physxSurfaceVelocity:surfaceVelocity": "Vector3f",
    "physxSurfaceVelocity:surfaceVelocityEnabled": "Bool",
    "physxSurfaceVelocity:surfaceVelocityLocalSpace": "Bool",
    "state:angular:physics:position": "Float",
    "state:angular:physics:velocity": "Float",
    "state:linear:physics:position": "Float",
    "state:linear:physics:velocity": "Float",
}
"""The type of each attribute by its name in ``Sdf.ValueTypeNames``."""

UNIFORM = frozenset(
    {
        "isaac:forwardAxis",
        "isaac:status",
        "physxMaterial:frictionCombineMode",
        "physxMaterial:restitutionCombineMode",
        "physxMimicJoint:rotX:referenceJointAxis",
        "physxScene:broadphaseType",
    }
)


def apply_schema(prim: Usd.Prim, schema: str, values: Mapping[str, Value]) -> None:
    """Apply an API schema by its name, and write its attributes.

    Args:
        prim: The prim.
        schema: Name of the schema.
        values: Name of the attribute -> value.
    """
    prim.AddAppliedSchema(schema)
    write_named(prim, values)


def write_named(prim: Usd.Prim, values: Mapping[str, Value]) -> None:
    """Write attributes of ``TYPES`` on a prim.

    Args:
        prim: The prim.
        values: Name of the attribute -> value.
    """
    from pxr import Sdf

    for name, value in values.items():
        variability = Sdf.VariabilityUniform if name in UNIFORM else Sdf.VariabilityVarying
        kind = getattr(Sdf.ValueTypeNames, TYPES[name])
        prim.CreateAttribute(name, kind, custom=False, variability=variability).Set(value)
