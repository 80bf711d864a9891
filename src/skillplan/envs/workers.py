"""Environments in processes of their own, for worlds so slow that several should step at the same time."""

import functools
import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from skillplan.envs.interface import Environment, EnvSpec, Step
from skillplan.errors import UserError

_PATIENCE = 5.0  # s, given to a process to end by itself


class WorkerError(RuntimeError):
    """An environment in a process of its own failed; the message holds that process's own traceback."""


class WorkerEnvironment:
    """An `Environment` that lives in another process; `begin` asks it for something without waiting for the answer."""

    spec: EnvSpec

    def __init__(self, make: Callable[[], Environment]) -> None:
        """Start a process and make the environment there; `make` must be importable by name (no lambda).

        The process is spawned, not forked: a copy of a process in which JAX's threads run may hang.
        """
        context = multiprocessing.get_context("spawn")
        self._pipe, far_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(make, far_end), daemon=True)
        self._process.start()
        far_end.close()  # this process's copy, which would hide the worker's end from us
        self.spec = self._answer()

    def begin(self, method: str, *arguments: Any, **options: Any) -> Callable[[], Any]:
        """Ask for a call; the function that is returned waits for its result."""
        try:
            self._pipe.send((method, arguments, options))
        except OSError as error:
            raise self._death() from error
        return self._answer

    def reset(self, seed: int, *, open_start: bool = False) -> Step:
        """As `Environment.reset`."""
        return self.begin("reset", seed, open_start=open_start)()

    def step(self, action: np.ndarray) -> Step:
        """As `Environment.step`."""
        return self.begin("step", action)()

    def render(self) -> np.ndarray:
        """As `Environment.render`."""
        return self.begin("render")()

    def close(self) -> None:
        """End the process."""
        if self._process.is_alive():
            try:
                self._pipe.send(None)
            except OSError:
                pass  # it is ending already
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._pipe.close()

    def _answer(self) -> Any:
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._death() from error
        if isinstance(answer, UserError):
            raise answer
        if isinstance(answer, _Failure):
            raise WorkerError(f"An environment failed in its process:\n{answer.traceback}")
        return answer

    def _death(self) -> WorkerError:
        self._process.join(_PATIENCE)
        return WorkerError(
            f"The process of an environment died without a word (exit code {self._process.exitcode}): it was killed, "
            "or its simulator crashed."
        )


def begin(env: Environment, method: str, *arguments: Any, **options: Any) -> Callable[[], Any]:
    """Call a method of an environment: at once in another process, or else when the function returned is called."""
    if isinstance(env, WorkerEnvironment):
        return env.begin(method, *arguments, **options)
    return functools.partial(getattr(env, method), *arguments, **options)


class _Failure:
    """What went wrong in a worker, as text: exceptions themselves may not survive the journey."""

    def __init__(self, text: str) -> None:
        self.traceback = text


def _serve(make: Callable[[], Environment], pipe: Connection) -> None:
    """The worker's side: describe the environment, then do what is asked until told to end."""
    env = None
    try:
        env = make()
        pipe.send(env.spec)
        while (request := pipe.recv()) is not None:
            method, arguments, options = request
            pipe.send(getattr(env, method)(*arguments, **options))
    except (EOFError, KeyboardInterrupt):
        pass  # the program that asked has gone, or both were told to stop
    except UserError as error:
        pipe.send(error)
    # Whatever a user's environment throws is told where it can be seen.
    except Exception:
        pipe.send(_Failure(traceback.format_exc()))
    finally:
        if env is not None:
            env.close()
