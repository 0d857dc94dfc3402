"""The built-in skills. Plug-ins are loaded by entry points of group ``handiwork.skills``."""

from __future__ import annotations

from .articulated.artpreplan import ArtPreplan
from .articulated.close import Close
from .articulated.open import Open
from .articulated.rotate import Rotate
from .base.mobile_pick import MobilePick
from .base.mobile_place import MobilePlace
from .base.mobile_rotate import MobileRotate
from .base.mobile_translate import MobileTranslate
from .base.navigate import Navigate
from .contact.insert import Insert
from .contact.move_until_contact import MoveUntilContact
from .contact.press import Press
from .contact.wipe import Wipe
from .motion.approach_rotate import ApproachRotate
from .motion.goto_pose import GotoPose
from .motion.gripper_action import GripperAction
from .motion.heuristic_skill import HeuristicSkill
from .motion.home import Home
from .motion.joint_ctrl import JointCtrl
from .motion.move import Move
from .motion.scan import Scan
from .motion.track import Track
from .motion.wait import Wait
from .pick_place.dexpick import DexPick
from .pick_place.dexplace import DexPlace
from .pick_place.dynamicpick import DynamicPick
from .pick_place.fail_pick import FailPick
from .pick_place.flip import Flip
from .pick_place.manualpick import ManualPick
from .pick_place.move_object import MoveObject
from .pick_place.pick import Pick
from .pick_place.place import Place
from .pick_place.pour import Pour
from .pick_place.rotate_obj import RotateObj
from .policy.run_policy import RunPolicy
from .two_arms.carry import Carry
from .two_arms.handover import Handover

BUILTIN = (
    Pick,
    Place,
    ApproachRotate,
    ArtPreplan,
    Carry,
    Close,
    DexPick,
    DexPlace,
    DynamicPick,
    FailPick,
    Flip,
    GotoPose,
    GripperAction,
    Handover,
    HeuristicSkill,
    Home,
    Insert,
    JointCtrl,
    ManualPick,
    MobilePick,
    MobilePlace,
    MobileRotate,
    MobileTranslate,
    Move,
    MoveObject,
    MoveUntilContact,
    Navigate,
    Open,
    Pour,
    Press,
    Rotate,
    RotateObj,
    RunPolicy,
    Scan,
    Track,
    Wait,
    Wipe,
)
