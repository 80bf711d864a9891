"""Layers against Keras's formulas written in numpy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.config import NetworkConfig, WorldModelConfig
from skillplan.networks import GRU, MLP, Conv, Dense, Hidden, unit_scale
from skillplan.world_model.decoder import PixelDecoder
from skillplan.world_model.encoder import PixelEncoder

PLAIN = NetworkConfig()
NORMED = NetworkConfig(activation="silu", layer_norm=True)


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def plain_normalize(x):
    centered = x - x.mean()
    return centered / np.sqrt((centered**2).mean() + 1e-3)


def test_dense_is_affine_with_glorot_uniform_weights():
    dense = Dense(30, 40, jax.random.key(0))
    limit = np.sqrt(6 / (30 + 40))
    assert np.abs(dense.weight).max() <= limit
    assert np.abs(dense.weight).max() > 0.98 * limit
    np.testing.assert_allclose(np.std(dense.weight), limit / np.sqrt(3), rtol=0.05)
    np.testing.assert_array_equal(dense.bias, np.zeros(40))
    dense = eqx.tree_at(lambda d: d.bias, dense, jnp.arange(40.0))
    x = normal(0, 30)
    np.testing.assert_allclose(dense(jnp.asarray(x)), x @ np.asarray(dense.weight) + np.arange(40), atol=1e-5)


def test_dense_scale_multiplies_the_weights():
    np.testing.assert_allclose(
        Dense(3, 4, jax.random.key(0), 0.1).weight, 0.1 * Dense(3, 4, jax.random.key(0)).weight, rtol=1e-6
    )


@pytest.mark.parametrize("network", [PLAIN, NORMED])
def test_hidden_normalises_before_its_nonlinearity(network):
    layer = Hidden(3, 4, network, jax.random.key(0))
    layer = eqx.tree_at(lambda h: h.dense.bias, layer, jnp.asarray(normal(1, 4)))
    x = normal(0, 3)
    y = x @ np.asarray(layer.dense.weight) + normal(1, 4)
    if network.layer_norm:
        y = plain_normalize(y)
        expected = y * sigmoid(y)
    else:
        expected = np.where(y > 0, y, np.exp(y) - 1)
    np.testing.assert_allclose(layer(jnp.asarray(x)), expected, atol=1e-5)


def test_mlp_scales_its_output_layer_alone():
    one, other = (MLP(3, 4, 2, 5, PLAIN, jax.random.key(0), scale) for scale in (1.0, 0.5))
    assert len(one.hidden) == 2
    x = jnp.asarray(normal(0, 3))
    assert one(x).shape == (5,)
    np.testing.assert_allclose(other(x), 0.5 * one(x), rtol=1e-5)


@pytest.fixture
def gru_inputs():
    return normal(1, 3), normal(2, 4)


def make_gru(network):
    """Biases are zero at first; other values make their places matter."""
    gru = GRU(3, 4, network, jax.random.key(0))
    biases = (jnp.asarray(normal(3, 12)), jnp.asarray(normal(4, 12)))
    return eqx.tree_at(lambda g: (g.input_bias, g.recurrent_bias), gru, biases)


def test_gru_is_keras_reset_after(gru_inputs):
    x, h = gru_inputs
    gru = make_gru(PLAIN)
    xz, xr, xc = np.split(x @ np.asarray(gru.input_weight) + np.asarray(gru.input_bias), 3)
    hz, hr, hc = np.split(h @ np.asarray(gru.recurrent_weight) + np.asarray(gru.recurrent_bias), 3)
    z, r = sigmoid(xz + hz), sigmoid(xr + hr)
    expected = z * h + (1 - z) * np.tanh(xc + r * hc)
    np.testing.assert_allclose(gru(jnp.asarray(x), jnp.asarray(h)), expected, atol=1e-5)


def test_gru_with_layer_norm(gru_inputs):
    x, h = gru_inputs
    gru = make_gru(NORMED)  # with biases, which are normalised too
    pre = x @ np.asarray(gru.input_weight) + h @ np.asarray(gru.recurrent_weight)
    pre = plain_normalize(pre + np.asarray(gru.input_bias) + np.asarray(gru.recurrent_bias))
    z, r, c = np.split(pre, 3)
    z = sigmoid(z + 1)
    expected = z * h + (1 - z) * np.tanh(sigmoid(r) * c)
    np.testing.assert_allclose(gru(jnp.asarray(x), jnp.asarray(h)), expected, atol=1e-5)


def test_gru_starts_orthogonal_with_two_zero_biases_of_three_gates():
    gru = GRU(3, 4, PLAIN, jax.random.key(0))
    np.testing.assert_allclose(gru.recurrent_weight @ gru.recurrent_weight.T, np.eye(4), atol=1e-5)
    biases = jnp.stack([gru.input_bias, gru.recurrent_bias])
    assert biases.size == 2 * 3 * 4
    assert not biases.any()
    limit = np.sqrt(6 / (3 + 12))
    assert 0.9 * limit < np.abs(gru.input_weight).max() <= limit


def test_unit_scale_and_its_own_gradient_equal_the_plain_formula():
    def plain(x):
        return x / jnp.sqrt(jnp.mean(x**2) + 1e-3)

    for scale in (1.0, 0.02):  # where the spread is small, the constant under the root counts
        x, direction = jnp.asarray(scale * normal(0, 7)), jnp.asarray(normal(1, 7))
        np.testing.assert_allclose(unit_scale(x), plain(x), atol=2e-5)
        gradient = jax.grad(lambda x, f=unit_scale, d=direction: f(x) @ d)(x)
        np.testing.assert_allclose(gradient, jax.grad(lambda x, d=direction: plain(x) @ d)(x), rtol=1e-3, atol=2e-4)


def test_convolution_is_strided_and_valid():
    conv = Conv(2, 3, 4, jax.random.key(0))
    image, weight = normal(0, 8, 8, 2), np.asarray(conv.weight)
    out = conv(jnp.asarray(image))
    assert out.shape == (3, 3, 3)
    for i in range(3):
        for j in range(3):
            patch = image[2 * i : 2 * i + 4, 2 * j : 2 * j + 4]
            np.testing.assert_allclose(out[i, j], np.einsum("abc,abcd->d", patch, weight), atol=1e-5)
    limit = np.sqrt(6 / (16 * (2 + 3)))  # Keras counts the kernel's area in both fans
    assert 0.9 * limit < np.abs(weight).max() <= limit


def test_images_become_1024_numbers_and_back():
    config = WorldModelConfig()
    image, feature = jax.ShapeDtypeStruct((64, 64, 3), jnp.float32), jax.ShapeDtypeStruct((230,), jnp.float32)
    key = jax.random.key(0)
    embed = jax.eval_shape(lambda x: PixelEncoder(config, PLAIN, key)(x), image)
    assert embed.shape == (1024,)
    assert jax.eval_shape(lambda: PixelEncoder(config, PLAIN, key).layers[-1].weight).shape == (4, 4, 128, 256)
    decoded = jax.eval_shape(lambda x: PixelDecoder(230, config, PLAIN, key)(x), feature)
    assert decoded.mean.shape == (64, 64, 3)
