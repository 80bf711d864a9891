"""`skillplan train`: learn a task."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from skillplan.cli.options import parse, positionals_and_values
from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.presets import make_config

EXAMPLE = "skillplan train rover-field --agent lsp --seed 1 --run runs/rover"


@dataclass(frozen=True)
class Train:
    """Learn a task. The run directory keeps configuration, metrics, episodes and checkpoints."""

    config: Annotated[Config, tyro.conf.arg(name="")]
    run: Path | None = None
    """Directory of the run; by default runs/TASK-AGENT-SEED."""
    resume: bool = False
    """Go on with the run in the directory, exactly as if it had not stopped."""
    pixels: bool = False
    """Observe 64x64 images; short for --environment.pixels."""


def command(arguments: Sequence[str]) -> int:
    """Train, and say where the results are and what to do next."""
    options = read(arguments)
    config = options.config
    from skillplan.envs.workers import WorkerError
    from skillplan.training.loop import NonFiniteError, train
    from skillplan.training.run_directory import default_run

    run = options.run or default_run(config)
    try:
        train(config, run, resume=options.resume)
    except (NonFiniteError, WorkerError) as error:
        print(f"skillplan: {error}", file=sys.stderr)
        if isinstance(error, WorkerError):
            print(
                f"skillplan: the run stopped and is kept in {run}; once the environment is mended, go on with the same "
                "settings and --resume.",
                file=sys.stderr,
            )
        return 1
    except KeyboardInterrupt:
        again = f"skillplan train {config.task} --agent {config.agent} --size {config.size} --run {run} --resume"
        print(f"skillplan: stopped; go on with the same settings and --resume, e.g. `{again}`.", file=sys.stderr)
        return 130
    print(f"The run is in {run}. Next: skillplan evaluate {run}")
    return 0


def read(arguments: Sequence[str]) -> Train:
    """The options, with the presets named among them as defaults."""
    wants_help = any(argument in ("-h", "--help") for argument in arguments)
    positionals, values = positionals_and_values(Train, [a for a in arguments if a not in ("-h", "--help")])
    if not positionals and not wants_help:
        raise UserError("Name a task: `skillplan train TASK`; `skillplan tasks` lists them.")
    task = positionals[0] if positionals else "rover-field"
    overrides = {"environment": {"pixels": True}} if "--pixels" in arguments else {}
    config = make_config(task, values.get("--agent", "lsp"), values.get("--size"), overrides)
    return parse(Train, arguments, command="train", example=EXAMPLE, default=Train(config))
