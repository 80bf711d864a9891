"""Transfer: a run on a new task that begins with what another run has learned (paper section 4.3)."""

import contextlib
import dataclasses
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skillplan.config import SEARCHING, Config
from skillplan.envs.relabel import check_relabel, relabel
from skillplan.errors import UserError
from skillplan.learner import Learner
from skillplan.learners import learner_of
from skillplan.presets import with_overrides
from skillplan.replay.episode import load, save
from skillplan.replay.restore import first_episodes
from skillplan.training.checkpoint import Checkpoints, state_sha256
from skillplan.training.counters import Counters
from skillplan.training.evaluate import make_environment
from skillplan.training.loop import train
from skillplan.training.restore import LoadedRun, load_run
from skillplan.training.run_directory import RunDirectory, check_same_world
from skillplan.training.seeding import Stream, key

FIXED_BY_POLICY = ("policy", "predictor")
"""What `fix_policy` freezes."""


@dataclass(frozen=True)
class TransferOptions:
    """What a transfer may be told beyond its source and its target."""

    frames: int
    """Frames of experience on the new task."""
    seed: int
    """Drives the new run."""
    fix_policy: bool = False
    """Freeze policy and predictor, and leave out the intrinsic reward."""
    relabel: bool = False
    """Begin with the source's episodes, paid as the target pays."""
    keep_heads: bool = False
    """Keep the reward head and the value, which describe the old task."""
    skill_duration: int | None = None
    """A new K for acting and planning."""
    horizon: int | None = None
    """A new H for acting and planning."""
    population: int | None = None
    """A new G for acting."""
    elites: int | None = None
    """A new M for acting."""
    iterations: int | None = None
    """A new MaxCEMiter for acting."""
    explore_fraction: float | None = None
    """Share of the skills held while collecting that are drawn from N(0, I)."""


SEARCH = ("population", "elites", "iterations")
"""Options on how hard acting searches for a plan."""
ALWAYS_FREE = {"frames"}
"""Options in which a transfer may differ from its continuation."""


@dataclass(frozen=True)
class Relabelled:
    """What became of the source's episodes."""

    episodes: int
    old_reward: float
    """Mean reward of an agent step as it was paid."""
    new_reward: float
    """The same as the target pays it."""
    seconds: float


class Begun(NamedTuple):
    """What a transfer began with."""

    parts: dict[str, str]
    """What became of each part of the agent, in words."""
    relabelled: Relabelled | None


def transfer_config(source: Config, target: str, options: TransferOptions) -> Config:
    """The configuration of the new run: the source's, but for the task and what the options change.

    Training keeps its segments, its horizon and its searches whatever acting gets, so that no shape changes.
    """
    changes: dict[str, Any] = {
        "task": target,
        "frames": options.frames,
        "seed": options.seed,
        "training": {"seed_policy": "agent"},
    }
    if options.skill_duration is not None or options.horizon is not None:
        if source.skill.size == 0:
            raise UserError(f"{source.agent} has no skills: leave out --skill-duration and --horizon.")
        skill, planner = source.skill, source.planner
        duration = skill.duration if options.skill_duration is None else options.skill_duration
        changes["skill"] = {"duration": duration, "segment_length": skill.training_segment}
        if source.learner == "hiro":
            _check_at_least("skill-duration", duration, 1)
            if options.horizon is not None:
                raise UserError(f"{source.agent} does not plan: leave out --horizon.")
        else:
            horizon = planner.horizon if options.horizon is None else options.horizon
            _check_plan(duration, horizon)
            # With several skills in a plan, a smaller lambda would leave the later ones next to no say in its score.
            plan_lambda = 1.0 if horizon > duration else planner.plan_lambda
            trained_at = planner.training_horizon or planner.horizon
            changes["planner"] = {"horizon": horizon, "training_horizon": trained_at, "plan_lambda": plan_lambda}
    search = {name: number for name in SEARCH if (number := getattr(options, name)) is not None}
    if search:
        changes["planner"] = {**changes.get("planner", {}), **_search(source, search)}
    if options.explore_fraction is not None:
        _check_share("explore-fraction", options.explore_fraction)
        if source.skill.size == 0:
            raise UserError(f"{source.agent} has no skills: leave out --explore-fraction.")
        changes["skill"] = {**changes.get("skill", {}), "explore_fraction": options.explore_fraction}
    if options.fix_policy:
        changes["training"]["frozen"] = tuple(dict.fromkeys((*source.training.frozen, *FIXED_BY_POLICY)))
        changes["discovery"] = {"intrinsic_scale": 0.0}
    return with_overrides(source, changes)


def _search(source: Config, search: dict[str, int]) -> dict[str, int]:
    """The planner's settings for searches of another size before acting, and of the source's size while training."""
    if source.skill.selection not in SEARCHING:
        raise UserError(f"{source.agent} does not search for plans: leave out --{next(iter(search))}.")
    for name, number in search.items():
        _check_at_least(name, number, 1)
    planner = source.planner
    wanted = {name: getattr(planner, name) for name in SEARCH} | search
    if wanted["elites"] > wanted["population"]:
        raise UserError(
            f"A search would keep {wanted['elites']} of {wanted['population']} plans: "
            f"give a --population of at least {wanted['elites']}, or fewer --elites."
        )
    kept = {f"training_{name}": getattr(planner, f"training_{name}") or getattr(planner, name) for name in SEARCH}
    return {**wanted, **kept}


