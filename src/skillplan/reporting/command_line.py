"""The commands that make a run again."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.presets import make_config
from skillplan.reporting.runs import Run, read_run
from skillplan.training.run_directory import RunDirectory, config_from_json, differences

IN_WORDS = {"task", "agent", "size", "frames", "seed"}


def commands(run: Run) -> list[str]:
    """What to type, in order, to make a run; a run that was carried over begins with the one it came from.

    Settings that its agent and size do not imply are given as options. A table knows no settings.
    """
    place = shlex.quote(str(run.path or run.name))
    if run.config is None:
        return [f"skillplan train {shlex.quote(run.task)} --agent {run.agent} --size {run.size} --seed {run.seed}"]
    if run.source is None:
        return [train_command(run.config, place)]
    return [*_source_commands(run.source), transfer_command(run, place)]


def _source_commands(source: Mapping[str, Any]) -> list[str]:
    """What made the run that another one was carried over from, as far as that is known."""
    path = Path(str(source.get("run")))
    if RunDirectory(path).config_file.is_file():
        try:
            return commands(read_run(path, (), []))
        except UserError:
            return []
    try:
        config = config_from_json(source["config"])
    except (UserError, KeyError, TypeError):
        return []
    # A run whose first episodes its agent played was itself carried over from one that nothing tells of.
    return [] if config.training.seed_policy == "agent" else [train_command(config, shlex.quote(str(path)))]


def train_command(config: Config, place: str) -> str:
    """`skillplan train` with every setting in which a configuration differs from its presets."""
    implied = make_config(config.task, config.agent, config.size)
    words = ["skillplan train", shlex.quote(config.task), f"--agent {config.agent} --size {config.size}"]
    words += [f"--frames {config.frames} --seed {config.seed}"]
    words += [option(name, new) for name, _, new in differences(implied, config) if name not in IN_WORDS]
    return " ".join([*words, f"--run {place}"])


def transfer_command(run: Run, place: str) -> str:
    """`skillplan transfer` with the options that were given."""
    source: Mapping[str, Any] = run.source or {}
    options = dict(source.get("options", {}))
    words = ["skillplan transfer", shlex.quote(str(source.get("run"))), shlex.quote(run.task)]
    words += [option(name, value) for name, value in options.items() if value is not None and value is not False]
    return " ".join([*words, f"--run {place}"])


def option(name: str, value: Any) -> str:
    """One option as it is typed: `--planner.horizon 120`, `--replay.no-memory-map`, `--training.frozen policy`."""
    name = name.replace("_", "-")
    if isinstance(value, bool):
        section, dot, last = name.rpartition(".")
        return f"--{name}" if value else f"--{section}{dot}no-{last}"
    values = value if isinstance(value, tuple | list) else (value,)
    return " ".join([f"--{name}", *(shlex.quote(str(item)) for item in values)])
