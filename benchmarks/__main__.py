"""`python -m benchmarks`: the costs that the documentation speaks of."""

import argparse

from benchmarks.agents import measure_agents, measure_information
from benchmarks.environments import measure_pictures, measure_step
from benchmarks.update import ROVER, WALKER, measure_update
from skillplan.errors import UserError
from skillplan.training.allocator import keep_freed_memory

PARTS = ("updates", "agents", "information", "environments")
DRAWN = ("quadruped-walk", "quadruped-cove", "walker-walk")


def show(title: str, seconds: dict[str, float]) -> None:
    """A table of milliseconds, and of ratios to the first row."""
    first = next(iter(seconds.values()))
    print(f"\n{title}")
    for name, value in seconds.items():
        print(f"  {name:<50} {value * 1e3:9.2f} ms {value / first:7.2f}")


def show_rates(title: str, seconds: dict[str, float]) -> None:
    """A table of milliseconds and of what goes into a second."""
    print(f"\n{title}")
    for name, value in seconds.items():
        print(f"  {name:<50} {value * 1e3:9.2f} ms {1 / value:7.0f} a second")


def show_environments(rounds: int) -> None:
    """Steps, then pictures where they can be drawn."""
    for task in ("quadruped-walk", "quadruped-cove"):
        show(f"One agent step of {task} (ratio to its physics: at most 2)", measure_step(task, rounds))
    try:
        pictures = measure_pictures(DRAWN, rounds)
    except UserError as error:
        print(f"\nNo pictures: {error}")
    else:
        show_rates("One picture of 64x64 (the quadruped without shadows: at least 200 a second)", pictures)


def main() -> None:
    """Run all benchmarks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="how often each function is timed")
    parser.add_argument("--quick", action="store_true", help="leave out planning at every state")
    parser.add_argument("--only", choices=PARTS, help="leave out the others")
    options = parser.parse_args()
    keep_freed_memory()  # as training does: else who comes after a large function pays for its memory
    if options.only in (None, "updates"):
        for task, spec, size in (("walker-walk", WALKER, "compact"), ("rover-field", ROVER, "tiny")):
            seconds = measure_update(task, spec, size, options.rounds, with_all=not options.quick)
            show(f"One update, {task} at size {size} (ratio to Dreamer's)", seconds)
    if options.only in (None, "agents"):
        updates, steps = measure_agents("rover-field", ROVER, "tiny", options.rounds)
        show("One update of each agent, rover-field at size tiny (ratio to LSP's)", updates)
        show("One agent step of each agent, the same (ratio to LSP's)", steps)
    if options.only in (None, "information"):
        seconds = measure_information("rover-field", ROVER, "tiny", options.rounds)
        show("Behaviour learning by estimate of mutual information, the same (ratio to none)", seconds)
    if options.only in (None, "environments"):
        show_environments(options.rounds)


if __name__ == "__main__":
    main()
