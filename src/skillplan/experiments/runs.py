"""The runs of an experiment: which there are, how far each has come, and doing what is missing."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillplan.config import SEARCHING, Config
from skillplan.errors import UserError
from skillplan.experiments.figures import Arm, Experiment
from skillplan.presets import make_config
from skillplan.training.checkpoint import Checkpoints
from skillplan.training.loop import train
from skillplan.training.run_directory import RunDirectory
from skillplan.training.transfer import SEARCH, TransferOptions, check_continues, transfer, transfer_config

ACTING = ("skill_duration", "horizon", *SEARCH, "explore_fraction")
"""Options on how a run acts that is carried over."""


@dataclass(frozen=True)
class PlannedRun:
    """One run: from nothing, or carried over from another one of the same experiment."""

    path: Path
    config: Config
    """As it is trained, or for a run that is carried over, its source's."""
    source: Path | None = None
    task: str = ""
    """Where a run that is carried over goes."""
    options: TransferOptions | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings beyond task, agent, size, frames and seed."""

    @property
    def frames(self) -> int:
        """How far it is to come."""
        return self.config.frames if self.options is None else self.options.frames

    def done(self) -> int:
        """Frames at its newest checkpoint; 0 where there is none. Refuses a directory that holds another run."""
        directory = RunDirectory(self.path)
        if not directory.config_file.is_file():
            directory.refuse_existing()
            return 0
        try:
            if self.options is None:
                directory.refuse_differing(self.config)
            else:
                check_continues(self.path, self.options)
                directory.refuse_differing(transfer_config(self.config, self.task, self.options))
        except UserError as error:
            raise UserError(f"{error} (Another --out keeps both.)") from error
        return Checkpoints(directory.checkpoints).frames()

    def command(self) -> str:
        """What does the same by hand."""
        if self.options is None or self.source is None:
            words = ["train", self.config.task, "--agent", self.config.agent, "--size", self.config.size]
            words += _as_options(self.overrides)
        else:
            words = ["transfer", str(self.source), self.task]
            words += ["--fix-policy"] if self.options.fix_policy else []
            words += ["--relabel"] if self.options.relabel else []
            for name in ACTING:
                value = getattr(self.options, name)
                words += [f"--{name.replace('_', '-')}", str(value)] if value is not None else []
        words += ["--frames", str(self.frames), "--seed", str(self.config.seed), "--run", str(self.path)]
        return shlex.join(["skillplan", *words])

    def run(self) -> None:
        """Do what is missing of it."""
        resume = RunDirectory(self.path).config_file.is_file()
        if self.options is None or self.source is None:
            train(self.config, self.path, resume=resume)
        else:
            transfer(self.source, self.task, self.path, self.options, resume=resume)


def planned_runs(
    experiment: Experiment, out: Path, *, size: str | None, seeds: int, frames: int | None, source_frames: int | None
) -> Iterator[PlannedRun]:
    """All runs in the order in which they are done: every arm of a seed before the next seed, sources first.

    Arms of one agent with the same settings share a source.
    """
    length = experiment.frames if frames is None else frames
    for seed in range(seeds):
        begun: set[Path] = set()
        for arm in experiment.arms:
            overrides = experiment.overrides(arm)
            named = {**overrides, "seed": seed}
            if experiment.source is None:
                config = make_config(experiment.task, arm.agent, size, named | {"frames": length})
                yield PlannedRun(out / f"{arm.name}-{seed}", config, overrides=overrides)
                continue
            before = experiment.source_frames if source_frames is None else source_frames
            config = make_config(experiment.source, arm.agent, size, named | {"frames": before})
            source = out / "source" / f"{arm.name if arm.overrides else arm.agent}-{seed}"
            if source not in begun:
                begun.add(source)
                yield PlannedRun(source, config, overrides=overrides)
            options = _options(experiment, arm, config, length)
            yield PlannedRun(out / f"{arm.name}-{seed}", config, source, experiment.task, options, overrides)


def _options(experiment: Experiment, arm: Arm, config: Config, frames: int) -> TransferOptions:
    acting: dict[str, Any] = {}
    if config.skill.size > 0:
        acting |= {"skill_duration": experiment.skill_duration, "explore_fraction": experiment.explore_fraction}
        acting |= {"horizon": experiment.horizon} if config.learner == "latent" else {}
        acting |= {name: getattr(experiment, name) for name in SEARCH} if config.skill.selection in SEARCHING else {}
    return TransferOptions(
        frames=frames, seed=config.seed, fix_policy=arm.fix_policy, relabel=experiment.relabel, **acting
    )


def _as_options(overrides: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Nested settings as they are typed on the command line."""
    words: list[str] = []
    for name, value in overrides.items():
        option = f"{prefix}{name}".replace("_", "-")
        if isinstance(value, Mapping):
            words += _as_options(value, f"{option}.")
        elif isinstance(value, bool):
            head, _, switch = option.rpartition(".")
            words.append(f"--{head}{'.' if head else ''}{switch if value else f'no-{switch}'}")
        else:
            words += [f"--{option}", str(value)]
    return words
