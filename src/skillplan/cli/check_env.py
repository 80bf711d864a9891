"""`skillplan check-env`: does an environment keep its promises?"""

import json as json_module
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import tyro

from skillplan.cli.options import parse
from skillplan.cli.world import WorldOptions
from skillplan.errors import UserError

EXAMPLE = "skillplan check-env gym:Pendulum-v1 --json"


@dataclass(frozen=True)
class CheckEnv:
    """Examine an environment, for instance your own; the exit status is 1 if it breaks a promise.

    It has to fit its description, depend on nothing but the seed, start at random, observe nothing constant, share no
    memory, stay finite and take every action within its bounds. Its speed is measured.
    """

    task: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TASK")]
    """A task of the list, dm:DOMAIN-TASK, gym:ID or gym:MODULE:ID."""
    environment: WorldOptions = WorldOptions()
    pixels: bool = False
    """Observe 64x64 images; short for --environment.pixels."""
    steps: int = 200
    """Agent steps of an episode that are played; of about six episodes."""
    allow: Annotated[tuple[Literal["start", "constant"], ...], tyro.conf.UseAppendAction] = ()
    """Accept a start that is always the same, or constant numbers; give it once for each."""
    json: bool = False
    """Print one JSON object."""


def command(arguments: Sequence[str]) -> int:
    """Examine, and show what was found."""
    options = parse(CheckEnv, arguments, command="check-env", example=EXAMPLE)
    if options.steps < 8:
        raise UserError(f"--steps is {options.steps}: give at least 8.")
    from skillplan.envs.check import check

    make = partial(options.environment.make, options.task, pixels=options.pixels)
    try:
        findings = check(make, options.steps)
    except UserError:
        raise
    # The environment's own failure, shown where its author can see it.
    except Exception:
        traceback.print_exc()
        print(f"skillplan: {options.task} itself failed, as shown above.", file=sys.stderr)
        return 1
    failed = [finding for finding in findings if not finding.ok and finding.name not in options.allow]
    if options.json:
        checks: dict[str, Any] = {
            finding.name: {"ok": finding.ok, "found": finding.found, "remedy": finding.remedy} for finding in findings
        }
        print(json_module.dumps({"task": options.task, "ok": not failed, "checks": checks}))
        return 1 if failed else 0
    print(f"{options.task}\n")
    for finding in findings:
        mark = "ok" if finding.ok else "--" if finding in failed else "()"
        print(f"{mark:<4}{finding.name:<14}{finding.found}")
        if finding in failed:
            print(f"{'':<18}→ {finding.remedy}")
    if failed:
        print("\nMend the lines with an arrow, then check again.")
        return 1
    print(f"\nReady. Next: skillplan train {options.task}")
    return 0
