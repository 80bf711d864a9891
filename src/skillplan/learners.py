"""Which way of learning a configuration names."""

from skillplan.config import Config
from skillplan.hiro.learner import HiroLearner
from skillplan.latent_learner import LatentLearner
from skillplan.learner import Learner

LEARNERS: dict[str, type[Learner]] = {"latent": LatentLearner, "hiro": HiroLearner}


def learner_of(config: Config) -> Learner:
    """The learner that `config.learner` names."""
    return LEARNERS[config.learner](config)
