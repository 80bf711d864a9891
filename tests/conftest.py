"""What every test runs under: strict JAX, checked shapes, no display, one compilation cache."""

import os
from pathlib import Path

# Read when JAX, MuJoCo and matplotlib are imported, and inherited by the programs that tests start.
_CACHE = Path(__file__).parents[1] / ".pytest_cache" / "jax"
os.environ.setdefault("MUJOCO_GL", "disable")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")

import jax  # noqa: E402
import pytest  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_debug_key_reuse", True)

# Shapes and types in signatures are checked at run time; only modules imported after this line are.
install_import_hook("skillplan", "beartype.beartype")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never interrupted: four episodes of `training.conftest.debug_config`."""
    from skillplan.training.loop import train
    from training.conftest import debug_config

    path = tmp_path_factory.mktemp("runs") / "whole"
    train(debug_config(), path)
    return path
