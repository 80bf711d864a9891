"""`skillplan transfer`: carry what was learned on one task over to another."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from skillplan.cli.options import parse, table

EXAMPLE = "skillplan transfer runs/rover rover-cove --fix-policy --skill-duration 30 --horizon 120"


@dataclass(frozen=True)
class Transfer:
    """Go on from a run's newest checkpoint on another task with the same observations and actions.

    World model, policy, skill predictor and their optimisers are kept; reward head and value start anew. The source
    run is only read.
    """

    source: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Directory of the run to carry over."""
    target: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TARGET")]
    """The new task; `skillplan tasks` lists them."""
    frames: int | None = None
    """Frames of experience on the new task (its family's default)."""
    run: Path | None = None
    """Directory of the new run; by default runs/TARGET-AGENT-SEED-from-SOURCE."""
    seed: int | None = None
    """Drives the new run (the source's seed)."""
    fix_policy: bool = False
    """Freeze policy and skill predictor, and leave out the intrinsic reward; everything else learns."""
    relabel: bool = False
    """Begin with the source's episodes, every reward recomputed as the new task pays it."""
    keep_heads: bool = False
    """Keep the reward head and the value, which describe the old task."""
    skill_duration: int | None = None
    """K for acting and planning on the new task; training segments keep their length."""
    horizon: int | None = None
    """H for acting and planning on the new task."""
    population: int | None = None
    """Plans that each iteration of a search tries before acting; training goes on with as many as it had."""
    elites: int | None = None
    """Best plans kept by each iteration of such a search."""
    iterations: int | None = None
    """Iterations of such a search."""
    explore_fraction: float | None = None
    """Share of the skills held while collecting that are drawn from N(0, I) instead of planned (the source's)."""
    resume: bool = False
    """Go on with a transfer that was stopped, exactly as if it had not."""


def command(arguments: Sequence[str]) -> int:
    """Transfer, and say what was kept, where the results are and what to do next."""
    options = parse(Transfer, arguments, command="transfer", example=EXAMPLE)
    from skillplan.envs.workers import WorkerError
    from skillplan.presets import make_config
    from skillplan.training.loop import NonFiniteError, train
    from skillplan.training.run_directory import RunDirectory
    from skillplan.training.transfer import TransferOptions, begin_transfer, check_continues, transfer_config

    source, _ = RunDirectory(options.source).read()
    chosen = TransferOptions(
        frames=make_config(options.target).frames if options.frames is None else options.frames,
        seed=source.seed if options.seed is None else options.seed,
        fix_policy=options.fix_policy,
        relabel=options.relabel,
        keep_heads=options.keep_heads,
        skill_duration=options.skill_duration,
        horizon=options.horizon,
        population=options.population,
        elites=options.elites,
        iterations=options.iterations,
        explore_fraction=options.explore_fraction,
    )
    config = transfer_config(source, options.target, chosen)
    task = options.target.replace(":", "-").replace("/", "-")
    run = options.run or Path("runs") / f"{task}-{config.agent}-{config.seed}-from-{options.source.resolve().name}"
    if options.resume:
        check_continues(run, chosen)
    else:
        begun = begin_transfer(options.source, options.target, run, chosen)
        print(f"{source.agent} moves from {source.task} to {config.task}:", file=sys.stderr)
        print(table(begun.parts), file=sys.stderr)
        if begun.relabelled is not None:
            told = begun.relabelled
            print(
                f"Relabelled {told.episodes} episodes in {told.seconds:.1f} s: mean reward per agent step "
                f"{told.old_reward:.3f} on {source.task}, {told.new_reward:.3f} on {config.task}.",
                file=sys.stderr,
            )
    try:
        train(config, run, resume=True)
    except (NonFiniteError, WorkerError) as error:
        print(f"skillplan: {error}", file=sys.stderr)
        if isinstance(error, WorkerError):
            print(f"skillplan: the run stopped and is kept in {run}; go on with --resume.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("skillplan: stopped; go on with the same command and --resume.", file=sys.stderr)
        return 130
    print(f"The run is in {run}. Next: skillplan evaluate {run}")
    return 0
