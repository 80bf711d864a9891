"""Which runs are seeds of one curve: those of the same task, agent, settings and way of being carried over."""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillplan.reporting.runs import Run

# How long and how closely a run is watched says nothing about what it learns.
BOOKKEEPING = {
    "task",
    "agent",
    "frames",
    "seed",
    "environment.workers",
    "replay.memory_map",
    "training.checkpoint_every",
    "evaluation.every",
    "evaluation.episodes",
    "evaluation.hold_steps",
}
NAMED = 2
"""So many differing settings are spelled out in the name of a curve."""

Groups = dict[str, dict[str, list[Run]]]


def group(runs: Iterable[Run]) -> Groups:
    """Runs by task and by the name of their curve; a name means the same kind of run on every task.

    A curve is named after its agent. Where an experiment named its directories `ARM-SEED`, as in
    `lsp-fixed-policy-0`, it is named after the arm; otherwise a frozen policy and a relabelled replay are said. Runs
    that would share a name and differ in their settings are told apart by what differs.
    """
    by_task: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by_task[run.task][_label(run)].append(run)
    groups: Groups = {}
    for task, labelled in by_task.items():
        groups[task] = {}
        for label, members in labelled.items():
            groups[task] |= {label + suffix: part for suffix, part in _split(members).items()}
    return groups


def settings(run: Run) -> dict[str, Any]:
    """What makes a run what it is, by dotted name; of a run in a table only the size is known."""
    if run.config is None:
        return {"size": run.size}
    found = {name: value for name, value in flatten(dataclasses.asdict(run.config)).items() if name not in BOOKKEEPING}
    if run.source is not None:
        found["source"] = run.source.get("task")
        found["source.frames"] = run.source.get("config", {}).get("frames")
        for name in ("fix_policy", "relabel", "keep_heads"):
            found[f"transfer.{name}"] = run.source.get("options", {}).get(name, False)
    return found


def differing(described: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names under which not all descriptions have the same, in order of appearance."""
    names = dict.fromkeys(name for one in described for name in one)
    return [name for name in names if any(one.get(name) != described[0].get(name) for one in described)]


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Leaves of nested mappings by dotted name; lists become tuples, so that they compare and hash."""
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            leaves |= flatten(value, f"{prefix}{name}.")
        else:
            leaves[prefix + name] = tuple(value) if isinstance(value, list) else value
    return leaves


def _label(run: Run) -> str:
    # The arm stands before the seed and begins with the agent: rover-lsp-fixed-policy-0.
    arm = re.search(rf"(?:^|-)({re.escape(run.agent)}(?:-[^/]*?)?)-{run.seed}(?:-from-.*)?$", run.name)
    if arm and arm[1] != run.agent:
        return arm[1]
    options = (run.source or {}).get("options", {})
    words = {"fix_policy": "policy fixed", "relabel": "relabelled"}
    return ", ".join([run.agent, *(word for name, word in words.items() if options.get(name))])


def _split(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs of one label by a suffix that tells their settings apart; no suffix where there is nothing to tell."""
    parts: dict[tuple[Any, ...], list[Run]] = defaultdict(list)
    for run in runs:
        parts[(run.table, *sorted(settings(run).items(), key=lambda item: item[0]))].append(run)
    if len(parts) == 1:
        return {"": list(runs)}
    directories = [settings(part[0]) for part in parts.values() if part[0].table is None]
    names = _telling(differing(directories)) if directories else []
    sizes = len({run.size for run in runs}) > 1
    several = bool(directories) or len({run.table for run in runs}) > 1
    split: dict[str, list[Run]] = {}
    for part in parts.values():
        first = part[0]
        if first.table is None:
            words = [_word(name, settings(first).get(name)) for name in names]
        else:
            words = [first.size] * sizes + [first.table.stem] * several
        suffix, number = f" ({', '.join(words)})" if words else "", 2
        while suffix in split:
            suffix, number = f" ({', '.join([*words, f'variant {number}'])})", number + 1
        split[suffix] = part
    return split


def _telling(names: Sequence[str]) -> list[str]:
    """The few of the differing settings that name a curve: the size stands for all that follows from it."""
    return ["size"] if "size" in names else list(names[:NAMED])


def _word(name: str, value: Any) -> str:
    short = name.rpartition(".")[2].replace("_", " ")
    if name == "size":
        return str(value)
    if isinstance(value, bool):
        return short if value else f"no {short}"
    return f"{short} {'none' if value is None else value}"
