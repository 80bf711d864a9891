"""Where the skill comes from: siblings behind one interface, which is what the ablations compare."""

from jaxtyping import PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.base import SkillSelection
from skillplan.skill_selection.cem import CrossEntropyMethod
from skillplan.skill_selection.high_level_policy import HighLevelPolicy
from skillplan.skill_selection.none import NoSkill
from skillplan.skill_selection.prior import PriorSkill

SELECTIONS = {
    "cem": CrossEntropyMethod,
    "prior": PriorSkill,
    "high-level-policy": HighLevelPolicy,
    "none": NoSkill,
}


def make_selection(config: Config, key: PRNGKeyArray) -> SkillSelection:
    """The part that `config.skill.selection` names."""
    return SELECTIONS[config.skill.selection](config, key)


__all__ = ["SELECTIONS", "SkillSelection", "make_selection"]
