"""Runs that several tests look at."""

from pathlib import Path

import pytest

from skillplan.config import Config
from skillplan.presets import make_config
from skillplan.training.loop import train

FRAMES = 1200


def debug_config(**overrides: object) -> Config:
    """Four rover episodes with checkpoints after the second and the fourth."""
    training = {"checkpoint_every": 600, **overrides.pop("training", {})}  # pyright: ignore[reportGeneralTypeIssues]
    return make_config("rover-field", "lsp", "debug", {"frames": FRAMES, "training": training, **overrides})


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never interrupted."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    train(debug_config(), path)
    return path
