"""One page about runs, in one file that needs nothing else."""

import dataclasses
from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.resources import files

import skillplan
from skillplan.reporting import known
from skillplan.reporting.command_line import commands
from skillplan.reporting.comparison import ALL_TASKS, Comparison, Panel
from skillplan.reporting.comparison import gather as compare
from skillplan.reporting.curves import draw as draw_curves
from skillplan.reporting.groups import differing, flatten, group
from skillplan.reporting.page import Child, Markup, join, missing, page, picture, section, table, tag
from skillplan.reporting.parts import played_parts, trajectories_part
from skillplan.reporting.runs import RETURN, Found, Run
from skillplan.reporting.style import agent_color
from skillplan.reporting.words import frames_words, ratio_words

SPREAD = "evaluation/return_std"
TRAINING = "train/return"
SKILLS = {
    "skill/displacement_across": "how far apart different skills end (m)",
    "skill/log_q_prior": "median log q of skills from N(0, I) (nats)",
}
PLAY = 2
"""Runs whose agents play for a report, unless it is told otherwise."""
METRICS = (RETURN, SPREAD, TRAINING, *SKILLS)


def build(found: Found, *, play: int = PLAY) -> str:
    """The page about the runs that were found, which must have been read with `METRICS`.

    The agents of at most `play` runs are loaded and play, for skills, plans and films.
    """
    comparison, groups = compare(found), group(found.runs)
    names = {id(run): name for members in groups.values() for name, runs in members.items() for run in runs}
    played = played_parts(groups, play)
    sections = [
        ("summary", "Summary", _summary(found, names, comparison)),
        ("curves", "Curves", _curves(comparison)),
        *played[:1],
        trajectories_part(found.runs),
        *played[1:],
        ("settings", "Settings", _settings(found.runs, names)),
        ("commands", "Commands", _commands(found.runs)),
    ]
    tasks = list(dict.fromkeys(run.task for run in found.runs))
    title = f"{_count(len(found.runs), 'run')} on {', '.join(tasks) if len(tasks) < 4 else _count(len(tasks), 'task')}"
    made = f"Made by skillplan {skillplan.__version__} on {datetime.now().astimezone():%Y-%m-%d at %H:%M %Z}."
    style = (files("skillplan.reporting") / "report.css").read_text()
    closing = tag("p", "This page is one file and loads nothing: it can be kept, sent and opened anywhere.")
    return page(title, style, tag("p", made), sections, closing)


def _summary(found: Found, names: dict[int, str], comparison: Comparison) -> Markup:
    header = ("Run", "Curve", "Task", "Size", "Seed", "Frames", "Last evaluation", "Floor", "Time")
    rows = [
        (
            run.name,
            _swatch(run.agent, names[id(run)]),
            run.task,
            run.size,
            str(run.seed),
            _progress(run),
            _last_evaluation(run),
            _floor(run.task),
            _time(run.counts.get("seconds")),
        )
        for run in found.runs
    ]
    caption = "Every run: its last noise-free evaluation, with the standard deviation between its episodes."
    parts: list[Child] = [_ends(comparison), table(caption, header, rows, numbers=(4, 5, 6, 7, 8))]
    if comparison.notes:
        notes = tag("ul", *(tag("li", note) for note in comparison.notes), class_="notes")
        parts += [tag("h3", "What to know, and what is missing"), notes]
    return section("summary", "Summary", *parts)


def _progress(run: Run) -> str:
    done = run.counts.get("frames")
    if done is None:
        return "none yet"
    planned = run.config.frames if run.config else done
    return f"{done:,.0f}" if done >= planned else f"{done:,.0f} of {planned:,}"


def _last_evaluation(run: Run) -> str:
    if RETURN not in run.series:
        return "none yet"
    text = f"{run.series[RETURN].values[-1]:.1f}"
    return f"{text} ± {run.series[SPREAD].values[-1]:.1f}" if SPREAD in run.series else text


def _floor(task: str) -> str:
    return ", ".join(f"{value:.0f} {who}" for who, value in known.floors(task).items()) or "not measured"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{seconds / 60:.1f} min"


def _swatch(agent: str, name: str) -> Markup:
    dot = tag("span", class_="dot", style=f"background:{agent_color(agent)}", aria_hidden="true")
    return join([dot, name])


def _curves(comparison: Comparison) -> Markup:
    if not comparison.panels:
        return section("curves", "Learning curves", missing("No run has been evaluated yet: there are no curves."))
    pictures = []
    for panel in comparison.panels:
        figure = draw_curves(comparison, [panel])
        pictures.append(picture(figure, _curves_alt(panel, comparison), _scale(panel)))
    how = (
        "Thick lines are the interquartile mean of a curve's runs (their mean where there are fewer than four), bands "
        "its 95% interval by a stratified bootstrap of whole runs, thin lines single runs."
    )
    parts: list[Child] = [tag("p", how), tag("div", *pictures, class_="figures")]
    if any(panel.reaches for panel in comparison.panels):
        parts.append(_reaches(comparison))
    return section("curves", "Learning curves", *parts)


