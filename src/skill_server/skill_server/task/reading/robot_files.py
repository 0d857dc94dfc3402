"""Writes the content of the robot files that a task file names into its text, so that the server need not have them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml, read_yaml
from handiwork_core.intake.limits import TASK_YAML
from handiwork_core.robot_files.simbox.robot_fields import json_of

FILE, CONTENT = "robot_config_file", "robot_config"


def with_robot_files(text: str, path: Path) -> str:
    """Return the text of a task file with the content of each robot file next to its name.

    A file is looked up from the task file's folder and from those above. A name that is not found, and a task that
    cannot be parsed, stay as they are: parsing the task reports them.

    Args:
        text: Text of the task file.
        path: Path of the task file.

    Returns:
        The text; unchanged when no file is found.

    Raises:
        ConfigError: A robot file exists and cannot be read.
    """
    try:
        data = mapping_from_yaml(text, str(path), TASK_YAML)
    except ConfigError:
        return text
    found = [_add(entry, path) for body in _bodies(data) for entry in _entries(body)]
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True) if any(found) else text


def _bodies(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tasks = data.get("tasks", [data])
    return [body for body in tasks if isinstance(body, Mapping)] if isinstance(tasks, list) else []


def _entries(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    robots = body.get("robots")
    return [entry for entry in robots if isinstance(entry, dict)] if isinstance(robots, list) else []


def _add(entry: dict[str, Any], task: Path) -> bool:
    name = entry.get(FILE)
    if not isinstance(name, str) or not name or CONTENT in entry:
        return False
    folders = task.resolve().parents
    file = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if file is None:
        return False
    entry[CONTENT] = content = read_yaml(file)
    depths = content.get("extra_depth_file")
    if isinstance(depths, str) and (file.parent / depths).is_file():
        try:
            content["extra_depth_file"] = json_of(file.parent / depths)
        except ValueError as error:
            raise ConfigError(str(file), [f"extra_depth_file: {error}"]) from error
    return True
