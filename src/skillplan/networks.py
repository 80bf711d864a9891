"""Layers with Keras's initialisers, on single vectors; callers batch them with `jax.vmap`."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import NetworkConfig

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"elu": jax.nn.elu, "silu": jax.nn.silu, "relu": jax.nn.relu}


@jax.custom_vjp
def unit_scale(x: Float[Array, " size"]) -> Float[Array, " size"]:
    """Divide a vector by its root mean square. Where the vector's mean is zero, this is layer normalisation."""
    return _unit_scale_forward(x)[0]


def _average(x: Float[Array, " size"]) -> Float[Array, ""]:
    # A product with a constant, not `jnp.mean`: on CPU a matrix product sums rows several times faster than a
    # reduction does, and normalisation would otherwise take a third of an update.
    return x @ jnp.full(x.shape, 1.0 / x.shape[0])


def _unit_scale_forward(x: Array) -> tuple[Array, tuple[Array, Array]]:
    scale = jax.lax.rsqrt(_average(jnp.square(x)) + 1e-3)
    scaled = x * scale
    return scaled, (scaled, scale)


def _unit_scale_backward(saved: tuple[Array, Array], gradient: Array) -> tuple[Array]:
    scaled, scale = saved
    return (scale * (gradient - scaled * _average(gradient * scaled)),)


unit_scale.defvjp(_unit_scale_forward, _unit_scale_backward)


def centered(weight: Float[Array, "*inputs outputs"]) -> Float[Array, "*inputs outputs"]:
    """Weights (or a bias) whose outputs have zero mean: x·W less its mean over the outputs is x·centered(W).

    Layer normalisation's subtraction costs a pass over the weights this way, instead of one over every activation.
    """
    return weight - jnp.mean(weight, axis=-1, keepdims=True)


class Dense(eqx.Module):
    """Affine map; Glorot-uniform weights times `scale`, zero bias."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int, key: PRNGKeyArray, scale: float = 1.0):
        self.weight = scale * jax.nn.initializers.glorot_uniform()(key, (inputs, outputs))
        self.bias = jnp.zeros(outputs)

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        """x·W + b."""
        return x @ self.weight + self.bias


class Hidden(eqx.Module):
    """A dense layer, normalised if asked, and its nonlinearity."""

    dense: Dense
    activation: str = eqx.field(static=True)
    layer_norm: bool = eqx.field(static=True)

    def __init__(self, inputs: int, outputs: int, network: NetworkConfig, key: PRNGKeyArray):
        self.dense = Dense(inputs, outputs, key)
        self.activation, self.layer_norm = network.activation, network.layer_norm

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        """The layer's activations."""
        if self.layer_norm:
            x = unit_scale(x @ centered(self.dense.weight) + centered(self.dense.bias))
        else:
            x = self.dense(x)
        return ACTIVATIONS[self.activation](x)


class MLP(eqx.Module):
    """Hidden layers of one width and an affine output."""

    hidden: tuple[Hidden, ...]
    output: Dense

    def __init__(
        self,
        inputs: int,
        units: int,
        layers: int,
        outputs: int,
        network: NetworkConfig,
        key: PRNGKeyArray,
        output_scale: float = 1.0,
    ):
        *hidden_keys, output_key = jax.random.split(key, layers + 1)
        widths = [inputs] + [units] * layers
        self.hidden = tuple(
            Hidden(i, o, network, k) for i, o, k in zip(widths[:-1], widths[1:], hidden_keys, strict=True)
        )
        self.output = Dense(widths[-1], outputs, output_key, output_scale)

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        """The affine output."""
        for layer in self.hidden:
            x = layer(x)
        return self.output(x)


class GRU(eqx.Module):
    """Gated recurrent unit in Keras's `reset_after` form: the reset gate acts after the recurrent product.

    Without `layer_norm`, update = σ(x Wz + h Uz + …), reset = σ(x Wr + h Ur + …),
    candidate = tanh(x Wc + b + reset·(h Uc + c)), h' = update·h + (1 − update)·candidate, with 2 × 3h biases.
    With `layer_norm`, the summed pre-activations are normalised together, the candidate is tanh(reset · its part),
    and the update gate starts at keeping its memory (shift by one).
    """

    input_weight: Float[Array, "inputs gates"]
    recurrent_weight: Float[Array, "units gates"]
    input_bias: Float[Array, " gates"]
    recurrent_bias: Float[Array, " gates"]
    layer_norm: bool = eqx.field(static=True)

    def __init__(self, inputs: int, units: int, network: NetworkConfig, key: PRNGKeyArray):
        input_key, recurrent_key = jax.random.split(key)
        self.input_weight = jax.nn.initializers.glorot_uniform()(input_key, (inputs, 3 * units))
        self.recurrent_weight = jax.nn.initializers.orthogonal()(recurrent_key, (units, 3 * units))
        self.input_bias = jnp.zeros(3 * units)
        self.recurrent_bias = jnp.zeros(3 * units)
        self.layer_norm = network.layer_norm

    def __call__(self, x: Float[Array, " inputs"], h: Float[Array, " units"]) -> Float[Array, " units"]:
        """The memory h after one more input x."""
        if self.layer_norm:
            weight = centered(jnp.concatenate([self.input_weight, self.recurrent_weight]))
            gates = jnp.concatenate([x, h]) @ weight + centered(self.input_bias + self.recurrent_bias)
            update, reset, candidate = jnp.split(unit_scale(gates), 3)
            update, candidate = jax.nn.sigmoid(update + 1.0), jnp.tanh(jax.nn.sigmoid(reset) * candidate)
        else:
            from_input = x @ self.input_weight + self.input_bias
            from_memory = h @ self.recurrent_weight + self.recurrent_bias
            x_update, x_reset, x_candidate = jnp.split(from_input, 3)
            h_update, h_reset, h_candidate = jnp.split(from_memory, 3)
            update, reset = jax.nn.sigmoid(x_update + h_update), jax.nn.sigmoid(x_reset + h_reset)
            candidate = jnp.tanh(x_candidate + reset * h_candidate)
        return update * h + (1 - update) * candidate


class Conv(eqx.Module):
    """Strided convolution without padding over `[height, width, channels]`, as Keras's `valid`."""

    weight: Float[Array, "size size inputs outputs"]
    bias: Float[Array, " outputs"]
    stride: int = eqx.field(static=True)
    transpose: bool = eqx.field(static=True)

    def __init__(
        self, inputs: int, outputs: int, size: int, key: PRNGKeyArray, *, stride: int = 2, transpose: bool = False
    ):
        self.weight = jax.nn.initializers.glorot_uniform()(key, (size, size, inputs, outputs))
        self.bias = jnp.zeros(outputs)
        self.stride, self.transpose = stride, transpose

    def __call__(self, image: Float[Array, "h w inputs"]) -> Float[Array, "h2 w2 outputs"]:
        """The convolved image."""
        convolve = jax.lax.conv_transpose if self.transpose else jax.lax.conv_general_dilated
        y = convolve(
            image[None],
            self.weight,
            (self.stride, self.stride),
            "VALID",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )[0]
        return y + self.bias[None, None]
