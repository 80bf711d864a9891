"""Open-loop predictions: of known models, errors by hand, and figures of features and of images."""

import jax
import numpy as np
import pytest

from reporting.made import fresh_run
from skillplan.errors import UserError
from skillplan.presets import make_config
from skillplan.reporting import open_loop
from skillplan.reporting.open_loop import OpenLoop
from small import quick_compilation  # noqa: F401


def made(truth: np.ndarray, prediction: np.ndarray, **changes: object) -> OpenLoop:
    steps = len(truth)
    one = OpenLoop(
        config=make_config("rover-field", "lsp", "debug"),
        frames=12_000,
        episode=0,
        context=5,
        names=["heading 1", "heading 2", "speed"],
        truth=truth,
        prediction=prediction,
        deviation=np.full_like(truth, 0.1),
        last_seen=np.zeros(truth.shape[1:]),
        scale=np.ones(truth.shape[1:]),
        reward=np.linspace(0, 1, steps),
        predicted_reward=np.zeros(steps),
        reward_deviation=np.full(steps, 0.2),
        seconds=0.1,
    )
    return one._replace(**changes)


def test_errors_by_hand():
    truth = np.array([[1.0, 0.0, 5.0], [2.0, 4.0, 5.0]])
    found = made(truth, np.zeros((2, 3)), scale=np.array([1.0, 2.0, 0.0]), last_seen=np.array([1.0, 0.0, 5.0]))
    # The third number never changes and does not count.
    np.testing.assert_allclose(found.error, [np.sqrt(1 / 2), np.sqrt((4 + 4) / 2)])
    np.testing.assert_allclose(found.standstill_error, [0.0, np.sqrt((1 + 4) / 2)])
    assert open_loop.figures_of_merit(found) == (
        f"error over 2 steps {found.error.mean():.2f} standard deviations of the observation, "
        f"{found.standstill_error.mean():.2f} if nothing changed"
    )


def test_the_panels_show_what_changes_most_of_each_piece_first():
    truth = np.stack([[0.0, 3.0], [0.0, 9.0], [0.0, 1.0]], axis=1)
    assert open_loop.most_changing(made(truth, truth)) == [1, 2, 0]


def test_figures_of_features_have_axes_with_units():
    truth = np.random.default_rng(0).normal(size=(20, 3))
    shown = [axes for axes in open_loop.draw(made(truth, 0.5 * truth)).axes if axes.get_visible()]
    labels = [axes.get_ylabel() for axes in shown]
    assert labels[:3] == ["heading 1", "speed", "heading 2"] or set(labels[:3]) == {"heading 1", "heading 2", "speed"}
    assert labels[3:] == ["reward per agent step", "error (std of the observation)"]
    assert shown[-1].get_xlabel() == "time ahead (s)"


def test_figures_of_images_show_truth_model_and_error():
    truth = np.full((12, 8, 8, 3), 100.0)
    strip, reward = open_loop.draw(made(truth, truth + 20)).axes
    assert [label.get_text() for label in strip.get_yticklabels()] == ["truth", "model", "error"]
    assert strip.get_xticklabels()[0].get_text() == "+0.1 s"
    picture = strip.images[0].get_array()
    # Error: half grey and half of the difference.
    assert [int(picture[row, 0, 0]) for row in (0, 8, 16)] == [100, 120, 138]
    assert reward.get_ylabel() == "reward per agent step"


def test_the_prediction_begins_where_the_context_ends():
    loaded = fresh_run("dreamer")
    found = open_loop.gather(loaded, context=4, steps=8)
    later = open_loop.gather(loaded, context=5, steps=8)
    assert found.truth.shape == found.prediction.shape == (8, 21)
    np.testing.assert_array_equal(found.truth[0], later.last_seen)
    np.testing.assert_array_equal(found.truth[1:], later.truth[:-1])
    assert (found.deviation > 0).all()
    assert len(open_loop.gather(loaded, context=35, steps=8).truth) == 5
    with pytest.raises(UserError, match="let the context be shorter than 40"):
        open_loop.gather(loaded, context=40)


def test_models_of_images_predict_images():
    loaded = fresh_run("dreamer", pixels=True)
    found = open_loop.gather(loaded, steps=6)
    assert found.truth.shape == found.prediction.shape == (6, 64, 64, 3)
    assert found.prediction.min() >= 0
    assert found.prediction.max() <= 255
    assert np.isfinite(found.error).all()
    assert jax.numpy.isfinite(found.predicted_reward).all()
