"""Behaviour learning in imagination: the low-level policy, the value model and their losses (paper section 3)."""
