"""What the planner thinks: its populations in skill space, what it imagines of its plan, and what then happened."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from matplotlib.figure import Figure

from skillplan.agent import step_keys
from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.models import Models
from skillplan.reporting import plan_panels
from skillplan.reporting.composite import evenly
from skillplan.reporting.film import write_film
from skillplan.reporting.model_view import decoded, latent_models, names_of, places_of, posterior_means
from skillplan.reporting.style import new_figure
from skillplan.reporting.world import layout_of, seconds_per_step
from skillplan.skill_selection.watched import Watched
from skillplan.training.evaluate import Evaluator, make_environment
from skillplan.training.restore import LoadedRun
from skillplan.training.seeding import Stream, environment_seed, key
from skillplan.types import Latent, Noise
from skillplan.world_model.rssm import feature

STEPS = 100
"""Agent steps of the episode that are looked at, unless moments are named."""
MOST_MOMENTS = 40
DRAWS = 16
"""Times that the plan acted on is imagined."""
SHOWN_PLANS = 32
"""Plans of a population that are imagined, at most."""


class Thought(NamedTuple):
    """One choice of a plan; of plans of several skills, only the first one, which is acted on."""

    step: int
    """Agent step at which it was made."""
    skills: np.ndarray
    """The populations' first skills, `[iterations, population, skill_size]`."""
    scores: np.ndarray
    """`[iterations, population]`."""
    weights: np.ndarray
    """How much each plan counts for the next distribution, `[iterations, population]`; the elites of CEM have 1."""
    mean: np.ndarray
    """Of the distribution before each iteration and after the last one, `[iterations + 1, skill_size]`."""
    std: np.ndarray
    """`[iterations + 1, skill_size]`."""
    imagined: np.ndarray
    """What the plan acted on was imagined to bring: observations `[draws, H, …]`."""
    imagined_rewards: np.ndarray
    """`[draws, H]`."""
    imagined_places: np.ndarray | None
    """`[draws, H, 2]` (m), where observations tell the place."""
    tried_places: np.ndarray | None
    """The same of plans of the first and the last population, without noise, `[plans, H, 2]`."""
    tried_scores: np.ndarray
    """Of those plans, `[plans]`."""


class Plans(NamedTuple):
    """The planning of one episode."""

    config: Config
    frames: int
    """Of training."""
    episode: int
    thoughts: tuple[Thought, ...]
    observation: np.ndarray
    """What was seen, `[T + 1, …]`."""
    names: list[str]
    """Of the numbers of a flat observation."""
    reward: np.ndarray
    """`[T + 1]`."""
    places: np.ndarray | None
    """Where the agent was, `[T + 1, 2]` (m), where observations tell the place."""
    layout: dict[str, np.ndarray]
    """What stood where."""
    seconds: float
    """That an agent step lasts."""


def gather(loaded: LoadedRun, *, episode: int = 0, at: Sequence[int] | None = None, steps: int = STEPS) -> Plans:
    """Play noise-free evaluation episode number `episode`, and think every plan again as it was thought then.

    Plans are those made at the agent steps `at`, by default all of the first `steps`, thinned to forty.
    """
    config, models = loaded.config, latent_models(loaded.state.models, loaded.config)
    watched(models, config)
    if episode < 0 or steps < 1:
        raise UserError(f"--episode is {episode} and --steps is {steps}: give at least 0 and 1.")
    evaluator, world = Evaluator(config), make_environment(config)
    try:
        (played,) = evaluator.episodes(models, 1, first=episode)
        layout = layout_of(world, environment_seed(0, Stream.ENVIRONMENT_EVALUATE, episode))
        moments = _moments(config, played.length - 1, at, steps)
        think = make_think(config)
        latents = posterior_means(models.world_model, played)
        thoughts = []
        for step in moments:
            latent = jax.tree.map(lambda x: x[step], latents)  # noqa: B023
            thought = think(models, latent, key(0, Stream.EVALUATE, episode), jnp.int32(step))
            imagined, tried = (decoded(models.world_model, features) for features in thought.pop("features"))
            thoughts.append(
                Thought(
                    step=step,
                    imagined=imagined,
                    imagined_places=places_of(world, imagined, played.record),
                    tried_places=places_of(world, tried, played.record),
                    **{name: np.asarray(value) for name, value in thought.items()},
                )
            )
        return Plans(
            config=config,
            frames=loaded.counters.frames,
            episode=episode,
            thoughts=tuple(thoughts),
            observation=played.observation,
            names=names_of(world.spec),
            reward=played.reward,
            places=None if thoughts[0].imagined_places is None else played.record["position"][:, -1, :2],
            layout=layout,
            seconds=seconds_per_step(world),
        )
    finally:
        evaluator.close()
        world.close()


