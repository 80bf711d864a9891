"""Skill discovery by mutual information: two estimates of it behind one signature (paper section 3.2, appendix)."""

from skillplan.skill_discovery.backward import backward_information
from skillplan.skill_discovery.forward import forward_information

DISCOVERIES = {"backward": backward_information, "forward": forward_information}
METRICS = {"backward": "skill/log_q", "forward": "skill/information"}
"""Under which name the mean estimate is logged."""

__all__ = ["DISCOVERIES", "METRICS"]
