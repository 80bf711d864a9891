"""Checkpoints: the complete learner state and the counts, written whole or not at all."""

import errno
import hashlib
import logging
import os
import shutil
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

from skillplan.errors import UserError
from skillplan.learner import LearnerState
from skillplan.training.counters import Counters

KEEP = 2
SPARE_BYTES = 2**20
"""What a checkpoint may take on disk beyond twice its numbers."""


def named_arrays(tree: Any) -> dict[str, Any]:
    """Every array of a state by its dotted name, e.g. `models.world_model.rssm.memory.input_weight`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in leaves}


def state_sha256(state: LearnerState) -> str:
    """Digest of the complete learner state: names, shapes, types and every bit of every array."""
    digest = hashlib.sha256()
    for name, leaf in sorted(named_arrays(state).items()):
        array = np.asarray(leaf)
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Checkpoints:
    """The newest checkpoints of a run, named by their number of episodes."""

    def __init__(self, directory: Path):
        """Open a directory of checkpoints; it is made when the first one is saved."""
        logging.getLogger("absl").setLevel(logging.ERROR)
        self.directory = directory.absolute()

    def _writer(self) -> ocp.CheckpointManager:
        options = ocp.CheckpointManagerOptions(
            max_to_keep=KEEP, enable_async_checkpointing=False, create=True, cleanup_tmp_directories=True
        )
        return ocp.CheckpointManager(self.directory, options=options)

    def _reader(self) -> ocp.CheckpointManager:
        # A run can be read while it is trained: what its trainer is just writing must not be taken for a leftover.
        return ocp.CheckpointManager(self.directory, options=ocp.CheckpointManagerOptions(read_only=True))

    def newest(self) -> int | None:
        """Episodes at the newest whole checkpoint, or None."""
        if not self.directory.is_dir():
            return None
        numbers = [int(path.name) for path in self.directory.iterdir() if path.name.isdigit()]
        return max(numbers, default=None)

    def frames(self) -> int:
        """Frames at the newest checkpoint; 0 where there is none."""
        newest = self.newest()
        if newest is None:
            return 0
        with self._reader() as manager:
            restored = manager.restore(newest, args=ocp.args.Composite(counters=ocp.args.JsonRestore()))
        return int(restored["counters"]["frames"])

    def save(self, state: LearnerState, counters: Counters) -> None:
        """Write a checkpoint under a temporary name, then give it its own; older ones go.

        Raises OSError where there is too little room for it, before anything is touched.
        """
        step = self.directory / str(counters.episodes)
        self.directory.mkdir(parents=True, exist_ok=True)
        needed = 2 * sum(leaf.nbytes for leaf in jax.tree.leaves(state)) + SPARE_BYTES
        if shutil.disk_usage(self.directory).free < needed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(step))
        if step.exists():
            shutil.rmtree(step)
        with self._writer() as manager:
            manager.save(
                counters.episodes,
                args=ocp.args.Composite(
                    state=ocp.args.StandardSave(named_arrays(state)), counters=ocp.args.JsonSave(counters.as_dict())
                ),
                force=True,
            )

    def restore(self, template: LearnerState) -> tuple[LearnerState, Counters]:
        """The newest checkpoint, as arrays that replace those of `template` (which may be shapes alone)."""
        newest = self.newest()
        if newest is None:
            raise UserError(f"{self.directory.parent} holds no checkpoint yet: there is nothing to continue from.")
        wanted = named_arrays(template)
        try:
            with self._reader() as manager:
                restored = manager.restore(
                    newest,
                    args=ocp.args.Composite(
                        state=ocp.args.StandardRestore(jax.tree.map(_blank, wanted)),
                        counters=ocp.args.JsonRestore(),
                    ),
                )
            arrays, counters = restored["state"], Counters(**restored["counters"])
        # Orbax and TensorStore raise many kinds of exceptions when files are lost or altered.
        except Exception as error:
            raise UserError(
                f"Checkpoint {self.directory / str(newest)} is damaged ({_first_line(error)}): "
                "delete that directory to fall back on the one before."
            ) from error
        for name, array in arrays.items():
            if array.shape != wanted[name].shape or array.dtype != wanted[name].dtype:
                raise UserError(
                    f"Checkpoint {self.directory / str(newest)} does not fit the configuration: {name} is "
                    f"{array.dtype}{array.shape}, not {wanted[name].dtype}{wanted[name].shape}."
                )
        leaves, structure = jax.tree_util.tree_flatten(template)
        names = list(wanted)
        return jax.tree_util.tree_unflatten(
            structure, [jnp.asarray(arrays[name]) for name, _ in zip(names, leaves, strict=True)]
        ), counters


def _blank(leaf: Any) -> np.ndarray:
    return np.empty(leaf.shape, leaf.dtype)


def _first_line(error: Exception) -> str:
    text = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {text[:120]}"
