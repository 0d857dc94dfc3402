"""What pictures of episodes are taken with: cameras, and looks that the seed of an episode draws."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from handiwork_core.cameras.camera import Camera
from handiwork_core.cameras.camera_file import CameraFile, check_camera_names
from handiwork_core.config.dataclass_loader import ConfigError, load, nearest
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import Scene
from handiwork_core.scene.shapes import Color
from sim_bridge.cameras.camera_list import all_cameras
from sim_bridge.cameras.renderer import Pixels
from sim_bridge.cameras.view_model import DAYLIGHT, Lighting

from .textures import drawn_pattern, read_texture


@dataclass(frozen=True, slots=True)
class Look:
    """Ranges of what each episode draws for its pictures; without them they look as the scene says.

    Attributes:
        light: Range of the factor on all lights.
        light_tilt: Greatest angle between the lamp's direction and straight down, rad; 0: as it is.
        colors: True: every object draws a colour, also those that do not move.
        textures: True: every object draws stripes, checks, spots or grain in its colour and another one, or none.
        texture_files: Images of which every object draws one instead, beside the file of the views.
        camera_shift: Greatest shift of a camera along each axis, m.
        camera_turn: Greatest turn of a camera about each axis, rad.
    """

    light: tuple[float, float] | None = None
    light_tilt: float = 0.0
    colors: bool = False
    textures: bool = False
    texture_files: tuple[str, ...] = ()
    camera_shift: float = 0.0
    camera_turn: float = 0.0

    def __post_init__(self) -> None:
        if self.light is not None and not 0.0 < self.light[0] <= self.light[1] <= 3.0:
            text = "give two factors above 0 and up to 3, the smaller one first"
            raise ValueError(f"light: is {list(self.light)}; {text}")
        if not 0.0 <= self.light_tilt < 1.5:
            raise ValueError(f"light_tilt: is {self.light_tilt:g} rad; give 0 to 1.5")
        if not 0.0 <= self.camera_shift <= 1.0:
            raise ValueError(f"camera_shift: is {self.camera_shift:g} m; give 0 to 1")
        if not 0.0 <= self.camera_turn <= 1.0:
            raise ValueError(f"camera_turn: is {self.camera_turn:g} rad; give 0 to 1")


@dataclass(frozen=True, slots=True)
class ViewsFile:
    """A file of cameras and looks.

    Attributes:
        cameras: Cameras by name, as in a scene file.
        look: What each episode draws.
    """

    cameras: dict[str, CameraFile]
    look: Look = field(default_factory=Look)

    def __post_init__(self) -> None:
        if not self.cameras:
            raise ValueError("cameras: is empty; declare one as in a scene file")
        check_camera_names(self.cameras)


@dataclass(frozen=True)
class Views:
    """Cameras and looks.

    Attributes:
        cameras: The cameras.
        look: What each episode draws.
        digest: SHA-256 of what they were read from.
        textures: The images of ``look.texture_files``.
    """

    cameras: tuple[Camera, ...]
    look: Look
    digest: str
    textures: tuple[Pixels, ...] = ()


def read_views(wanted: str, robot: Robot, scene: Scene) -> Views:
    """Read the cameras that are wanted.

    Args:
        wanted: A file of cameras and looks, or names of cameras of scene and robot, with commas between them.
        robot: The robot.
        scene: The scene.

    Raises:
        ConfigError: The file is wrong, there is no such camera, or an image cannot become a video.
    """
    path = Path(wanted)
    if path.suffix in (".yaml", ".yml"):
        made = load(ViewsFile, path)
        built = tuple(camera.build(name) for name, camera in made.cameras.items())
        cameras = all_cameras(replace(robot, cameras=()), replace(scene, cameras=built, source=str(path)))
        textures, content = _textures(path, made.look.texture_files)
        views = Views(cameras, made.look, hashlib.sha256(path.read_bytes() + content).hexdigest(), textures)
    else:
        cameras = _named(wanted, all_cameras(robot, scene))
        views = Views(cameras, Look(), hashlib.sha256(wanted.encode()).hexdigest())
    odd = [one for one in views.cameras if one.intrinsics.width % 2 or one.intrinsics.height % 2]
    if odd:
        faults = [f"cameras.{one.name}: videos need an even width and height; change it by 1" for one in odd]
        raise ConfigError(wanted, faults)
    return views


def _textures(path: Path, names: Sequence[str]) -> tuple[tuple[Pixels, ...], bytes]:
    """Return the images beside a file, and the bytes of their files."""
    made, content = list[Pixels](), b""
    for i, name in enumerate(names):
        try:
            made.append(read_texture(path.parent / name))
        except ValueError as error:
            raise ConfigError(str(path), [f"look.texture_files[{i}]: {error}"]) from error
        content += (path.parent / name).read_bytes()
    return tuple(made), content


def _named(wanted: str, there: Sequence[Camera]) -> tuple[Camera, ...]:
    by_name = {camera.name: camera for camera in there}
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    if not by_name:
        text = "neither robot nor scene has cameras; give a YAML file with the key cameras"
        raise ConfigError("--cameras", [text])
    unknown = [name for name in names if name not in by_name]
    if unknown or not names:
        faults = [f"there is no camera {name!r}; {nearest(name, sorted(by_name))}" for name in unknown]
        raise ConfigError("--cameras", faults or [f"is empty; name some of {', '.join(sorted(by_name))}"])
    return tuple(by_name[name] for name in dict.fromkeys(names))


@dataclass(frozen=True)
class Dressed:
    """What one episode drew for its pictures.

    Attributes:
        cameras: The cameras where it has them.
        colors: Colours of the objects by name.
        lighting: The light.
        textures: Textures of the objects by name.
    """

    cameras: tuple[Camera, ...]
    colors: dict[str, Color]
    lighting: Lighting
    textures: dict[str, Pixels]


def draw_look(views: Views, scene: Scene, episode: int, seed: int) -> Dressed:
    """Draw the look of an episode; the same for the same arguments.

    Args:
        views: Cameras and ranges.
        scene: The scene as the episode has it.
        episode: Number of the episode.
        seed: Seed of the looks: another one gives the same states another look.
    """
    look, rng = views.look, np.random.default_rng([episode, seed, 23])
    factor, tilt, turn = rng.random(3).tolist()
    lighting = DAYLIGHT
    if look.light is not None:
        lighting = replace(lighting, factor=look.light[0] + factor * (look.light[1] - look.light[0]))
    if look.light_tilt > 0.0:
        angle, about = tilt * look.light_tilt, turn * 2.0 * np.pi
        across = np.sin(angle)
        direction = (float(across * np.cos(about)), float(across * np.sin(about)), float(-np.cos(angle)))
        lighting = replace(lighting, direction=direction)
    colors: dict[str, Color] = {}
    for item in scene.objects:
        red, green, blue = rng.random(3).tolist()
        colors[item.name] = (red, green, blue, item.color[3]) if look.colors else item.color
    cameras = tuple(_moved(one, look, rng) for one in views.cameras)
    painter = np.random.default_rng([episode, seed, 25])
    textures = {
        name: _texture(views, color, painter) for name, color in colors.items() if _has_textures(look)
    }
    return Dressed(cameras, colors, lighting, textures)


def _has_textures(look: Look) -> bool:
    return look.textures or bool(look.texture_files)


def _texture(views: Views, color: Color, rng: np.random.Generator) -> Pixels:
    """Draw a texture: one of the files, a pattern, or where both are wanted either with the same chance."""
    is_file, number = rng.random(2).tolist()
    pattern, files = drawn_pattern(rng, color), views.textures
    return (
        files[int(number * len(files))] if files and (is_file < 0.5 or not views.look.textures) else pattern
    )


def _moved(camera: Camera, look: Look, rng: np.random.Generator) -> Camera:
    shift, turn = rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3)
    if look.camera_shift == 0.0 and look.camera_turn == 0.0:
        return camera
    roll, pitch, yaw = (look.camera_turn * turn).tolist()
    moved = Pose.of(look.camera_shift * shift, Rotation.from_rpy(roll, pitch, yaw))
    return replace(camera, parent_T_camera=camera.parent_T_camera @ moved)