def has_planner(loaded: LoadedRun) -> bool:
    """Whether there is a planner to watch."""
    return isinstance(loaded.state.models, Models) and isinstance(loaded.state.models.selection, Watched)


def watched(models: Models, config: Config) -> Watched:
    """The planner; a sentence for an agent without one."""
    if not isinstance(models.selection, Watched):
        raise UserError(
            f"The agent of this run, {config.agent}, does not plan (its skills: {config.skill.selection!r}): "
            "name the run of one that does, such as lsp."
        )
    return models.selection


def make_think(config: Config) -> Callable[[Models, Latent, PRNGKeyArray, Int[Array, ""]], dict]:
    """The compiled function that plans at one agent step as acting does, given the episode's key, and keeps all of it.

    It returns fields of `Thought`, and as `features` what the plan acted on and others that were tried were imagined
    to bring.
    """
    horizon, duration = config.planner.horizon, config.skill.duration

    @jax.jit
    def think(models: Models, latent: Latent, episode_key: PRNGKeyArray, step: Int[Array, ""]) -> dict:
        select_key, _, noise_key = step_keys(episode_key, step)
        planner = watched(models, config)
        final, went = planner.watch_to_act(models.score(latent, config), feature(latent), select_key)

        def follow(plan: Array, noise: Noise) -> Float[Array, "H feature"]:
            return imagine(models.world_model, models.policy, latent, plan, duration, noise).feature

        draw = lambda k: draw_noise(k, horizon, models.policy.action_size, len(latent.stoch))  # noqa: E731
        noise = jax.vmap(draw)(jax.random.split(noise_key, DRAWS))
        imagined = jax.vmap(follow, in_axes=(None, 0))(final.mean, noise)
        plans = jnp.concatenate([went.plans[0, :SHOWN_PLANS], went.plans[-1, :SHOWN_PLANS]])
        tried = jax.vmap(follow, in_axes=(0, None))(plans, jax.tree.map(lambda x: jnp.zeros_like(x[0]), noise))
        first = jax.tree.map(lambda before, last: jnp.concatenate([before, last[None]])[:, 0], went.distribution, final)
        return {
            "skills": went.plans[:, :, 0],
            "scores": went.scores,
            "weights": jax.vmap(planner.weights)(went.scores),
            "mean": first.mean,
            "std": first.std,
            "imagined_rewards": jax.vmap(jax.vmap(models.world_model.reward))(imagined),
            "tried_scores": jnp.concatenate([went.scores[0, :SHOWN_PLANS], went.scores[-1, :SHOWN_PLANS]]),
            "features": (imagined, tried),
        }

    return think


def _moments(config: Config, length: int, at: Sequence[int] | None, steps: int) -> list[int]:
    """The agent steps at which to look, all of them multiples of K within the episode."""
    duration = config.skill.duration
    if at is None:
        possible = np.arange(0, min(steps, length), duration)
        return possible[evenly(len(possible), MOST_MOMENTS)].tolist()
    for step in at:
        if step % duration or step < 0:
            raise UserError(f"--at {step} is no step at which a plan is made: give multiples of K, {duration}.")
        if step >= length:
            raise UserError(f"--at {step} is after the end of the episode, which has {length} agent steps.")
    return list(at)


def draw(plans: Plans, *, moments: int = 3) -> Figure:
    """For some moments, evenly over those thought about: the populations of the search, and what came of the plan."""
    chosen = [plans.thoughts[i] for i in evenly(len(plans.thoughts), moments)]
    iterations = evenly(len(chosen[0].scores), plan_panels.MOST_ITERATIONS)
    figure = new_figure(2.1 * len(iterations) + 4.6, 2.4 * len(chosen) + 1.1)
    figure.suptitle(describe(plans), fontsize=10)
    plan_panels.explain(figure, plans)
    for row, thought in zip(np.atleast_1d(np.array(figure.subfigures(len(chosen), 1))), chosen, strict=True):
        ratios = [1.0] * len(iterations) + [1.7]
        grid = row.subplots(1, len(iterations) + 1, width_ratios=ratios)
        plan_panels.draw_search(row, list(grid[:-1]), thought, iterations)
        plan_panels.draw_outcome(grid[-1], plans, thought)
    return figure


def record(plans: Plans, path: Path) -> Path:
    """A film, `.mp4` or `.gif`: each search iteration by iteration, then what happened beside what was imagined."""
    return write_film(path, plan_panels.film(plans), plan_panels.FRAMES_PER_SECOND)


def describe(plans: Plans) -> str:
    """What the figure shows."""
    config = plans.config
    return (
        f"What {config.agent} thinks on {config.task} after {plans.frames:,} frames "
        f"(noise-free episode {plans.episode}, return {plans.reward.sum():.1f})"
    )
