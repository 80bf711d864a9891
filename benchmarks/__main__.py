"""`python -m benchmarks`: the costs that the documentation speaks of."""

import argparse

from benchmarks.agents import measure_agents, measure_information
from benchmarks.update import ROVER, WALKER, measure_update


def show(title: str, seconds: dict[str, float]) -> None:
    """A table of milliseconds, and of ratios to the first row."""
    first = next(iter(seconds.values()))
    print(f"\n{title}")
    for name, value in seconds.items():
        print(f"  {name:<50} {value * 1e3:9.2f} ms {value / first:7.2f}")


def main() -> None:
    """Run all benchmarks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="how often each function is timed")
    parser.add_argument("--quick", action="store_true", help="leave out planning at every state")
    parser.add_argument("--only", choices=("updates", "agents", "information"), help="leave out the others")
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
