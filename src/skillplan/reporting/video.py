"""A film of one episode with the skill, the value of the plan and the reward drawn in."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.agent import step_keys
from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.models import Models
from skillplan.replay.episode import Episode
from skillplan.reporting.dials import Dials
from skillplan.reporting.film import check_film, replay, write_film
from skillplan.reporting.model_view import posterior_means
from skillplan.reporting.world import seconds_per_step
from skillplan.training.evaluate import Evaluator, make_environment
from skillplan.training.restore import LoadedRun
from skillplan.training.seeding import Stream, environment_seed, key
from skillplan.types import Latent
from skillplan.world_model.rssm import feature

DRAWS = 16
"""Imagined futures over which the value of a plan is averaged."""


class Watched(NamedTuple):
    """One noise-free episode, step by step."""

    config: Config
    frames: int
    """Of training."""
    episode: int
    reward: np.ndarray
    """`[T + 1]`."""
    skill: np.ndarray | None
    """`[T + 1, skill_size]`; None for an agent without skills."""
    value: np.ndarray | None
    """Of the plan that was acted on at each step, `[T + 1]`; None for an agent that imagines nothing."""
    seconds: float
    """That an agent step lasts."""

    @property
    def steps(self) -> int:
        """Agent steps of the episode."""
        return len(self.reward) - 1


def record(loaded: LoadedRun, path: Path, *, episode: int = 0, steps: int | None = None, speed: float = 1.0) -> Watched:
    """Film noise-free evaluation episode number `episode`, or its first `steps`, into an `.mp4` or `.gif`.

    `speed` 1 is the world's own pace. Returns what is drawn in.
    """
    check_film(path)
    if episode < 0 or (steps is not None and steps < 1):
        raise UserError(f"--episode is {episode} and --steps is {steps}: give at least 0 and 1.")
    if not 0 < speed <= 100:
        raise UserError(f"--speed is {speed}: give a number above 0, up to 100.")
    played, watched = gather(loaded, episode=episode, steps=steps)
    write(played, watched, path, speed=speed)
    return watched


def write(played: Episode, watched: Watched, path: Path, *, speed: float = 1.0) -> Path:
    """The film of an episode that was played."""
    return write_film(path, pictures(watched.config, played, watched), speed / watched.seconds)


def gather(loaded: LoadedRun, *, episode: int = 0, steps: int | None = None) -> tuple[Episode, Watched]:
    """Play the episode, and read off what is drawn in."""
    config, models = loaded.config, loaded.state.models
    evaluator, world = Evaluator(config), make_environment(config)
    try:
        (played,) = evaluator.episodes(models, 1, first=episode)
        seconds = seconds_per_step(world)
    finally:
        evaluator.close()
        world.close()
    until = slice(None if steps is None else steps + 1)
    has_skills = models.skill_size > 0 and "skill" in played.record
    value = plan_values(models, config, played, episode) if isinstance(models, Models) else None
    return played, Watched(
        config=config,
        frames=loaded.counters.frames,
        episode=episode,
        reward=played.reward[until],
        skill=played.record["skill"][until] if has_skills else None,
        value=None if value is None else value[until],
        seconds=seconds,
    )


def plan_values(models: Models, config: Config, played: Episode, episode: int) -> np.ndarray:
    """The planner's score of the plan that is acted on, `[T + 1]`: that which led to each step.

    Plans are those of acting, thought again; each is imagined anew, as often as it takes to average out chance. Agents
    without a planner are scored alike: by what following their skill, or their policy alone, is imagined to bring.
    """
    duration = config.skill.duration
    moments = np.arange(0, played.length - 1, duration)
    latents = jax.tree.map(lambda x: x[moments], posterior_means(models.world_model, played))
    skills = played.record.get("skill", np.zeros((played.length, 0), np.float32))[moments + 1]
    values = _make_value(config)(
        models, latents, jnp.asarray(skills), jnp.asarray(moments), key(0, Stream.EVALUATE, episode)
    )
    return np.concatenate([[np.nan], np.repeat(np.asarray(values), duration)[: played.length - 1]])


def _make_value(config: Config) -> Callable[[Models, Latent, Array, Array, PRNGKeyArray], Float[Array, " moments"]]:
    @jax.jit
    def values(models: Models, latents: Latent, skills: Array, moments: Array, episode_key: PRNGKeyArray) -> Array:
        def one(inputs: tuple[Latent, Array, Array]) -> Array:
            latent, skill, moment = inputs
            select_key, _, score_key = step_keys(episode_key, moment)
            judge = models.score(latent, config)
            plan = models.selection.select_to_act(judge, feature(latent), select_key).mean.at[0].set(skill)
            return jnp.mean(jax.vmap(judge, in_axes=(None, 0))(plan, jax.random.split(score_key, DRAWS)))

        return jax.lax.map(one, (latents, skills, moments))

    return values


def pictures(config: Config, played: Episode, watched: Watched) -> Iterator[np.ndarray]:
    """The world on the left, the dials on the right, for every step."""
    world = make_environment(config)
    try:
        seed = environment_seed(0, Stream.ENVIRONMENT_EVALUATE, watched.episode)
        dials = None
        for step, picture in enumerate(replay(world, seed, played.action[: watched.steps + 1])):
            enlarged = enlarge(picture)
            dials = dials or Dials(dial_rows(watched), title_of(watched), watched.seconds, enlarged.shape[0])
            yield np.concatenate([enlarged, dials.at(step)], axis=1)
    finally:
        world.close()


def dial_rows(watched: Watched) -> list[tuple[str, np.ndarray]]:
    """What is drawn in, each `[T + 1, lines]`, and its name."""
    rows = []
    if watched.skill is not None:
        # The reset's entry belongs to no step.
        skill = watched.skill.copy()
        skill[0] = skill[1]
        rows.append(("skill z", skill))
    if watched.value is not None:
        rows.append(("value of the plan", watched.value[:, None]))
    rows.append(("reward per agent step", watched.reward[:, None]))
    return rows


def title_of(watched: Watched) -> str:
    """What the film shows."""
    config = watched.config
    return (
        f"{config.agent} on {config.task}, {watched.frames:,} frames\n"
        f"noise-free episode {watched.episode}, return {watched.reward.sum():.1f}"
    )


def enlarge(picture: np.ndarray) -> np.ndarray:
    """Twice as large where a picture is smaller than people like."""
    if picture.shape[0] > 400:
        return picture
    return picture.repeat(2, axis=0).repeat(2, axis=1)
