"""`skillplan describe`: what a run, or a task and agent, consist of."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import jax
import tyro

from skillplan.cli.options import parse, table
from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError

EXAMPLE = "skillplan describe walker-walk --agent dreamer --size paper --pixels"


@dataclass(frozen=True)
class Describe:
    """Show shapes, parameter counts, settings and, of a run, how far it has come and a digest of its state."""

    target: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN|TASK")]
    """Directory of a run, or the name of a task."""
    agent: str | None = None
    """With a task: the preset of the algorithm (lsp)."""
    size: str | None = None
    """With a task: the preset of widths (the task's default)."""
    pixels: bool = False
    """With a task: observe images."""
    json: bool = False
    """Print one JSON object."""


def command(arguments: Sequence[str]) -> int:
    """Describe a run or a combination of presets."""
    options = parse(Describe, arguments, command="describe", example=EXAMPLE)
    path = Path(options.target)
    if path.is_dir():
        if options.agent or options.size or options.pixels:
            raise UserError(
                f"{path} is a run, which has its own agent, size and observations: leave these options out."
            )
        description, following = describe_run(path), f"skillplan evaluate {path}"
    else:
        description = describe_task(options.target, options.agent, options.size, options.pixels)
        config = description["config"]
        following = f"skillplan train {config['task']} --agent {config['agent']} --size {config['size']}"
    if options.json:
        print(json.dumps(description))
        return 0
    _print(description)
    print(f"\nNext: {following}")
    return 0


def describe_task(task: str, agent: str | None, size: str | None, pixels: bool) -> dict[str, Any]:
    """What a fresh run would consist of; nothing is computed but shapes."""
    from skillplan.learners import learner_of
    from skillplan.presets import make_config
    from skillplan.training.evaluate import make_environment

    overrides = {"environment": {"pixels": True}} if pixels else {}
    config = make_config(task, agent or "lsp", size, overrides)
    world = make_environment(config)
    world.close()
    state = jax.eval_shape(lambda key: learner_of(config).initial(world.spec, key), jax.random.key(0))
    return _describe(config, world.spec, state)


def describe_run(path: Path) -> dict[str, Any]:
    """What is in a run's newest checkpoint."""
    from skillplan.training.checkpoint import state_sha256
    from skillplan.training.restore import load_run
    from skillplan.training.run_directory import RunDirectory

    loaded = load_run(path)
    description = _describe(loaded.config, loaded.spec, loaded.state) | {
        "run": str(path),
        **loaded.counters.as_dict(),
        "state_sha256": state_sha256(loaded.state),
    }
    source = RunDirectory(path).source()
    return description if source is None else description | {"source": source}


def _describe(config: Config, spec: EnvSpec, state: Any) -> dict[str, Any]:
    count = lambda tree: sum(leaf.size for leaf in jax.tree.leaves(tree))  # noqa: E731
    from skillplan.learners import learner_of

    learner = learner_of(config)
    parameters = {name: count(part) for name, part in learner.parts(state.models).items()}
    return {
        "config": dataclasses.asdict(config),
        "environment": dataclasses.asdict(spec),
        "parameters": parameters | {"total": sum(parameters.values())},
        "shapes": {
            "observation": list(spec.observation_shape),
            "action": [spec.action_size],
            **learner.shapes(state.models),
            "batch": [config.training.batch_size, learner.sequence_length],
        },
    }


def _print(description: dict[str, Any]) -> None:
    config = description["config"]
    print(f"{config['agent']} at size {config['size']} on {config['task']}")
    if "frames" in description:
        print(
            f"  {description['frames']:,} frames · {description['agent_steps']:,} agent steps · "
            f"{description['updates']:,} updates · {description['episodes']:,} episodes"
        )
        print(f"  state {description['state_sha256']}")
    if "source" in description:
        source = description["source"]
        print(f"\nCarried over from {source['run']} ({source['task']} after {source['frames']:,} frames)")
        print(f"  state {source['state_sha256']}")
        print(table(source["parts"]))
    print("\nParameters")
    for name, value in description["parameters"].items():
        print(f"  {name:<18}{value:>12,}")
    print("\nShapes")
    for name, value in description["shapes"].items():
        print(f"  {name:<18}{' × '.join(map(str, value)):>12}")
    print("\nSettings")
    for section, value in config.items():
        if not isinstance(value, dict):
            print(f"  {section} = {value}")
    for section, value in config.items():
        if isinstance(value, dict):
            print(f"  {section}: " + ", ".join(f"{name} = {item}" for name, item in value.items()))
