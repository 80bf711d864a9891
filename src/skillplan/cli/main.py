"""The `skillplan` command: finds the subcommand, and turns mistakes into one sentence and exit status 2."""

import errno
import importlib
import os
import sys
from collections.abc import Sequence

from skillplan.errors import UserError, unknown_name

COMMANDS = {
    "train": "Learn a task: `skillplan train rover-field`.",
    "transfer": "Carry a run over to another task: `skillplan transfer runs/… rover-cove`.",
    "experiment": "Run a figure of the paper: `skillplan experiment rover`.",
    "evaluate": "Measure a trained agent: `skillplan evaluate runs/…`.",
    "skills": "Show what skills do: `skillplan skills runs/…`.",
    "trajectories": "Draw where agents went: `skillplan trajectories runs/…`.",
    "plan": "Show what the planner thinks: `skillplan plan runs/…`.",
    "video": "Film an episode: `skillplan video runs/…`.",
    "curves": "Draw learning curves of runs: `skillplan curves runs/`.",
    "report": "Put all that is known of runs on one page: `skillplan report runs/`.",
    "describe": "Show shapes, parameter counts and settings of a run, or of a task and agent.",
    "tasks": "List the tasks.",
    "view": "Draw a task, or an agent in it: `skillplan view quadruped-cove --out cove.png`.",
    "check-env": "Examine an environment, for instance your own: `skillplan check-env gym:Pendulum-v1`.",
    "agents": "List the agents and sizes.",
    "doctor": "Check this installation.",
}

DISK = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""What no better path would have prevented."""

HELP = """Latent Skill Planning: plan over learned skills inside a world model.

Usage: skillplan COMMAND [options]

Commands:
{commands}

`skillplan COMMAND --help` explains one of them.

Example:
  skillplan train rover-field --run runs/first
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 done, 1 failed, 2 the input was wrong, 130 interrupted."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        width = max(map(len, COMMANDS))
        print(HELP.format(commands="\n".join(f"  {name:<{width}}  {line}" for name, line in COMMANDS.items())), end="")
        return 0
    name, *rest = arguments
    try:
        if name in ("--version", "-V"):
            from skillplan import __version__

            print(f"skillplan {__version__}")
            return 0
        if name not in COMMANDS:
            raise unknown_name("command", name, COMMANDS)
        status = importlib.import_module(f"skillplan.cli.{name.replace('-', '_')}").command(rest)
        sys.stdout.flush()
        return status
    except UserError as error:
        print(f"skillplan: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output, such as `head`, has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None and error.errno not in DISK:
            raise
        where = f" ({error.filename})" if error.filename else ""
        remedy = (
            "files that were written are whole, and `--resume` goes on with a run once the disk is mended."
            if error.errno in DISK
            else "give a path that can be read or written."
        )
        print(f"skillplan: {error.strerror or error}{where}: {remedy}", file=sys.stderr)
        return 1 if error.errno in DISK else 2
    except KeyboardInterrupt:
        print("skillplan: interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
