"""Open-loop prediction: what the world model expects of known actions, against what came."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.reporting.composite import evenly
from skillplan.reporting.model_view import decode, latent_models, names_of, posterior_means
from skillplan.reporting.style import new_figure, plain
from skillplan.reporting.world import seconds_per_step
from skillplan.training.evaluate import Evaluator, make_environment
from skillplan.training.restore import LoadedRun
from skillplan.types import Latent
from skillplan.world_model.model import WorldModel
from skillplan.world_model.rssm import feature

DRAWS = 32
SHOWN = 6
"""Observed numbers of which there is a panel."""
IMAGES = 10
"""Moments of the strip of images."""
TRUTH_COLOR, MODEL_COLOR = "black", "#0072B2"


class OpenLoop(NamedTuple):
    """One prediction from a moment of an episode; index 0 is the first step that was not seen."""

    config: Config
    frames: int
    """Of training."""
    episode: int
    context: int
    """Agent steps that were seen before."""
    names: list[str]
    """Of the numbers of a flat observation."""
    truth: np.ndarray
    """What was observed, `[steps, …]`."""
    prediction: np.ndarray
    """The mean over draws of the predicted means, `[steps, …]`."""
    deviation: np.ndarray
    """Standard deviation of what is predicted, of the draws and of the decoder, `[steps, …]`; images: of the draws."""
    last_seen: np.ndarray
    """The observation before the first step, `[…]`."""
    scale: np.ndarray
    """Standard deviation of each number over the episode, `[…]`."""
    reward: np.ndarray
    """`[steps]`."""
    predicted_reward: np.ndarray
    """`[steps]`."""
    reward_deviation: np.ndarray
    """Of the draws, `[steps]`."""
    seconds: float
    """That an agent step lasts."""

    @property
    def error(self) -> np.ndarray:
        """Root mean square of the error in standard deviations, over the numbers that change, `[steps]`."""
        return _relative(self.prediction - self.truth, self.scale)

    @property
    def standstill_error(self) -> np.ndarray:
        """The same of the prediction that nothing changes, `[steps]`."""
        return _relative(self.last_seen - self.truth, self.scale)


def gather(loaded: LoadedRun, *, episode: int = 0, context: int = 5, steps: int = 50) -> OpenLoop:
    """Show the world model `context` agent steps of a noise-free episode, then `steps` actions only."""
    config, models = loaded.config, latent_models(loaded.state.models, loaded.config)
    if episode < 0 or context < 0 or steps < 1:
        raise UserError(f"--episode is {episode}, the context {context} and --steps {steps}: give at least 0, 0 and 1.")
    evaluator, world = Evaluator(config), make_environment(config)
    try:
        (played,) = evaluator.episodes(models, 1, first=episode)
        names, seconds = names_of(world.spec), seconds_per_step(world)
    finally:
        evaluator.close()
        world.close()
    steps = min(steps, played.length - 1 - context)
    if steps < 1:
        raise UserError(f"The episode has {played.length - 1} agent steps: let the context be shorter than {context}.")
    latent = jax.tree.map(lambda x: x[context], posterior_means(models.world_model, played))
    actions = jnp.asarray(played.action[context + 1 : context + 1 + steps])
    foreseen = predict(models.world_model, latent, actions, jax.random.key(episode))
    ahead = slice(context + 1, context + 1 + steps)
    return OpenLoop(
        config=config,
        frames=loaded.counters.frames,
        episode=episode,
        context=context,
        names=names,
        truth=played.observation[ahead].astype(np.float32),
        last_seen=played.observation[context].astype(np.float32),
        scale=played.observation.astype(np.float32).std(axis=0),
        reward=played.reward[ahead],
        seconds=seconds,
        **foreseen,
    )


def predict(
    world_model: WorldModel, latent: Latent, actions: Float[Array, "steps action"], key: PRNGKeyArray
) -> dict[str, np.ndarray]:
    """The fields of `OpenLoop` that the model makes up for known actions from one latent."""
    features = _imagine(world_model, latent, actions, jax.random.split(key, DRAWS))
    flat = features.reshape(-1, features.shape[-1])
    shape = features.shape[:2]
    mean, above = (np.asarray(x).reshape(*shape, *x.shape[1:]) for x in decode(world_model, flat))
    reward = np.asarray(jax.vmap(world_model.reward)(flat)).reshape(shape)
    return {
        "prediction": mean.mean(axis=0),
        "deviation": np.sqrt(mean.var(axis=0) + np.square(above - mean).mean(axis=0)),
        "predicted_reward": reward.mean(axis=0),
        "reward_deviation": reward.std(axis=0),
    }


@jax.jit
def _imagine(
    world_model: WorldModel, latent: Latent, actions: Array, keys: Array
) -> Float[Array, "draws steps feature"]:
    def one(key: PRNGKeyArray) -> Float[Array, "steps feature"]:
        noise = jax.random.normal(key, (len(actions), len(latent.stoch)))

        def step(latent: Latent, inputs: tuple[Array, Array]) -> tuple[Latent, Array]:
            latent = world_model.rssm.imagine_step(latent, *inputs)
            return latent, feature(latent)

        return jax.lax.scan(step, latent, (actions, noise))[1]

    return jax.vmap(one)(keys)


def _relative(error: np.ndarray, scale: np.ndarray) -> np.ndarray:
    changes = scale > 1e-3 * max(float(scale.max()), 1e-12)
    return np.sqrt(np.square(error[:, changes] / scale[changes]).mean(axis=1))


def draw(prediction: OpenLoop) -> Figure:
    """Images: truth, model and error below each other. Features: curves of some, with the reward and the error."""
    return _draw_images(prediction) if prediction.truth.ndim == 4 else _draw_curves(prediction)


def describe(prediction: OpenLoop) -> str:
    """What the figure shows."""
    config, seconds = prediction.config, prediction.seconds
    return (
        f"What the world model of {config.agent} on {config.task} foresees after {prediction.frames:,} frames, given "
        f"{prediction.context * seconds:.1f} s of an episode and then actions only"
    )


def figures_of_merit(prediction: OpenLoop) -> str:
    """How far it is off, in one line."""
    return (
        f"error over {len(prediction.error)} steps {prediction.error.mean():.2f} standard deviations of the "
        f"observation, {prediction.standstill_error.mean():.2f} if nothing changed"
    )


def _draw_images(prediction: OpenLoop) -> Figure:
    moments = evenly(len(prediction.truth), IMAGES)
    truth, model = prediction.truth[moments], prediction.prediction[moments]
    # Half grey where both agree, as is usual.
    error = np.clip((model - truth) / 2 + 127.5, 0, 255)
    rows = [np.concatenate(list(images), axis=1) for images in (truth, model, error)]
    width = len(moments) * 1.05
    figure = new_figure(width + 0.8, 6.3)
    figure.suptitle(describe(prediction), fontsize=9, wrap=True)
    above, below = figure.subplots(2, 1, height_ratios=[3.1, 1.6])
    above.imshow(np.concatenate(rows, axis=0).round().astype(np.uint8))
    height, across = truth.shape[1:3]
    above.set(yticks=height * (np.arange(3) + 0.5), xticks=across * (np.arange(len(moments)) + 0.5))
    above.set_yticklabels(["truth", "model", "error"], fontsize=8)
    above.set_xticklabels([f"+{(moment + 1) * prediction.seconds:.1f} s" for moment in moments], fontsize=8)
    above.tick_params(length=0)
    above.spines[:].set_visible(False)
    _draw_reward(below, prediction)
    return figure


def _draw_curves(prediction: OpenLoop) -> Figure:
    figure = new_figure(10.5, 6.2)
    figure.suptitle(describe(prediction), fontsize=9)
    panels = figure.subplots(2, 4, sharex=True)
    chosen = most_changing(prediction)
    time = prediction.seconds * np.arange(1, len(prediction.truth) + 1)
    spare = list(panels.flat)
    for axes, number in zip(spare[:SHOWN], chosen, strict=False):
        _draw_course(
            axes, time, prediction.truth[:, number], prediction.prediction[:, number], prediction.deviation[:, number]
        )
        axes.set_ylabel(prediction.names[number], fontsize=8)
    for axes in spare[len(chosen) : SHOWN]:
        axes.set_visible(False)
    _draw_reward(spare[SHOWN], prediction)
    axes = spare[SHOWN + 1]
    axes.plot(time, prediction.standstill_error, color="0.5", linestyle="--", label="nothing changes")
    axes.plot(time, prediction.error, color=MODEL_COLOR, label="world model")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("error (std of the observation)", fontsize=8)
    axes.legend(frameon=False, fontsize=7, loc="upper left")
    for axes in panels[1]:
        axes.set_xlabel("time ahead (s)", fontsize=8)
    for axes in spare:
        axes.tick_params(labelsize=7)
        plain(axes)
    return figure


def most_changing(prediction: OpenLoop) -> list[int]:
    """The numbers of the observation that changed most, compared with the episode: first one of each named piece."""
    relative = prediction.truth.std(axis=0) / np.maximum(prediction.scale, 1e-3 * prediction.scale.max() + 1e-12)
    order = np.argsort(relative)[::-1].tolist()
    pieces = [prediction.names[number].rpartition(" ")[0] or prediction.names[number] for number in order]
    first = [number for place, number in enumerate(order) if pieces[place] not in pieces[:place]]
    return (first + [number for number in order if number not in first])[:SHOWN]


def _draw_reward(axes: Axes, prediction: OpenLoop) -> None:
    time = prediction.seconds * np.arange(1, len(prediction.reward) + 1)
    _draw_course(axes, time, prediction.reward, prediction.predicted_reward, prediction.reward_deviation)
    axes.set_ylabel("reward per agent step", fontsize=8)
    axes.set_xlabel("time ahead (s)", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.legend(frameon=False, fontsize=7)
    plain(axes)


def _draw_course(axes: Axes, time: np.ndarray, truth: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> None:
    band: dict[str, Any] = {"color": MODEL_COLOR, "alpha": 0.2, "linewidth": 0}
    axes.fill_between(time, mean - deviation, mean + deviation, **band)
    axes.plot(time, mean, color=MODEL_COLOR, linewidth=1.3, label="model (1 std)")
    axes.plot(time, truth, color=TRUTH_COLOR, linewidth=1.3, label="truth")
