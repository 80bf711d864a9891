"""Does an environment keep its promises? The examination behind `skillplan check-env`."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skillplan.envs.interface import EnvSpec, Step
from skillplan.envs.witness import Witness
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError

STARTS = 16
SLOW = 50.0  # agent steps per second, below which training mostly waits for the world


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    found: str
    """What was seen, for people."""
    remedy: str = ""
    """What to do where it is not ok."""


class _Play(NamedTuple):
    """Part of an episode, as the agent's side saw it."""

    steps: list[Step]
    error: str
    """The sentence with which the environment was refused, if it was."""


def check(make: Callable[[], RepeatedEnvironment], steps: int) -> list[Finding]:
    """All findings about the environment that `make` makes, from episodes of at most `steps` agent steps each.

    Two copies of it are made, and about six episodes played, with uniformly random actions.
    """
    world, twin = make(), make()
    try:
        return _examine(world, twin, steps)
    finally:
        world.close()
        twin.close()


def _examine(world: RepeatedEnvironment, twin: RepeatedEnvironment, steps: int) -> list[Finding]:
    witness = world.env = Witness(world.env)
    spec = world.spec
    actions = [np.random.default_rng(seed).uniform(-1, 1, (steps, spec.action_size)) for seed in range(2)]
    began = time.perf_counter()
    fresh = _play(_steps(twin, 0, actions[0]))
    seconds = time.perf_counter() - began
    first, second = (_play(_steps(world, seed, actions[seed])) for seed in range(2))
    starts = [_play(_steps(world, seed, actions[0][:0])) for seed in range(STARTS)]
    again = _play(_steps(world, 0, actions[0]))
    corners = _play(_steps(world, 0, _corners(steps, spec.action_size)))
    in_turn = _play_in_turn(_steps(world, 0, actions[0]), _steps(twin, 1, actions[1]))
    plays = [first, second, corners, *starts]
    determinism = _determinism(spec, first, fresh, again)
    if not determinism.ok:
        in_turn = []  # what differs from play to play says nothing about copies
    return [
        _spec_match(spec, witness, plays),
        _finite(witness, plays),
        determinism,
        _start(starts),
        _constant(spec, plays),
        _memory(spec, witness, [first, second], in_turn),
        _actions(spec, witness, first, corners),
        _speed(spec, fresh, seconds, starts),
    ]


def _steps(world: RepeatedEnvironment, seed: int, actions: Iterable[np.ndarray]) -> Iterator[Step]:
    """A reset, then a step for every action until the episode is over."""
    yield (step := world.reset(seed))
    for action in actions:
        if step.is_last:
            return
        yield (step := world.step(action))


def _play(steps: Iterator[Step]) -> _Play:
    played: list[Step] = []
    try:
        played.extend(steps)
    except UserError as error:
        return _Play(played, str(error))
    return _Play(played, "")


def _play_in_turn(*worlds: Iterator[Step]) -> list[_Play]:
    """Several worlds, a step in each before the next step in any."""
    played: list[list[Step]] = [[] for _ in worlds]
    errors = [""] * len(worlds)
    running = dict(enumerate(worlds))
    while running:
        for i, steps in list(running.items()):
            try:
                played[i].append(next(steps))
            except StopIteration:
                del running[i]
            except UserError as error:
                errors[i] = str(error)
                del running[i]
    return [_Play(steps, error) for steps, error in zip(played, errors, strict=True)]


