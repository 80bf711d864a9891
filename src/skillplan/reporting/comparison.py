"""Learning curves of groups of runs, task by task and over all tasks, ready to be drawn or written down."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from skillplan.errors import unknown_name
from skillplan.reporting import known
from skillplan.reporting.alignment import common_grid, on_grid
from skillplan.reporting.groups import Groups, group
from skillplan.reporting.reach import Ratio, Reach, frames_to_reach, ratio
from skillplan.reporting.runs import RETURN, Found, Run
from skillplan.reporting.statistic import Estimate, Statistic, estimate

ALL_TASKS = "all tasks"
HALFWAY = 0.5


BEYOND = 1.25
"""Other people's scores are shown up to so many times the frames of the longest curve."""


@dataclass(frozen=True)
class Curve:
    """One group of runs on one task, or on all tasks."""

    name: str
    agent: str
    grid: np.ndarray
    """Frames `[points]`, shared by the panel."""
    strata: tuple[np.ndarray, ...]
    """Per task the values `[runs, points]`, NaN where a run has none."""

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return sum(map(len, self.strata))

    @property
    def covered(self) -> np.ndarray:
        """The grid points `[points]` at which every run has a value."""
        return np.logical_not(np.isnan(np.concatenate(self.strata)).any(axis=0))

    @property
    def frames(self) -> np.ndarray:
        """The frames at which every run has a value."""
        return self.grid[self.covered]

    def complete(self) -> list[np.ndarray]:
        """The strata at these frames."""
        return [stratum[:, self.covered] for stratum in self.strata]

    def estimate(self, statistic: Statistic) -> Estimate:
        """The statistic over the runs, at the frames at which every run has a value."""
        return estimate(self.complete(), statistic)


@dataclass(frozen=True)
class ReachRow:
    """One line of the table of sample efficiency."""

    level: float
    curve: str
    reach: Reach
    ratio: Ratio | None
    """Against the baseline; None for itself."""


