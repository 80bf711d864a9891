"""The replay store: a ring of steps from which training sequences are drawn."""

import shutil
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.replay.episode import Episode
from skillplan.replay.memory import format_bytes, step_layout, step_nbytes
from skillplan.types import Batch


class ReplayStore:
    """The newest whole episodes whose steps fit into `capacity`, drawn from as windows.

    Steps are numbered from the run's first; number n lies at place n % capacity, so the stored steps form one
    stream from the oldest episode's reset to the newest episode's end. What is drawn depends on that stream and
    on the generator, not on where the ring has wrapped: a resumed run, which refills an empty ring, draws the same.
    """

    def __init__(self, spec: EnvSpec, capacity: int, directory: Path | None = None) -> None:
        """Reserve room for `capacity` steps, in memory or else in files of `directory`, which are scratch.

        Memory is taken up only as it is filled.
        """
        if capacity < 1:
            raise UserError(f"Replay cannot hold {capacity} steps; raise `--replay.max-frames`.")
        self.capacity = capacity
        self._arrays = _reserve(spec, capacity, directory)
        self._lengths: deque[int] = deque()
        self._end = 0
        self._steps = 0
        self._windows: dict[tuple[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    @property
    def steps(self) -> int:
        """Steps stored, resets included."""
        return self._steps

    @property
    def episodes(self) -> int:
        """Episodes stored."""
        return len(self._lengths)

    @property
    def nbytes(self) -> int:
        """Bytes reserved; as many are taken up once the ring has filled."""
        return sum(array.nbytes for array in self._arrays)

    def add(self, episode: Episode) -> None:
        """Append an episode; as many of the oldest as are in its way leave, whole."""
        if episode.length > self.capacity:
            raise UserError(
                f"An episode of {episode.length} steps does not fit into a replay of {self.capacity}; "
                "raise `--replay.max-frames`."
            )
        values = [getattr(episode, name) for name in Batch._fields]
        for name, array, value in zip(Batch._fields, self._arrays, values, strict=True):
            # NumPy would broadcast or cast what does not fit, and the agent would learn from it.
            if array.shape[1:] != value.shape[1:] or array.dtype != value.dtype:
                raise ValueError(
                    f"Episode array {name!r} is {value.dtype} {value.shape[1:]} per step; "
                    f"the environment's is {array.dtype} {array.shape[1:]}."
                )
        while self._steps + episode.length > self.capacity:
            self._steps -= self._lengths.popleft()
        places = np.arange(self._end, self._end + episode.length) % self.capacity
        for array, value in zip(self._arrays, values, strict=True):
            array[places] = value
        self._lengths.append(episode.length)
        self._end += episode.length
        self._steps += episode.length
        self._windows.clear()

    def sample(self, rng: np.random.Generator, batch: int, length: int, stride: int = 1) -> Batch:
        """Draw windows, each start equally likely; arrays `[batch, length, …]`.

        A window lies inside one episode. Only where an episode is shorter than `length` does the window begin at
        its reset and run on into the episodes after it, whose `is_first` then resets the latent.

        With a `stride` above 1 windows begin at its multiples, counted from an episode's reset, wherever an action
        follows: the last window of an episode may then run on into the next one too.
        """
        return self._gather(self._draw(rng, batch, length, stride), length)

    def sample_many(self, rngs: Sequence[np.random.Generator], batch: int, length: int, stride: int = 1) -> Batch:
        """Draw as `sample` does with each generator in turn; arrays `[len(rngs), batch, length, …]`."""
        if not rngs:
            raise ValueError("sample_many needs at least one generator.")
        return self._gather(np.stack([self._draw(rng, batch, length, stride) for rng in rngs]), length)

    def _draw(self, rng: np.random.Generator, batch: int, length: int, stride: int) -> np.ndarray:
        """Numbers of the steps at which windows start, `[batch]`."""
        if batch < 1 or length < 1 or stride < 1:
            raise ValueError(
                f"Cannot draw {batch} windows of {length} steps at every {stride}: all must be at least 1."
            )
        if self._steps < length:
            raise UserError(
                f"Replay holds {self._steps} steps in {self.episodes} episodes, but a training sequence needs "
                f"{length}: collect more episodes first, or train on shorter sequences."
            )
        if (length, stride) not in self._windows:
            self._windows[length, stride] = self._count_windows(length, stride)
        begins, counts, resets = self._windows[length, stride]
        window = rng.integers(begins[-1] + counts[-1], size=batch)
        episode = np.searchsorted(begins + counts, window, side="right")
        return resets[episode] + stride * (window - begins[episode])

    def _count_windows(self, length: int, stride: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Number all windows of the stream in order; all results have shape `[episodes]`.

        For each episode: the number of its first window, how many windows it has, and the number of its reset's step.
        """
        lengths = np.array(self._lengths)
        # Steps from an episode's reset to the end of the stream: a window must not run over it.
        following = np.cumsum(lengths[::-1])[::-1]
        if stride == 1:
            counts = np.where(lengths >= length, lengths - length + 1, following >= length)
        else:
            starts, fitting = -(-(lengths - 1) // stride), (following - length) // stride + 1
            counts = np.clip(starts, 0, np.maximum(fitting, 0))
        return np.cumsum(counts) - counts, counts, self._end - following

    def _gather(self, starts: np.ndarray, length: int) -> Batch:
        """The windows from `starts` `[…]`, arrays `[…, length, …]`."""
        places = (starts[..., None] + np.arange(length)) % self.capacity
        outputs = [np.empty(places.shape + array.shape[1:], array.dtype) for array in self._arrays]
        for array, output in zip(self._arrays, outputs, strict=True):
            # Every place is valid; with the default mode NumPy would first gather into a buffer and then copy.
            np.take(array, places, axis=0, out=output, mode="clip")
        # Made, not called: the fields are declared as the JAX arrays that a jitted function turns these into.
        return Batch._make(outputs)


def _reserve(spec: EnvSpec, capacity: int, directory: Path | None) -> list[np.ndarray]:
    """Arrays `[capacity, …]` in the order of `Batch`, without touching their memory."""
    layout = step_layout(spec)
    if directory is None:
        return [np.empty((capacity, *shape), dtype) for shape, dtype in (layout[name] for name in Batch._fields)]
    directory.mkdir(parents=True, exist_ok=True)
    paths = {name: directory / f"{name}.npy" for name in Batch._fields}
    for path in paths.values():
        path.unlink(missing_ok=True)
    needed = capacity * step_nbytes(spec)
    free = shutil.disk_usage(directory).free
    # A mapped file on a full disk ends the process without a word, hours later.
    if needed > free:
        raise UserError(
            f"Replay needs {format_bytes(needed)} in {directory}, where {format_bytes(free)} are free; "
            "lower `--replay.max-frames` or choose another directory."
        )
    return [
        np.lib.format.open_memmap(paths[name], "w+", dtype=dtype, shape=(capacity, *shape))
        for name, (shape, dtype) in ((name, layout[name]) for name in Batch._fields)
    ]