def _corners(steps: int, size: int) -> np.ndarray:
    """Actions at and beyond their bounds."""
    signs = np.random.default_rng(2).choice((-1.0, 1.0), (steps, size))
    signs[: steps // 4] = 1.0
    signs[steps // 4 : steps // 2] = -1.0
    signs[1::2] *= 3.0
    return signs


def _spec_match(spec: EnvSpec, witness: Witness, plays: list[_Play]) -> Finding:
    name, wrong = "spec", list(witness.misfits.values())
    wrong += [play.error for play in plays if play.error and "not finite" not in play.error]
    if not spec.terminates and any(play.steps and play.steps[-1].is_terminal for play in plays):
        wrong.append("an episode was terminated although `terminates` is False")
    if wrong:
        return Finding(name, False, wrong[0], "return what observation_space announces, of its shape and dtype")
    pieces = ", ".join(f"{key} {size}" for key, size in zip(spec.observation_keys, spec.observation_sizes, strict=True))
    observed = "×".join(map(str, spec.observation_shape)) + (" pixels" if spec.pixels else " numbers")
    return Finding(
        name,
        True,
        f"observation of {observed} ({pieces}), action of {spec.action_size}, {spec.episode_frames} frames at "
        f"{spec.action_repeat} per agent step",
    )


def _finite(witness: Witness, plays: list[_Play]) -> Finding:
    errors = [play.error for play in plays if "not finite" in play.error]
    errors += [f"the observation {key!r} is not finite" for key in sorted(witness.not_finite)]
    if errors:
        return Finding("finite", False, errors[0], "look for a division by zero or a simulation that blew up")
    return Finding("finite", True, f"observations and rewards of {sum(len(play.steps) for play in plays):,} steps")


def _determinism(spec: EnvSpec, first: _Play, fresh: _Play, again: _Play) -> Finding:
    for other, where in ((fresh, "in a second copy"), (again, "after other episodes")):
        if difference := _difference(spec, first, other):
            return Finding(
                "determinism",
                False,
                f"the same seed and actions led to something else {where}: {difference}",
                "draw everything from self.np_random, and set every variable anew in reset",
            )
    return Finding("determinism", True, "the same seed and actions give the same bits, in a second copy and again")


def _start(starts: list[_Play]) -> Finding:
    different = {play.steps[0].observation.tobytes() for play in starts if play.steps}
    found = f"{len(different)} different first observations under {STARTS} seeds"
    remedy = "randomise the start in reset with self.np_random, or pass --allow start"
    return Finding("start", len(different) > 1, found, "" if len(different) > 1 else remedy)


def _constant(spec: EnvSpec, plays: list[_Play]) -> Finding:
    seen = np.array([step.observation for play in plays for step in play.steps])
    if len(seen) == 0:
        return Finding("constant", False, "nothing was observed", "see the lines above")
    if spec.pixels:
        dull = ["image"] if not (np.ptp(seen, axis=0).any() and np.ptp(seen[0])) else []
    else:
        names = [
            f"{key}[{i}]" if size > 1 else key
            for key, size in zip(spec.observation_keys, spec.observation_sizes, strict=True)
            for i in range(size)
        ]
        dull = list(itertools.compress(names, np.ptp(seen, axis=0) == 0))
    if dull:
        shown = ", ".join(dull[:8]) + (f" and {len(dull) - 8} more" if len(dull) > 8 else "")
        remedy = "play longer with --steps; leave out what tells nothing; or pass --allow constant"
        return Finding("constant", False, f"never changed: {shown}", remedy)
    return Finding("constant", True, f"every piece of the observation varied over {len(seen):,} steps")


def _memory(spec: EnvSpec, witness: Witness, alone: list[_Play], in_turn: list[_Play]) -> Finding:
    name = "memory"
    if witness.overwritten:
        keys = ", ".join(sorted(witness.overwritten))
        return Finding(
            name, False, f"a later step wrote into an observation returned before: {keys}", "return a copy of it"
        )
    if witness.changed_action:
        return Finding(name, False, "a step wrote into the action it was given", "work on a copy of the action")
    for one, other in zip(alone, in_turn, strict=False):
        if difference := _difference(spec, one, other):
            return Finding(
                name,
                False,
                f"two copies played in turn disturb each other: {difference}",
                "keep state in the object, not in its class or module",
            )
    return Finding(name, True, "copies leave each other alone; what was returned stays as it was")


def _actions(spec: EnvSpec, witness: Witness, first: _Play, corners: _Play) -> Finding:
    name = "actions"
    if witness.outside:
        return Finding(name, False, witness.outside, "check the bounds of action_space")
    if corners.error:
        return Finding(name, False, f"at the bounds of its actions: {corners.error}", "allow every action within them")
    if not _difference(spec, first, corners):
        remedy = "use the action in step"
        return Finding(name, False, "random actions and actions at their bounds lead to the same", remedy)
    return Finding(name, True, "all within the bounds, which were reached; they make a difference")


def _speed(spec: EnvSpec, play: _Play, seconds: float, starts: list[_Play]) -> Finding:
    rate = max(len(play.steps) - 1, 0) / seconds
    found = f"{rate:,.0f} agent steps/s, {rate * spec.action_repeat:,.0f} frames/s, one reset included"
    if rate < SLOW:
        found += "; slow: train with --envs 4 --environment.workers, so that several step at once"
    return Finding("speed", True, found)


def _difference(spec: EnvSpec, one: _Play, other: _Play) -> str:
    """The first place in which two plays differ in any bit; empty where they do not."""
    if one.error != other.error:
        return one.error or other.error
    for i, (a, b) in enumerate(zip(one.steps, other.steps, strict=False)):
        if not np.array_equal(a.observation, b.observation):
            return f"the observation at step {i}, by up to {_gap(a.observation, b.observation):.2g}"
        if a.reward != b.reward:
            return f"the reward at step {i}, {a.reward:.6g} and {b.reward:.6g}"
        unequal = [key for key in spec.record_shapes if not np.array_equal(a.record[key], b.record[key])]
        if unequal:
            return f"the record {unequal[0]!r} at step {i}"
    if len(one.steps) != len(other.steps):
        return f"the length, {len(one.steps) - 1} and {len(other.steps) - 1} steps"
    return ""


def _gap(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(np.float64) - other.astype(np.float64)).max())
