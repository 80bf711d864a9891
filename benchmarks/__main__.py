"""`python -m benchmarks`: the costs that the documentation speaks of."""

import argparse

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
    options = parser.parse_args()
    for task, spec, size in (("walker-walk", WALKER, "compact"), ("rover-field", ROVER, "tiny")):
        seconds = measure_update(task, spec, size, options.rounds, with_all=not options.quick)
        show(f"One update, {task} at size {size} (ratio to Dreamer's)", seconds)


if __name__ == "__main__":
    main()
