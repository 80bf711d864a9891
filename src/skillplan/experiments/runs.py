"""The runs of an experiment: which there are, how far each has come, and doing what is missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillplan.config import Config
from skillplan.experiments.figures import Arm, Experiment
from skillplan.presets import make_config
from skillplan.training.checkpoint import Checkpoints
from skillplan.training.loop import train
from skillplan.training.run_directory import RunDirectory
from skillplan.training.transfer import TransferOptions, transfer


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

    @property
    def frames(self) -> int:
        """How far it is to come."""
        return self.config.frames if self.options is None else self.options.frames

    def done(self) -> int:
        """Frames at its newest checkpoint; 0 where there is none."""
        return Checkpoints(RunDirectory(self.path).checkpoints).frames()

    def command(self) -> str:
        """What does the same by hand."""
        if self.options is None or self.source is None:
            words = [f"skillplan train {self.config.task} --agent {self.config.agent} --size {self.config.size}"]
            words += ["--pixels"] if self.config.environment.pixels else []
        else:
            words = [f"skillplan transfer {self.source} {self.task}"]
            words += ["--fix-policy"] if self.options.fix_policy else []
            words += ["--relabel"] if self.options.relabel else []
            for name, value in (("skill-duration", self.options.skill_duration), ("horizon", self.options.horizon)):
                words += [f"--{name} {value}"] if value is not None else []
        return " ".join([*words, f"--frames {self.frames} --seed {self.config.seed} --run {self.path}"])

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
    for seed in range(seeds):
        begun: set[Path] = set()
        for arm in experiment.arms:
            overrides = experiment.overrides(arm) | {"seed": seed}
            length = experiment.frames if frames is None else frames
            if experiment.source is None:
                config = make_config(experiment.task, arm.agent, size, overrides | {"frames": length})
                yield PlannedRun(out / f"{arm.name}-{seed}", config)
                continue
            before = experiment.source_frames if source_frames is None else source_frames
            config = make_config(experiment.source, arm.agent, size, overrides | {"frames": before})
            source = out / "source" / f"{arm.agent}-{seed}"
            if source not in begun:
                begun.add(source)
                yield PlannedRun(source, config)
            options = _options(experiment, arm, config, length)
            yield PlannedRun(out / f"{arm.name}-{seed}", config, source, experiment.task, options)


def _options(experiment: Experiment, arm: Arm, config: Config, frames: int) -> TransferOptions:
    has_skills = config.skill.size > 0
    return TransferOptions(
        frames=frames,
        seed=config.seed,
        fix_policy=arm.fix_policy,
        relabel=experiment.relabel,
        skill_duration=experiment.skill_duration if has_skills else None,
        horizon=experiment.horizon if has_skills else None,
    )
