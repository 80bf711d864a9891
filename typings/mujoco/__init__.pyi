# mujoco's names come from a compiled module without stubs: let pyright accept all of them.
from typing import Any

def __getattr__(name: str) -> Any: ...
