"""What the tests of training share."""

from skillplan.config import Config
from skillplan.presets import make_config

FRAMES = 1200


def debug_config(**overrides: object) -> Config:
    """Four rover episodes with checkpoints after the second and the fourth."""
    training = {"checkpoint_every": 600, **overrides.pop("training", {})}  # pyright: ignore[reportGeneralTypeIssues]
    return make_config("rover-field", "lsp", "debug", {"frames": FRAMES, "training": training, **overrides})
