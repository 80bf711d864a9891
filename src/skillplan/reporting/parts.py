"""What a report shows of single runs: skills, trajectories, plans and films."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from skillplan.errors import UserError
from skillplan.reporting import open_loop, plan, skills, trajectories, video
from skillplan.reporting.groups import Groups
from skillplan.reporting.page import Child, Markup, film, missing, picture, section, tag
from skillplan.reporting.runs import Run
from skillplan.training.restore import LoadedRun, load_run
from skillplan.training.run_directory import RunDirectory

FEW = 5
FILMED = 3
"""Plans of an episode in a film of the page; drawing more of them would take longer than all the rest."""
LARGEST_FILM = 4_000_000
"""Bytes; a larger one is not put on the page."""


class Part(NamedTuple):
    """A section of the page in which every run is shown for itself."""

    anchor: str
    title: str
    introduction: str
    show: Callable[[Run, LoadedRun], Iterator[Markup]]
    """Pictures of a run and its newest checkpoint."""


def played_parts(groups: Groups, most: int) -> list[tuple[str, str, Markup]]:
    """Sections for which agents play: those of the first run of every curve that has a checkpoint, at most so many."""
    chosen, others = _choose(groups, most)
    shown: dict[str, list[Child]] = {part.anchor: [] for part in PLAYED}
    for number, run in enumerate(chosen, start=1):
        print(f"Playing {run.path} ({number} of {len(chosen)})", file=sys.stderr, flush=True)
        try:
            loaded = load_run(run.path or Path())
        except UserError as error:
            for part in PLAYED:
                shown[part.anchor].append(missing(str(error)))
            continue
        for part in PLAYED:
            shown[part.anchor].append(tag("h3", f"{run.name} on {run.task}"))
            shown[part.anchor].append(tag("div", *_guarded(part.show(run, loaded)), class_="figures"))
    for content in shown.values():
        if not content:
            content.append(missing("No agent played for this page."))
    if others:
        shown[PLAYED[0].anchor].append(missing(_rest(others, most)))
    return [
        (part.anchor, part.title, section(part.anchor, part.title, tag("p", part.introduction), shown[part.anchor]))
        for part in PLAYED
    ]


def trajectories_part(runs: Sequence[Run]) -> tuple[str, str, Markup]:
    """The section of paths while training, read from the episodes on disk."""
    notes: list[str] = []
    shown = [shown for run in runs if run.path is not None for shown in _guarded(_trajectories(run.path, notes))]
    introduction = (
        "Paths from above while training, early ones dark and late ones bright, with dots where a new skill begins."
    )
    if not shown:
        shown = [missing("A table holds no episodes: there are no paths.")]
    title = "Trajectories"
    body = [tag("div", *shown, class_="figures"), *map(missing, dict.fromkeys(notes))]
    return "trajectories", title, section("trajectories", title, tag("p", introduction), *body)


def _choose(groups: Groups, most: int) -> tuple[list[Run], list[Run]]:
    """Runs that are played, and those that are not."""
    runs = [run for members in groups.values() for several in members.values() for run in several if run.path]
    first = (
        next((run for run in several if run.path and _has_checkpoint(run.path)), None)
        for members in groups.values()
        for several in members.values()
    )
    chosen = [run for run in first if run is not None][:most]
    return chosen, [run for run in runs if all(run is not one for one in chosen)]


def _has_checkpoint(path: Path) -> bool:
    directory = RunDirectory(path).checkpoints
    return directory.is_dir() and any(directory.iterdir())


def _rest(others: Sequence[Run], most: int) -> str:
    waiting = [str(run.path) for run in others if run.path and not _has_checkpoint(run.path)]
    later = [str(run.path) for run in others if run.path and _has_checkpoint(run.path)]
    sentences = []
    if later:
        sentences.append(f"Not played for this page: {_few(later)}; a higher --play than {most} shows more.")
    if waiting:
        sentences.append(f"No checkpoint yet, and so nobody to play: {_few(waiting)}.")
    return " ".join(sentences)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:FEW])
    return f"{shown} and {len(names) - FEW} more" if len(names) > FEW else shown


def _guarded(shown: Iterator[Markup]) -> list[Markup]:
    """What can be shown, and a sentence about the first thing that cannot."""
    done: list[Markup] = []
    try:
        done.extend(shown)
    except UserError as error:
        done.append(missing(str(error)))
    except Exception as error:  # noqa: BLE001
        # One agent that cannot play, for whatever reason, must not cost the page about all the others.
        done.append(missing(f"This could not be shown: {type(error).__name__}: {error}"))
    return done


def _skills(run: Run, loaded: LoadedRun) -> Iterator[Markup]:
    held = skills.gather(loaded)
    what, how = skills.describe(held), skills.figures_of_merit(held)
    alt = (
        f"{what}: pictures from start to end, paths, ends, which skills are alike, and which can be told apart. {how}."
    )
    yield picture(skills.draw(held), alt, f"{what}: {how}.", raster=True, wide=True)
    if held.pictures is not None:
        yield _film(lambda path: skills.record(held, path), f"Film of {what}", f"skillplan skills {run.path}")
    for note in held.notes:
        yield missing(note)


def _plans(run: Run, loaded: LoadedRun) -> Iterator[Markup]:
    plans = plan.gather(loaded)
    what = plan.describe(plans)
    alt = f"{what}: the skills that were tried, iteration by iteration, and what came of the plan."
    yield picture(plan.draw(plans), alt, f"{what}.", raster=True, wide=True)
    first = plans._replace(thoughts=plans.thoughts[:FILMED])
    what = f"Film of the first {len(first.thoughts)} plans: {what}"
    yield _film(lambda path: plan.record(first, path), what, f"skillplan plan {run.path}")


def _foreseen(_run: Run, loaded: LoadedRun) -> Iterator[Markup]:
    foreseen = open_loop.gather(loaded)
    what, how = open_loop.describe(foreseen), open_loop.figures_of_merit(foreseen)
    yield picture(open_loop.draw(foreseen), f"{what}, beside the truth: {how}.", f"{what}: {how}.", wide=True)


def _films(run: Run, loaded: LoadedRun) -> Iterator[Markup]:
    played, watched = video.gather(loaded)
    what = video.title_of(watched).replace("\n", ": ")
    yield _film(lambda path: video.write(played, watched, path), f"Film of {what}", f"skillplan video {run.path}")


def _trajectories(run: Path, notes: list[str]) -> Iterator[Markup]:
    gathered = trajectories.gather(run)
    what = trajectories.describe(gathered)
    yield picture(trajectories.draw([gathered]), f"Paths while training of {what}", what, raster=True)
    notes += gathered.notes


def _film(record: Callable[[Path], Path], label: str, command: str) -> Markup:
    """A film that is recorded into a file and put on the page, unless it is too large for it."""
    with TemporaryDirectory() as directory:
        content = record(Path(directory) / "film.mp4").read_bytes()
    if len(content) > LARGEST_FILM:
        return missing(
            f"{label}: {len(content) / 1e6:.0f} MB are too many for this page; `{command}` writes it to a file."
        )
    return film(content, label, label)


PLAYED = (
    Part(
        "skills",
        "Skills",
        "Several skills, each held for a while from one start: what they do, and how different that is.",
        _skills,
    ),
    Part(
        "plans",
        "Plans",
        "What the planner tried and imagined in one noise-free episode, and what then happened.",
        _plans,
    ),
    Part(
        "foreseen",
        "Predictions",
        "What the world model foresees of known actions, which tells how far its imagination is to be trusted.",
        _foreseen,
    ),
    Part(
        "films",
        "Films",
        "A noise-free episode with the skill, the value of the plan and the reward.",
        _films,
    ),
)
