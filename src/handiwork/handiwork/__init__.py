"""The names that programs, skills, conditions and engines of your own import: ``from handiwork import SkillClient``.

A name is loaded from its module at its first use (PEP 562). ``import handiwork`` therefore costs nothing, and only the
names that communicate with nodes, such as ``SkillClient``, need rclpy. Modules may move between releases; these names
stay.
"""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "conditionals_node.batch": "BatchJudge BatchVerdicts Poses Verdicts Worlds evaluate evaluate_expression",
    "conditionals_node.predicates.measured": "Measured Relation",
    "conditionals_node.predicates.counting": "Logical",
    "conditionals_node.predicates.parts": "Part",
    "conditionals_node.views.views": "T Unknown View",
    "conditionals_node.scoring": "Disagreement Judge Question Scored Situation load_situations score_judges",
    "handiwork_core.contracts.commands": (
        "AttachObject AwaitObject CloseGripper Command CommandFunction DetachObject DriveBase DummyForward ExpectJoint "
        "Function Motion OpenGripper UpdatePoseCostMetric UpdateSpecific"
    ),
    "handiwork_core.model.errors": "HandiworkError",
    "handiwork_core.model.geometry": "Array Pose PoseArray Rotation",
    "handiwork_core.model.outcome": "BodyPair Code Outcome",
    "handiwork_core.contracts.planning": (
        "Attachment Candidate CandidateVerdict CandidatesRequest CandidatesResult Capability Engine Goal "
        "IkRequest IkResult JointGoals OtherArm PathGoal PathRest PlanRequest PlanResult PoseGoals "
        "Report SceneQuery ShouldStop StraightGoal Verdict"
    ),
    "handiwork_core.contracts.predicate": "Evidence Finding LatchedPredicate Predicate Truth",
    "handiwork_core.robot.reach_map": "ReachMap ReachSource load_reach_map",
    "handiwork_core.robot.robot": "ArmSpec GripperSpec Robot",
    "handiwork_core.robot_files.loader": "load_robot",
    "handiwork_core.contracts.skill": "Context Progress Skill StepFailed",
    "handiwork_core.contracts.skill_params": "SkillParams file_field",
    "handiwork_core.contracts.stages": "SkillStage",
    "handiwork_core.model.trajectory": "Trajectory",
    "handiwork_core.model.world": "Contact JointState ObjectState Shape ShapeKind World WorldObject",
    "handiwork_data.dataset.folder": "DatasetFolder",
    "handiwork_data.episodes.episode": "Episode EpisodeMeta",
    "handiwork_ros.clients.async_skill_client": "AsyncSkillClient",
    "handiwork_ros.clients.conditions_client": "ConditionAnswer ConditionsClient",
    "handiwork_ros.clients.batch_plan_client": "BatchAnswer BatchPlanClient",
    "handiwork_ros.clients.goal_handle": "GoalHandle",
    "handiwork_ros.clients.skill_client": "SkillClient",
    "handiwork_ros.clients.skill_goals": "skill_goal",
    "handiwork_ros.clients.tool_change": "change_tool",
    "handiwork_ros.actions.skill_report": "PlannedStage SkillPreview SkillReport Stage",
    "handiwork_ros.actions.task_report": "TaskFeedback TaskReport",
    "handiwork_planning.process_pool": "PlanPool plan_many",
    "handiwork_planning.reach.analysis": "ReachSampling compute_reach",
    "handiwork_planning.reach.orientations": "sphere_directions",
    "handiwork_policy.verdicts.result": "policy_result",
    "planner_node.engines.curobo_batch": "CuroboPool",
    "planner_node.engines.curobo_together": "CuroboTogether",
    "handiwork_planning.grasp_planning": "GraspPlan GraspRequest plan_grasp",
    "handiwork_planning.fallback_engine": "EngineLost",
    "robot_description.formats.curobo_config": "curobo_config",
    "skill_server.params": "checks",
    "skill_server.motions.candidate_selection": "choose",
    "skill_server.execution.run": "run_skill",
    "skill_server.stages.commands": "stage_commands",
    "skill_server.stages.selection": "choose_stages",
    "skill_server.stages.staged_skill": "StagedSkill",
    "handiwork_core.contracts.arrival": "ee_pose",
    "skill_server.state.scene_query": "ignored_objects scene_for",
}
"""Module -> the names that it defines; ``__init__.pyi`` gives type checkers the same names."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    """Load a name from its module, once.

    Args:
        name: A name of this package that is not loaded yet.

    Returns:
        The class, function or module of that name.

    Raises:
        AttributeError: The package has no such name.
    """
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(_HOME_OF[name])
    value = getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all public names, loaded or not, so that completion shows them."""
    return list(__all__)
