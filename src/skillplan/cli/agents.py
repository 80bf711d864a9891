"""`skillplan agents`: the list of agents and sizes."""

import json as json_module
from collections.abc import Sequence
from dataclasses import dataclass

from skillplan.cli.options import parse

EXAMPLE = "skillplan agents --json"


@dataclass(frozen=True)
class Agents:
    """List the agents (what the algorithm is) and the sizes (how large, how tuned)."""

    json: bool = False
    """Print a JSON object with the lists `agents` and `sizes`."""


def command(arguments: Sequence[str]) -> int:
    """Print both tables."""
    options = parse(Agents, arguments, command="agents", example=EXAMPLE)
    from skillplan.presets import AGENTS, SIZES

    tables = {
        "agents": [{"name": name, "description": text} for name, (text, _) in AGENTS.items()],
        "sizes": [{"name": name, "description": text} for name, (text, _) in SIZES.items()],
    }
    if options.json:
        print(json_module.dumps(tables))
        return 0
    for title, rows in tables.items():
        print(f"{title.capitalize()}")
        for row in rows:
            print(f"  {row['name']:<18}{row['description']}")
        print()
    print("Next: skillplan train rover-field --agent lsp --size tiny")
    return 0
