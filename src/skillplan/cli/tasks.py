"""`skillplan tasks`: the list of tasks."""

import json as json_module
from collections.abc import Sequence
from dataclasses import dataclass

from skillplan.cli.options import parse

EXAMPLE = "skillplan tasks --json"


@dataclass(frozen=True)
class Tasks:
    """List the tasks, and the forms in which your own environments can be named."""

    json: bool = False
    """Print a JSON list."""


def command(arguments: Sequence[str]) -> int:
    """Print the table."""
    options = parse(Tasks, arguments, command="tasks", example=EXAMPLE)
    from skillplan.envs import tasks
    from skillplan.presets import default_size

    rows = [row | {"default_size": default_size(row["name"])} for row in tasks()]
    if options.json:
        print(json_module.dumps(rows))
        return 0
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        print(f"{row['name']:<{width}}  {row['description']}")
    print("\nNext: skillplan train rover-field")
    return 0
