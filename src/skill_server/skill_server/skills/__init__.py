"""The built-in skills. Plug-ins come by entry point in group ``handiwork.skills``."""

from __future__ import annotations

from .approach_rotate import ApproachRotate
from .artpreplan import ArtPreplan
from .close import Close
from .dexpick import DexPick
from .dexplace import DexPlace
from .dynamicpick import DynamicPick
from .fail_pick import FailPick
from .flip import Flip
from .goto_pose import GotoPose
from .gripper_action import GripperAction
from .heuristic_skill import HeuristicSkill
from .home import Home
from .joint_ctrl import JointCtrl
from .manualpick import ManualPick
from .mobile_rotate import MobileRotate
from .mobile_translate import MobileTranslate
from .move import Move
from .open import Open
from .pick import Pick
from .place import Place
from .pour import Pour
from .rotate import Rotate
from .rotate_obj import RotateObj
from .scan import Scan
from .track import Track
from .wait import Wait

BUILTIN = (
    Pick,
    Place,
    ApproachRotate,
    ArtPreplan,
    Close,
    DexPick,
    DexPlace,
    DynamicPick,
    FailPick,
    Flip,
    GotoPose,
    GripperAction,
    HeuristicSkill,
    Home,
    JointCtrl,
    ManualPick,
    MobileRotate,
    MobileTranslate,
    Move,
    Open,
    Pour,
    Rotate,
    RotateObj,
    Scan,
    Track,
    Wait,
)
