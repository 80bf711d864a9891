"""The world model as a whole: what its networks see, and what its decoders and heads say."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from skillplan.world_model import WorldModel
from skillplan.world_model.model import feature_size
from skillplan.world_model.rssm import feature
from small import PIXEL_SPEC, SPEC, fresh_models, quick_compilation, random_latent, small  # noqa: F401


def test_images_are_seen_between_minus_a_half_and_a_half():
    model = WorldModel(small(), PIXEL_SPEC, jax.random.key(0))
    seen = model.preprocess(jnp.array([0, 51, 255], jnp.uint8))
    np.testing.assert_allclose(seen, [-0.5, -0.3, 0.5], atol=1e-6)


def test_features_are_squashed_if_asked():
    x = jnp.array([0.0, np.e - 1, -99.0])
    np.testing.assert_array_equal(WorldModel(small(), SPEC, jax.random.key(0)).preprocess(x), x)
    squashing = WorldModel(small(world_model={"symlog": True}), SPEC, jax.random.key(0))
    np.testing.assert_allclose(squashing.preprocess(x), [0, 1, -np.log(100)], rtol=1e-6)


def test_what_is_squashed_is_encoded_too():
    model = WorldModel(small(world_model={"symlog": True}), SPEC, jax.random.key(0))
    latent, raw = random_latent(small()), jnp.arange(5.0) * 10
    arguments = (jnp.zeros(2), jnp.zeros((), bool), jnp.zeros(4))
    seen = model.observe_step(latent, arguments[0], raw, *arguments[1:])
    expected = model.rssm.observe_step(latent, arguments[0], model.encoder(jnp.log1p(raw)), *arguments[1:])
    np.testing.assert_allclose(seen.stoch, expected.stoch, rtol=1e-5)


def test_decoder_and_heads_are_the_densities_they_claim():
    config = small(world_model={"continuation": True})
    model = fresh_models(config).world_model
    assert model.continuation is not None
    s, o = feature(random_latent(config)), jnp.linspace(-1, 2, 5)
    mean, std = model.decoder(s)
    np.testing.assert_allclose(model.decoder.log_prob(s, o), stats.norm.logpdf(o, mean, std).sum(), rtol=1e-5)
    np.testing.assert_allclose(
        model.reward.log_prob(s, jnp.float32(1.5)), stats.norm.logpdf(1.5, model.reward(s), 1), rtol=1e-5
    )
    p = float(model.continuation(s))
    assert p == model.goes_on(s)
    for outcome in (0, 1):
        np.testing.assert_allclose(
            model.continuation.log_prob(s, jnp.float32(outcome)), stats.bernoulli.logpmf(outcome, p), rtol=1e-4
        )


def test_the_image_decoder_has_unit_deviation():
    model = fresh_models(small(), "pixels").world_model
    s = feature(random_latent(small()))
    picture = jnp.asarray(np.random.default_rng(0).uniform(-0.5, 0.5, (64, 64, 3)), jnp.float32)
    mean, _ = model.decoder(s)
    expected = stats.norm.logpdf(picture, mean, 1).sum()
    np.testing.assert_allclose(model.decoder.log_prob(s, picture), expected, rtol=1e-5)


def test_episodes_always_go_on_where_nothing_terminates():
    model = fresh_models(small()).world_model
    assert model.continuation is None
    assert model.goes_on(jnp.zeros(feature_size(small()))) == 1
