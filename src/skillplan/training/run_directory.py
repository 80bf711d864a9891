"""A run on disk: its configuration, metrics, episodes and checkpoints in one directory."""

import dataclasses
import json
import os
import subprocess
import types
import typing
from pathlib import Path
from typing import Any

import skillplan
from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError

FORMAT = 1
# What may differ between a run and its continuation: how long to go on, how often to look and save, where worlds run.
FREE_ON_RESUME = {"frames", "evaluation.episodes", "training.checkpoint_every", "environment.workers"}
# What must be known of the run that another one was carried over from.
SOURCE_KEYS = {"run", "task", "frames", "episodes", "state_sha256", "options", "parts"}


class RunDirectory:
    """Where one run keeps everything."""

    def __init__(self, path: Path):
        """Name a run; nothing is read or written."""
        self.path = path
        self.config_file = path / "config.json"
        self.metrics_file = path / "metrics.jsonl"
        self.episodes = path / "episodes"
        self.source_episodes = path / "source_episodes"
        self.checkpoints = path / "checkpoints"
        self.tensorboard = path / "tensorboard"

    def create(self, config: Config, spec: EnvSpec, *, source: dict[str, Any] | None = None) -> None:
        """Begin a run, carried over from `source` if given; refuses a directory that already holds something."""
        self.refuse_existing()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"Cannot make the directory {self.path} ({error.strerror}): name another directory."
            ) from error
        content = {
            "format": FORMAT,
            "skillplan": skillplan.__version__,
            "commit": source_commit(),
            "config": dataclasses.asdict(config),
            "environment": dataclasses.asdict(spec),
        }
        if source is not None:
            content["source"] = source
        try:
            write_atomically(self.config_file, json.dumps(content, indent=2) + "\n")
        except OSError as error:
            raise UserError(f"Cannot write to {self.path} ({error.strerror}): name another directory.") from error

    def refuse_existing(self) -> None:
        """Raise UserError where the directory already holds something."""
        torn = {_partial(self.config_file)}  # of a process that was killed while it began
        if self.path.exists() and (not self.path.is_dir() or set(self.path.iterdir()) - torn):
            hint = "add --resume to go on with it, or " if self.config_file.exists() else ""
            raise UserError(f"{self.path} already exists: {hint}name another one with --run.")

    def source(self) -> dict[str, Any] | None:
        """What a run was carried over from, as it is kept in its configuration; None where it began from nothing."""
        self.read()
        source = json.loads(self.config_file.read_text()).get("source")
        if source is not None and not (isinstance(source, dict) and source.keys() >= SOURCE_KEYS):
            raise UserError(
                f"{self.config_file} is damaged: of what the run was carried over from, it does not say all of "
                f"{', '.join(sorted(SOURCE_KEYS))}; restore it from a copy."
            )
        return source

    def refuse_lost_beginning(self) -> None:
        """Raise UserError where the run was carried over from another one, whose state cannot be computed anew."""
        source = self.source()
        if source is not None:
            raise UserError(
                f"{self.path} has lost its checkpoints, with what it was to carry over from {source['run']}: "
                "restore them from a copy, or transfer that run again."
            )

    def read(self) -> tuple[Config, EnvSpec]:
        """The run's configuration and the world it was trained in."""
        if not self.path.is_dir():
            raise UserError(f"There is no run at {self.path}: check the path, or start one with `skillplan train`.")
        if not self.config_file.is_file():
            raise UserError(f"{self.path} is not a run: it holds no config.json.")
        try:
            content = json.loads(self.config_file.read_text())
            config = _from_json(Config, content["config"])
            spec = _from_json(EnvSpec, content["environment"])
        except UserError as error:
            raise UserError(f"{self.config_file} is damaged: {error}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{self.config_file} is damaged ({type(error).__name__}: {error}): restore it from a copy."
            ) from error
        return config, spec

    def extend(self, config: Config, spec: EnvSpec) -> None:
        """Check that the run can go on under `config` in a world like `spec`; names what differs."""
        if not self.config_file.is_file():
            raise UserError(f"There is nothing to resume at {self.path}: leave out --resume to start a run there.")
        self.refuse_differing(config)
        _, old_spec = self.read()
        check_same_world(old_spec, spec)

    def refuse_differing(self, config: Config) -> None:
        """Raise UserError, naming the settings, where the run cannot be this one's beginning."""
        old_config, _ = self.read()
        differing = [
            f"{name} ({old} → {new})"
            for name, old, new in differences(old_config, config)
            if name not in FREE_ON_RESUME
        ]
        if differing:
            raise UserError(
                f"{self.path} belongs to another configuration; these differ: {', '.join(differing)}. "
                "Give the same settings, or start a new run."
            )


