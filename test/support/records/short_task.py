"""Task files whose episodes take a second of the world."""

from __future__ import annotations

from pathlib import Path

TEXT = """name: {name}
skills:
  - fr3:
      - fr3_arm:
          - {{name: pick, object: cube}}
episodes:
  success: "{success}"
  conditions: ["object_grabbed(object=cube)"]
  scene: {scene}
  instructions: [Take the cube.]
  limit_s: 1
  settle_s: 0.1
"""
NEVER = "object_picked_up(object=cube, surface=table)"
AT_ONCE = "not object_picked_up(object=cube, surface=table)"


def short_task(folder: Path, name: str = "short", success: str = NEVER, scene: str = "tabletop") -> Path:
    """Write a task file.

    Args:
        folder: Where it goes.
        name: Its name.
        success: Its condition.
        scene: Its scene.
    """
    path = folder / f"{name}.yaml"
    path.write_text(TEXT.format(name=name, success=success, scene=scene), encoding="utf-8")
    return path
