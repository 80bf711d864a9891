"""The backward skill predictor's density and what it reads."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from skillplan.skill_discovery.predictor import SkillPredictor
from skillplan.world_model.model import feature_size
from small import OBSERVATION, PIXEL_SPEC, SPEC, fresh_models, quick_compilation, small  # noqa: F401

SEGMENT = 4
SIZE = feature_size(small())


def config_of(kind, noise=0.0):
    return small(skill={"segment_length": SEGMENT}, discovery={"predictor_input": kind, "predictor_noise": noise})


def states(seed=0):
    draws = np.random.default_rng(seed).normal(size=(SEGMENT + 1, SIZE))
    return jnp.asarray(draws, jnp.float32)


def read(config, key=0, spec_of="features", all_states=None):
    models = fresh_models(config, spec_of)
    s = states() if all_states is None else all_states
    assert models.predictor is not None
    return models.predictor.inputs(models.world_model, s[0], s[1:], jax.random.key(key))


def test_log_prob_is_the_gaussians():
    models = fresh_models(config_of("sequence"))
    assert models.predictor is not None
    inputs, skill = jnp.ravel(states()), jnp.array([0.3, -1.2, 2.0])
    mean, std = models.predictor(inputs)
    expected = stats.norm.logpdf(skill, mean, std).sum()
    np.testing.assert_allclose(models.predictor.log_prob(inputs, skill), expected, rtol=1e-5)
    assert np.all((std > 0.1) & (std < 1.6))


def test_a_sequence_is_every_state_with_the_start_first():
    np.testing.assert_array_equal(read(config_of("sequence")), np.ravel(states()))


def test_a_change_is_the_first_observation_and_how_the_last_differs():
    config = config_of("change")
    decoder = fresh_models(config).world_model.decoder
    first, last = decoder(states()[0]).mean, decoder(states()[-1]).mean
    np.testing.assert_allclose(read(config), np.concatenate([first, last - first]), atol=1e-6)
    # What lies between does not count.
    detour = states().at[1:-1].add(1.0)
    np.testing.assert_array_equal(read(config, all_states=detour), read(config))


def test_with_images_a_change_is_one_of_features():
    first, last = states()[0], states()[-1]
    actual = read(config_of("change"), spec_of="pixels")
    np.testing.assert_allclose(actual, np.concatenate([first, last - first]), atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "spec", "inputs"),
    [
        ("sequence", SPEC, (SEGMENT + 1) * SIZE),
        ("change", SPEC, 2 * OBSERVATION),
        ("sequence", PIXEL_SPEC, (SEGMENT + 1) * SIZE),
        ("change", PIXEL_SPEC, 2 * SIZE),
    ],
)
def test_the_size_of_the_input(kind, spec, inputs):
    predictor = SkillPredictor(config_of(kind), spec, jax.random.key(0))
    assert predictor.mlp.hidden[0].dense.weight.shape[0] == inputs
    assert predictor.mlp.output.weight.shape[1] == 2 * 3


@pytest.mark.parametrize("kind", ["sequence", "change"])
def test_noise_blurs_the_input(kind):
    still, noisy = config_of(kind), config_of(kind, 0.5)
    np.testing.assert_array_equal(read(still, 0), read(still, 1))
    assert (read(noisy, 0) != read(noisy, 1)).all()
    deviations = np.concatenate([read(noisy, key) - read(still) for key in range(10)])
    # A change is the difference of two noisy states: half of its numbers vary by √2 more.
    expected = 0.5 if kind == "sequence" else 0.5 * np.sqrt((1 + 2) / 2)
    np.testing.assert_allclose(deviations.std(), expected, rtol=0.2)