def _scale(panel: Panel) -> str:
    """By what the returns of a task are to be judged."""
    if panel.task == ALL_TASKS:
        return "Returns of each task from 0, its floor, to 1, the best possible; resampled within tasks."
    levels = [f"{value:.0f} for {who}" for who, value in panel.floors.items()]
    levels += [f"at most {panel.best:.0f}"] if panel.best is not None else []
    return f"Returns on {panel.task}: {', '.join(levels) or 'floor and best return are not known'}."


def _curves_alt(panel: Panel, comparison: Comparison) -> str:
    ends = [
        f"{name} ends at {value} after {frames} frames" for _, name, _, frames, value, _ in _end_rows(comparison, panel)
    ]
    return f"Learning curves on {panel.task}: {'; '.join(ends)}."


def _ends(comparison: Comparison) -> Markup:
    rows = [
        (task, name, runs, frames, value, span)
        for panel in comparison.panels
        for task, name, runs, frames, value, span in _end_rows(comparison, panel)
    ]
    header = ("Task", "Curve", "Runs", "Frames", "Return", "95% interval")
    caption = "Where the curves end: noise-free return over the runs of a curve."
    return table(caption, header, rows, numbers=(2, 3, 4, 5)) if rows else missing("No run has been evaluated yet.")


def _end_rows(comparison: Comparison, panel: Panel) -> Iterable[tuple[str, str, str, str, str, str]]:
    digits = 2 if panel.task == ALL_TASKS else 1
    for curve in panel.curves:
        value, low, high = curve.estimate(comparison.statistic)
        if not len(value):
            continue
        span = f"{low[-1]:.{digits}f} to {high[-1]:.{digits}f}" if low[-1] == low[-1] else "one run"
        yield panel.task, curve.name, str(curve.runs), f"{curve.frames[-1]:,.0f}", f"{value[-1]:.{digits}f}", span


def _reaches(comparison: Comparison) -> Markup:
    rows = [
        (panel.task, f"{row.level:g}", row.curve, frames_words(row), ratio_words(row) or "–")
        for panel in comparison.panels
        for row in panel.reaches
    ]
    header = ("Task", "Return", "Curve", "Frames to reach it", f"Times as many for {comparison.baseline}")
    return table("Sample efficiency, with 95% intervals.", header, rows, numbers=(1, 3, 4))


def _settings(runs: Sequence[Run], names: dict[int, str]) -> Markup:
    """Per task the settings that are not the same in all runs."""
    parts: list[Child] = []
    described = [run for run in runs if run.config is not None]
    for task in dict.fromkeys(run.task for run in described):
        here = [run for run in described if run.task == task]
        curves = list(dict.fromkeys(names[id(run)] for run in here))
        leaves = {id(run): _leaves(run) for run in here}
        differ = [name for name in differing(list(leaves.values())) if name not in ("task", "seed")]
        if not differ:
            parts.append(tag("p", f"All runs on {task} have the same settings, but for the seed."))
            continue
        rows = []
        for name in differ:
            cells = []
            for curve in curves:
                values = [_shown(leaves[id(run)].get(name)) for run in here if names[id(run)] == curve]
                cells.append(" or ".join(dict.fromkeys(values)))
            rows.append((tag("code", name), *cells))
        parts.append(table(f"Settings in which runs on {task} differ.", ("Setting", *curves), rows))
    if len(described) < len(runs):
        parts.append(missing("Tables tell a run's agent and size, but none of its other settings."))
    return section("settings", "Settings that differ", *parts)


def _leaves(run: Run) -> dict[str, object]:
    leaves = flatten(dataclasses.asdict(run.config)) if run.config else {}
    source = run.source or {}
    carried = {"carried over from": source.get("task"), **source.get("options", {})} if source else {}
    return leaves | {name: value for name, value in carried.items() if name not in leaves}


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _commands(runs: Sequence[Run]) -> Markup:
    parts: list[Child] = []
    for run in runs:
        about = f"{run.name} on {run.task}, commit {run.commit}"
        if run.commit.endswith("+"):
            about += " (+: with changes that were not committed)"
        parts += [tag("h3", about), tag("pre", tag("code", "\n".join(commands(run))))]
        if run.config is None:
            parts.append(missing(f"From {run.table}: a table does not tell whether further settings were given."))
    return section("commands", "Commands that made these runs", *parts)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