def check_same_world(trained: EnvSpec, offered: EnvSpec) -> None:
    """Refuse a world whose observations or actions are not those that an agent was trained on."""
    vanished = [key for key in trained.observation_keys if key not in offered.observation_keys]
    if vanished and offered.task == trained.task:
        raise UserError(
            f"{offered.task} no longer gives the observation {', '.join(map(repr, vanished))} that the run was "
            "trained on: restore the environment, or start a new run."
        )
    differing = _misfits(trained, offered)
    if differing:
        raise UserError(
            f"The world of {offered.task} does not fit an agent trained on {trained.task}: {'; '.join(differing)}."
        )


def _misfits(trained: EnvSpec, offered: EnvSpec) -> list[str]:
    """What of a world's observations and actions an agent cannot use, entry by entry."""
    found = []
    old, new = (dict(zip(spec.observation_keys, spec.observation_sizes, strict=True)) for spec in (trained, offered))
    if trained.pixels != offered.pixels:
        found.append("it shows images, not features" if offered.pixels else "it shows features, not images")
    else:
        lacking, added = [key for key in old if key not in new], [key for key in new if key not in old]
        if lacking:
            found.append("it lacks the observations " + ", ".join(f"{key!r} (size {old[key]})" for key in lacking))
        if added:
            found.append("it adds the observations " + ", ".join(f"{key!r} (size {new[key]})" for key in added))
        found += [
            f"{key!r} has {new[key]} numbers, not {old[key]}" for key in old if new.get(key, old[key]) != old[key]
        ]
        if not found and trained.observation_keys != offered.observation_keys:
            found.append(f"its observations come in the order {', '.join(offered.observation_keys)}")
        if not found and trained.observation_shape != offered.observation_shape:
            found.append(f"its observations have shape {offered.observation_shape}, not {trained.observation_shape}")
    if trained.action_size != offered.action_size:
        found.append(f"it takes {offered.action_size} actions, not {trained.action_size}")
    return found


def differences(old: Any, new: Any, prefix: str = "") -> list[tuple[str, Any, Any]]:
    """Dotted names of the fields in which two nested dataclasses differ, with both values."""
    found = []
    for field in dataclasses.fields(old):
        a, b, name = getattr(old, field.name), getattr(new, field.name), prefix + field.name
        if dataclasses.is_dataclass(a):
            found += differences(a, b, name + ".")
        elif a != b:
            found.append((name, a, b))
    return found


def source_commit() -> str | None:
    """The commit that this package runs from, `+` added where files were changed since; None outside a checkout."""
    describe = ["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(
            describe, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def write_atomically(path: Path, text: str) -> None:
    """Put a whole file in place, or leave what was there."""
    partial = _partial(path)
    with partial.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def _partial(path: Path) -> Path:
    return path.with_name(path.name + ".partial")


def config_from_json(content: Any) -> Config:
    """A configuration as `dataclasses.asdict` and JSON keep it; raises UserError or TypeError where it does not fit."""
    return _from_json(Config, content)


def _from_json(kind: Any, value: Any) -> Any:
    """Rebuild dataclasses and tuples from JSON, refusing what does not fit the declared type."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        names = {field.name for field in dataclasses.fields(kind)}
        unknown = sorted(set(value) - names)
        if unknown:
            raise UserError(f"it has an unknown setting {unknown[0]!r}; it may come from a newer version.")
        return kind(**{name: _from_json(hints[name], item) for name, item in value.items()})
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, not {value!r}")
        return tuple(_from_json(arguments[0], item) for item in value)
    if origin is dict:
        return {key: _from_json(arguments[1], item) for key, item in value.items()}
    if origin is typing.Literal:
        if value not in arguments:
            raise UserError(f"{value!r} is none of {', '.join(map(str, arguments))}.")
        return value
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        kind = next(argument for argument in arguments if argument is not type(None))
        return _from_json(kind, value)
    if kind is float and type(value) is int:
        return float(value)
    # Compared, not tested for being an instance: True is an int, and must not pass for one.
    if type(value) is not kind:
        raise TypeError(f"expected {getattr(kind, '__name__', kind)}, not {value!r}")
    return value


def default_run(config: Config) -> Path:
    """Where a run is kept if nobody says otherwise: runs/TASK-AGENT-SEED."""
    task = config.task.replace(":", "-").replace("/", "-")
    return Path("runs") / f"{task}-{config.agent}-{config.seed}"