def _check_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UserError(f"--{name} is {value}: give at least {least}.")


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise UserError(f"--{name} is {share}: give a share between 0 and 1.")


def _check_plan(duration: int, horizon: int) -> None:
    _check_at_least("skill-duration", duration, 1)
    _check_at_least("horizon", horizon, 2)
    if duration > horizon:
        raise UserError(
            f"A skill would be held for {duration} steps but a plan be judged by {horizon}: "
            f"give a --horizon of at least {duration}, or a shorter --skill-duration."
        )


def carried_parts(learner: Learner, options: TransferOptions) -> dict[str, str]:
    """What happens to each part, in words; parts that the agent does not have are left out."""
    parts = learner.carried(keep_heads=options.keep_heads, fix_policy=options.fix_policy)
    parts["optimisers"] = "kept, but for what starts anew"
    if learner.config.skill.size:
        parts["intrinsic reward"] = "off" if options.fix_policy else "as before"
    parts["replay"] = "the source's episodes, relabelled" if options.relabel else "empty"
    parts["first episodes"] = "played by the carried agent"
    return parts


def begin_transfer(source: Path, target: str, run: Path, options: TransferOptions) -> Begun:
    """Lay down a run at `run` that `train(…, resume=True)` takes up; the source is only read.

    The directory appears whole or not at all.
    """
    loaded = load_run(source)
    config = transfer_config(loaded.config, target, options)
    RunDirectory(run).refuse_existing()
    if options.relabel:
        check_relabel(loaded.config.task, target)
    world = make_environment(config)
    world.close()
    check_same_world(loaded.spec, world.spec)
    learner = learner_of(config)
    fresh = learner.initial(world.spec, key(config.seed, Stream.INITIAL_PARAMETERS))
    state = learner.carry_over(loaded.state, fresh, keep_heads=options.keep_heads)
    parts = carried_parts(learner, options)
    identity = {
        "run": str(source),
        "task": loaded.config.task,
        **loaded.counters.as_dict(),
        "state_sha256": state_sha256(loaded.state),
        "config": dataclasses.asdict(loaded.config),
        "options": dataclasses.asdict(options),
        "parts": parts,
    }
    with _appearing_whole(run) as partial:
        partial.create(config, world.spec, source=identity)
        relabelled = _relabel_episodes(source, loaded, target, partial.source_episodes) if options.relabel else None
        Checkpoints(partial.checkpoints).save(state, Counters())
    return Begun(parts, relabelled)


@contextlib.contextmanager
def _appearing_whole(run: Path) -> Iterator[RunDirectory]:
    """A directory under another name, which gets its own once the block is done, and goes where it fails."""
    partial = run.with_name(run.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        yield RunDirectory(partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if run.is_dir():
        run.rmdir()  # empty, as was checked
    os.rename(partial, run)


def check_continues(run: Path, options: TransferOptions) -> None:
    """Refuse to resume, under these options, what was begun under others."""
    source = RunDirectory(run).source() if RunDirectory(run).config_file.is_file() else None
    if source is None:
        raise UserError(f"There is no transfer to resume at {run}: leave out --resume to start one there.")
    given = dataclasses.asdict(options)
    differing = [
        f"--{name.replace('_', '-')} ({source['options'].get(name)} → {value})"
        for name, value in given.items()
        if name not in ALWAYS_FREE and source["options"].get(name) != value
    ]
    if differing:
        raise UserError(
            f"{run} was begun with other options; these differ: {', '.join(differing)}. "
            "Give the same ones, or start a new run."
        )


def transfer(source: Path, target: str, run: Path, options: TransferOptions, *, resume: bool = False) -> RunDirectory:
    """Go on from the newest checkpoint of `source` on another task; with `resume` take up such a run."""
    config = transfer_config(RunDirectory(source).read()[0], target, options)
    if resume:
        check_continues(run, options)
    else:
        begin_transfer(source, target, run, options)
    return train(config, run, resume=True)


def _relabel_episodes(source: Path, loaded: LoadedRun, target: str, into: Path) -> Relabelled:
    began, steps, old, new = time.monotonic(), 0, 0.0, 0.0
    files = first_episodes(RunDirectory(source).episodes, loaded.counters.episodes)
    for number, file in enumerate(files):
        episode = load(file)
        rewards = relabel(episode, source=loaded.config.task, target=target)
        steps += len(rewards) - 1
        old, new = old + float(np.sum(episode.reward)), new + float(np.sum(rewards))
        save(dataclasses.replace(episode, reward=rewards), into, number)
    return Relabelled(len(files), old / max(steps, 1), new / max(steps, 1), time.monotonic() - began)
