"""`skillplan doctor`: is this installation able to train?"""

import importlib.metadata
import json as json_module
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from skillplan.cli.options import parse
from skillplan.errors import UserError

EXAMPLE = "skillplan doctor --json"
PACKAGES = ("jax", "jaxlib", "equinox", "optax", "orbax-checkpoint", "dm_control", "mujoco", "gymnasium", "numpy")
# Any other pair of these two was found to fail when a task is loaded.
PINS = {"dm_control": "1.0.50", "mujoco": "3.17.0"}


@dataclass(frozen=True)
class Doctor:
    """Check this installation: versions, devices, rendering, and a short self-test of learning and acting."""

    json: bool = False
    """Print one JSON object."""


def command(arguments: Sequence[str]) -> int:
    """Report what was found; exit status 1 where training would not work."""
    options = parse(Doctor, arguments, command="doctor", example=EXAMPLE)
    report = examine()
    if options.json:
        print(json_module.dumps(report))
        return 0 if report["ok"] else 1
    for name, check in report["checks"].items():
        print(f"{'ok' if check['ok'] else '--':<4}{name:<14}{check['found']}")
        if check["remedy"]:
            print(f"{'':<18}→ {check['remedy']}")
    if report["ok"]:
        print("\nReady. Next: skillplan train rover-field")
    else:
        print("\nTraining will not work until the lines with an arrow are mended.")
    return 0 if report["ok"] else 1


def examine() -> dict[str, Any]:
    """Every check by name: whether it is ok, what was found, what to do; rendering is needed for pixels only."""
    checks = {
        "python": _check(sys.version_info >= (3, 11), platform.python_version(), "use 3.11 or newer"),
        "packages": _packages(),
        "devices": _attempt(_devices, "reinstall jax and jaxlib in versions that belong together"),
        "rendering": _rendering(),
        "rover": _attempt(lambda: _steps("rover-field"), "reinstall mujoco"),
        "dm_control": _attempt(lambda: _steps("walker-walk"), f"install {_pins()}"),
        "learning": _attempt(_self_test, "reinstall the pinned requirements"),
    }
    needed = [check["ok"] for name, check in checks.items() if name != "rendering"]
    return {"ok": all(needed), "checks": checks}


def _check(ok: bool, found: str, remedy: str) -> dict[str, Any]:
    return {"ok": ok, "found": found, "remedy": "" if ok else remedy}


def _attempt(action: Callable[[], str], remedy: str) -> dict[str, Any]:
    try:
        return _check(True, action(), "")
    # A diagnosis must survive whatever a broken installation throws; it is shown, not hidden.
    except Exception as error:
        return _check(False, f"{type(error).__name__}: {error}", remedy)


def _pins() -> str:
    return " ".join(f"{name}=={version}" for name, version in PINS.items())


def _packages() -> dict[str, Any]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "missing"
    found = ", ".join(f"{name} {version}" for name, version in versions.items())
    missing = [name for name, version in versions.items() if version == "missing"]
    wrong = [name for name, version in PINS.items() if versions[name] != version]
    remedy = f"install {' '.join(missing)}" if missing else f"install {_pins()}: other versions do not fit together"
    return _check(not missing and not wrong, found, remedy)


def _devices() -> str:
    import jax

    return ", ".join(f"{device.platform}:{device.id} {device.device_kind}" for device in jax.devices())


def _rendering() -> dict[str, Any]:
    from skillplan.envs.gl import working_backend

    try:
        return _check(True, f"{working_backend()} renders images", "")
    except UserError as error:
        return _check(False, "none found; tasks with features do not need any", str(error))


def _steps(task: str) -> str:
    import numpy as np

    from skillplan.envs import make

    world = make(task)
    world.reset(0)
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < 0.2:
        count += 1
        if world.step(np.zeros(world.spec.action_size, np.float32)).is_last:
            world.reset(count)
    world.close()
    return f"{task}: {count / 0.2:,.0f} agent steps per second"


def _self_test() -> str:
    import jax
    import jax.numpy as jnp

    size = 512
    product = jax.jit(lambda x: jax.grad(lambda y: jnp.sum(jnp.tanh(y @ y)))(x))
    x = jnp.ones((size, size)) / size
    product(x).block_until_ready()
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < 1.0:
        product(x).block_until_ready()
        count += 1
    rate = count * 3 * 2 * size**3 / (time.perf_counter() - began) / 1e9
    return f"compiles and differentiates; {rate:,.0f} GFLOP/s in float32 matrix products"