@dataclass(frozen=True)
class Panel:
    """The curves of one task."""

    task: str
    curves: tuple[Curve, ...]
    floors: Mapping[str, float] = field(default_factory=dict)
    references: tuple[known.Reference, ...] = ()
    best: float | None = None
    reaches: tuple[ReachRow, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Everything that the figure and the tables show."""

    metric: str
    statistic: Statistic
    panels: tuple[Panel, ...]
    baseline: str | None
    notes: tuple[str, ...]


def gather(
    found: Found,
    *,
    metric: str = RETURN,
    statistic: Statistic = "iqm",
    levels: Sequence[float] = (),
    baseline: str | None = None,
    references: bool = False,
) -> Comparison:
    """Compare the runs that were found, which must have been read with `metric`.

    Args:
        found: The runs.
        metric: What is drawn over frames.
        statistic: How the runs of a group are summed up.
        levels: Returns whose frames-to-reach are compared; by default half of the way from the floor up to the highest
            curve, and 0.5 over all tasks.
        baseline: The group against which ratios are taken; by default Dreamer where it is there, else the first.
        references: Whether other people's scores are shown.
    """
    notes = list(found.notes)
    usable = [run for run in found.runs if metric in run.series]
    notes += [_without(run, metric) for run in found.runs if metric not in run.series]
    groups = group(usable)
    notes += _twice(groups)
    names = list(dict.fromkeys(name for members in groups.values() for name in members))
    chosen = _baseline(baseline, names)
    panels = []
    for task, members in groups.items():
        curves = _curves(members, metric)
        notes += _shorter(task, members, curves)
        panel = Panel(task, curves)
        if metric.endswith("/return"):
            panel = _with_levels(panel, next(iter(members.values()))[0], references)
            panel = replace(panel, reaches=_reaches(panel, levels or _halfway(panel, statistic), statistic, chosen))
        panels.append(panel)
    if len(panels) > 1 and metric.endswith("/return"):
        together, lines = _together(panels, groups, metric, statistic, chosen)
        notes += lines
        panels += together
    return Comparison(metric, statistic, tuple(panels), chosen, tuple(dict.fromkeys(notes)))


def _curves(members: Mapping[str, Sequence[Run]], metric: str) -> tuple[Curve, ...]:
    grid = common_grid([run.series[metric] for runs in members.values() for run in runs])
    return tuple(
        Curve(name, runs[0].agent, grid, (np.stack([on_grid(run.series[metric], grid) for run in runs]),))
        for name, runs in members.items()
    )


def _with_levels(panel: Panel, run: Run, references: bool) -> Panel:
    """The panel with what is known of its task."""
    frames = run.spec.episode_frames if run.spec else None
    longest = max((curve.grid[-1] for curve in panel.curves if len(curve.grid)), default=0.0)
    return replace(
        panel,
        floors=known.floors(panel.task),
        references=known.references_within(panel.task, BEYOND * longest) if references else (),
        best=known.best_return(panel.task, frames),
    )


def _scale(panel: Panel, statistic: Statistic) -> tuple[float, float]:
    """Floor, and best return or, where that is unknown, the top of the highest curve."""
    floor = max(panel.floors.values(), default=0.0)
    if panel.best is not None:
        return floor, panel.best
    tops = [curve.estimate(statistic).value for curve in panel.curves]
    return floor, max((float(top.max()) for top in tops if top.size), default=floor + 1.0)


def _halfway(panel: Panel, statistic: Statistic) -> list[float]:
    """Halfway from the floor to the top of the highest curve, two digits of it."""
    floor, top = _scale(replace(panel, best=None), statistic)
    return [float(f"{floor + HALFWAY * (top - floor):.2g}")]


def _reaches(panel: Panel, levels: Sequence[float], statistic: Statistic, baseline: str | None) -> tuple[ReachRow, ...]:
    rows = []
    curves = [curve for curve in panel.curves if curve.covered.any()]
    for level in levels:
        # A seed for each: the samples of two groups have nothing to do with each other.
        reached = {
            curve.name: frames_to_reach(curve.frames, curve.complete(), level, statistic, seed=number)
            for number, curve in enumerate(curves)
        }
        base = reached.get(baseline or "")
        for name, reach in reached.items():
            rows.append(ReachRow(level, name, reach, ratio(reach, base) if base and name != baseline else None))
    return tuple(rows)


def _together(
    panels: Sequence[Panel], groups: Groups, metric: str, statistic: Statistic, baseline: str | None
) -> tuple[list[Panel], list[str]]:
    """The panel of all tasks, with returns from 0 (floor) to 1 (best return), of the groups that have run on all."""
    shared = [name for name in groups[panels[0].task] if all(name in members for members in groups.values())]
    if not shared:
        return [], ["No curve has runs on all tasks: there is nothing to sum up over tasks."]
    lines = [
        f"{panel.task}: its best return is unknown, so that over all tasks the top of its highest curve counts as 1."
        for panel in panels
        if panel.best is None
    ]
    unmeasured = [panel.task for panel in panels if not panel.floors]
    if unmeasured:
        lines.append(f"The floor of {' and '.join(unmeasured)} was not measured: over all tasks it counts as 0.")
    members = {panel.task: {name: groups[panel.task][name] for name in shared} for panel in panels}
    grid = common_grid([run.series[metric] for named in members.values() for runs in named.values() for run in runs])
    curves = []
    for name in shared:
        strata = []
        for panel in panels:
            floor, top = _scale(panel, statistic)
            values = np.stack([on_grid(run.series[metric], grid) for run in members[panel.task][name]])
            strata.append((values - floor) / (top - floor))
        curves.append(Curve(name, members[panels[0].task][name][0].agent, grid, tuple(strata)))
    if not any(curve.covered.any() for curve in curves):
        return [], [*lines, "The tasks have no frames in common at which they could be summed up."]
    together = Panel(ALL_TASKS, tuple(curves), best=1.0)
    return [replace(together, reaches=_reaches(together, [HALFWAY], statistic, baseline))], lines


def _baseline(asked: str | None, names: Sequence[str]) -> str | None:
    if asked is not None and asked not in names:
        raise unknown_name("curve", asked, names)
    return asked or ("dreamer" if "dreamer" in names else next(iter(names), None))


def _without(run: Run, metric: str) -> str:
    progress = f"it is at {run.counts['frames']:,.0f} frames" if run.counts else "its log is empty"
    what = "no evaluation" if metric == RETURN else f"no {metric}"
    return f"{run.name} ({run.task}) has {what} yet: {progress}."


def _twice(groups: Groups) -> list[str]:
    """Runs of one group with the same seed are no independent samples."""
    notes = []
    for task, members in groups.items():
        for name, runs in members.items():
            seeds = Counter(run.seed for run in runs)
            again = sorted(seed for seed, count in seeds.items() if count > 1)
            if again:
                several = ", ".join(map(str, again))
                notes.append(f"{task}: {name} has several runs with seed {several}; its interval may be too narrow.")
    return notes


def _shorter(task: str, members: Mapping[str, Sequence[Run]], curves: Sequence[Curve]) -> list[str]:
    notes = []
    for curve in curves:
        runs = zip(members[curve.name], curve.strata[0], strict=True)
        last = {run.name: float(curve.grid[~np.isnan(values)][-1]) for run, values in runs}
        if min(last.values()) < max(last.values()):
            first = min(last, key=lambda name: last[name])
            notes.append(
                f"{task}: {curve.name} is summed up to {last[first]:,.0f} frames, where its run {first} ends; "
                f"others go on to {max(last.values()):,.0f}."
            )
    return notes
