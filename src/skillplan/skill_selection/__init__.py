"""Where the skill comes from: siblings behind one interface, which is what the ablations compare."""

from jaxtyping import PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.actions import PlannedActions
from skillplan.skill_selection.amortized_train import AmortizedTrain
from skillplan.skill_selection.base import SkillSelection
from skillplan.skill_selection.cem import CrossEntropyMethod
from skillplan.skill_selection.cem_gradient import GradientCEM
from skillplan.skill_selection.high_level_policy import HighLevelPolicy
from skillplan.skill_selection.mppi import PathIntegral
from skillplan.skill_selection.none import NoSkill
from skillplan.skill_selection.prior import PriorSkill

SELECTIONS = {
    "cem": CrossEntropyMethod,
    "cem-gradient": GradientCEM,
    "mppi": PathIntegral,
    "prior": PriorSkill,
    "high-level-policy": HighLevelPolicy,
    "amortized-train": AmortizedTrain,
    "actions": PlannedActions,
    "none": NoSkill,
}


def make_selection(config: Config, action_size: int, key: PRNGKeyArray) -> SkillSelection:
    """The part that `config.skill.selection` names."""
    return SELECTIONS[config.skill.selection](config, action_size, key)


__all__ = ["SELECTIONS", "SkillSelection", "make_selection"]
