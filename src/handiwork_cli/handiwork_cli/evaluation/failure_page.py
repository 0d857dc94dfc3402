"""One HTML page with the films of failed episodes."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.dataset.generate import Sources
from handiwork_data.episodes.episode import Episode, write_atomically
from handiwork_data.episodes.settings import draw, read_task_file
from handiwork_data.evaluation.folder import ResultFolder
from handiwork_data.evaluation.rows import EpisodeRow
from handiwork_data.rendering.render import state_of
from handiwork_viz.film.film import FILM_PX, Projection, write_film
from handiwork_viz.film.recorder import FilmRecording, Instant

PAGE, FILMS = "failures.html", "films"
FRAMES_HZ = 5.0
"""Pictures a second of the world."""
MOST_FRAMES = 100
"""A longer episode has pictures further apart."""
HURRY = 2.0
"""Seconds of the world that a film shows in a second."""
STYLE = (
    "body{font-family:sans-serif;margin:2em;max-width:75em}figure{display:inline-block;margin:0 1em 1.5em 0;"
    "width:480px;vertical-align:top}figcaption{font-size:90%}code{background:#eee}"
)


def write_failure_page(
    folder: ResultFolder,
    tasks: dict[str, Sources],
    count: int,
    report: Callable[[str], None] = lambda _text: None,
) -> tuple[Path, int]:
    """Draw the films that are not there yet, and write the page.

    Args:
        folder: Folder of the results.
        tasks: Files of the tasks, by name.
        count: Most films of a task, of the failed episodes with the least numbers.
        report: Takes the name of each film that is drawn.

    Returns:
        The page, and the number of its films.

    Raises:
        EpisodeError: A recording is damaged, or the page cannot be written.
        OSError: A film cannot be written.
    """
    figures = list[str]()
    for name, sources in tasks.items():
        data = folder.task(name)
        failed = [row for row in folder.rows(name).values() if not row.success and data.has(row.episode)]
        for row in failed[:count]:
            film = Path(FILMS) / f"{name}-{row.episode:09d}.webp"
            if not (folder.path / film).exists():
                report(film.name)
                _draw(data.read(row.episode), sources, folder.path / film)
            figures.append(_figure(row, film))
    page = folder.path / PAGE
    write_atomically(page, _page(figures).encode())
    return page, len(figures)


def _draw(episode: Episode, sources: Sources, path: Path) -> None:
    robot, scene = load_robot(sources.robot), load_scene(sources.scene)
    drawn = draw(read_task_file(sources.task).settings, scene, episode.meta.episode).scene
    samples, rate_hz = len(episode.columns["time"]), float(episode.meta.rate_hz)
    skip = max(round(rate_hz / FRAMES_HZ), -(-samples // MOST_FRAMES), 1)
    instants = tuple(Instant(*state_of(episode, sample)) for sample in range(0, samples, skip))
    objects = {item.name: item.body for item in drawn.objects}
    recording = FilmRecording(objects, drawn.world_T_base, instants)
    frames = Projection(recording, robot, sources.robot).frames(instants, FILM_PX)
    part = path.with_name(f".{path.name}")
    write_film(frames, skip / rate_hz / HURRY, part.with_suffix(".webp"))
    part.with_suffix(".webp").replace(path)


def _figure(row: EpisodeRow, film: Path) -> str:
    said = html.escape
    events = ", ".join(f"{one.kind} {one.what} at {one.time_s:.2f} s" for one in row.event_log) or "none"
    reached = [one.condition for one in row.subtasks if one.first_true_s is not None]
    lines = [
        f"<b>{said(row.env_name)}, episode {row.episode}</b>: {said(row.end)}",
        f"&ldquo;{said(row.instruction)}&rdquo;" if row.instruction else "",
        said(row.reason),
        f"score {row.score:.2f}, at its peak {row.score_peak:.2f}, {row.duration:.1f} s",
        f"events: {said(events)}",
        f"subtasks reached: {said(', '.join(reached) or 'none')}" if row.subtasks else "",
    ]
    caption = "<br>".join(line for line in lines if line)
    source, alt = said(film.as_posix()), said(f"{row.env_name} {row.episode}")
    return f'<figure><img src="{source}" alt="{alt}" width="480"><figcaption>{caption}</figcaption></figure>'


def _page(figures: list[str]) -> str:
    body = "\n".join(figures) or "<p>There is no recording of a failed episode.</p>"
    head = f'<meta charset="utf-8"><title>Failed episodes</title><style>{STYLE}</style>'
    note = f"<p>{len(figures)} films, {HURRY:g} times as fast as the world.</p>"
    page = f"<h1>Failed episodes</h1>{note}\n{body}"
    return f"<!doctype html>\n<html lang=en><head>{head}</head><body>{page}</body></html>\n"
