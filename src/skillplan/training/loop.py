"""The outer loop of Algorithm 1: play, learn, look, save, until the frames are used up."""

import shutil
import time
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from skillplan.config import Config
from skillplan.envs.interface import Environment
from skillplan.errors import UserError
from skillplan.learner import LearnerState
from skillplan.learners import learner_of
from skillplan.replay.episode import Episode, save
from skillplan.replay.memory import check_settings, format_bytes, memory_estimate, steps_for
from skillplan.replay.restore import first_episodes, refill, truncate
from skillplan.replay.store import ReplayStore
from skillplan.training.allocator import keep_freed_memory
from skillplan.training.checkpoint import Checkpoints
from skillplan.training.counters import Counters
from skillplan.training.evaluate import Evaluator, make_environments, summarize
from skillplan.training.metrics_log import MetricsLog, cut_back, read_metrics
from skillplan.training.progress import Display
from skillplan.training.rollout import AgentPlayer, Player, RandomPlayer, rollout
from skillplan.training.run_directory import RunDirectory
from skillplan.training.seeding import Stream, environment_seed, generator, key


class NonFiniteError(RuntimeError):
    """Learning produced a number that is not finite; the last checkpoint is from before."""


class Trainer:
    """One run: everything that Algorithm 1 keeps between its steps."""

    def __init__(self, config: Config, directory: RunDirectory, *, resume: bool):
        """Start a run in `directory`, or take it up where its newest checkpoint left it."""
        self.config, self.directory = config, directory
        self.environments: list[Environment] = make_environments(config)
        self.spec = spec = self.environments[0].spec
        self.learner = learner_of(config)
        self.learner.check(spec)
        stored, training = self.learner.stored_spec(spec), config.training
        check_settings(stored, config.replay.max_frames, training.seed_episodes, self.learner.sequence_length)
        self.checkpoints = Checkpoints(directory.checkpoints)
        if resume:
            directory.extend(config, spec)
            if self.checkpoints.newest() is None:
                directory.refuse_lost_beginning()
                _refuse_lost_checkpoints(directory, config)
                resume = False  # killed before its first checkpoint: from the start, which repeats what was lost
        else:
            directory.create(config, spec)
        scratch = directory.path / "replay" if config.replay.memory_map else None
        self.store = ReplayStore(stored, steps_for(spec, config.replay.max_frames), scratch)
        initial = jax.jit(lambda k: self.learner.initial(spec, k))
        seed_key = key(config.seed, Stream.INITIAL_PARAMETERS)
        self.counters = Counters()
        if resume:
            self.state, self.counters = self.checkpoints.restore(jax.eval_shape(initial, seed_key))
        else:
            self.state: LearnerState = initial(seed_key)
        own = truncate(directory.episodes, self.counters.episodes)
        refill(self.store, [*_carried_episodes(directory), *own], self.learner.to_store)
        cut_back(directory.metrics_file, self.counters.episodes)
        self.log = MetricsLog(directory.metrics_file, directory.tensorboard)
        self.evaluator = Evaluator(config)
        self._act, self._updates = self.learner.make_act(), self.learner.make_updates()
        self._began = time.monotonic() - self.counters.seconds
        self._saved = self.counters.frames

    def run(self, display: Display) -> None:
        """Go on until `config.frames` frames have been played."""
        stored = self.learner.stored_spec(self.spec)
        estimate = format_bytes(memory_estimate(stored, self.config.replay.max_frames))
        display.say(f"Replay takes up to {estimate}; the run is kept in {self.directory.path}.")
        if self.counters.frames >= self.config.frames:
            display.say(f"It has played {self.counters.frames:,} frames already: more --frames would go on from there.")
            return
        metrics: dict[str, float] = {}
        while self.counters.frames < self.config.frames:
            before = self.counters
            metrics = self._play_or_save()
            metrics |= self._learn()
            metrics |= self._rates(before)
            self.log.write(self.counters, metrics)
            display.update(self.counters, metrics)
            finished = self.counters.frames >= self.config.frames
            if finished or _crossed(self.config.evaluation.every, before.frames, self.counters.frames):
                self._evaluate(display)
            if finished or self.counters.frames - self._saved >= self.config.training.checkpoint_every:
                self._save()
        display.update(self.counters, metrics, force=True)

    def close(self) -> None:
        """Close worlds and logs."""
        for environment in self.environments:
            environment.close()
        self.evaluator.close()
        self.log.close()

    def _play_or_save(self) -> dict[str, float]:
        """Play; a world that fails ends the run, which can be taken up again where it was before these episodes."""
        try:
            return self._play()
        except Exception:
            if self.counters.frames > self._saved:
                self._save()
            raise

    def _play(self) -> dict[str, float]:
        """One episode of experience in each world: at random at first, then by the agent with all its noise."""
        config, first = self.config, self.counters.episodes
        seed_episodes = config.training.seed_episodes
        is_random = first < seed_episodes and config.training.seed_policy == "random"
        numbers = range(first, min(first + config.envs, seed_episodes) if is_random else first + config.envs)
        player: Player
        if is_random:
            draws = [generator(config.seed, Stream.SEED_EPISODES, number) for number in numbers]
            player = RandomPlayer(self.spec.action_size, draws)
        else:
            keys = jnp.stack([key(config.seed, Stream.COLLECT, number) for number in numbers])
            player = AgentPlayer(self._act, self.state.models, keys, explore=True, rows=config.envs)
        seeds = [environment_seed(config.seed, Stream.ENVIRONMENT_TRAIN, number) for number in numbers]
        episodes = rollout(self.environments[: len(numbers)], seeds, player)
        for episode in episodes:
            self._remember(episode)
        summary = summarize(episodes, "train")
        return {name: summary[name] for name in ("train/return", "train/length")}

    def _remember(self, episode: Episode) -> None:
        save(episode, self.directory.episodes, self.counters.episodes)
        self.store.add(self.learner.to_store(episode))
        self.counters = replace(
            self.counters,
            frames=self.counters.frames + episode.frames,
            agent_steps=self.counters.agent_steps + episode.length - 1,
            episodes=self.counters.episodes + 1,
        )

    def _updates_due(self) -> int:
        """Pretraining after the last seed episode; from then on ⌊frames · updates per frame⌋ less those done."""
        training, episodes = self.config.training, self.counters.episodes
        if episodes <= training.seed_episodes:
            return training.pretrain_updates if episodes == training.seed_episodes else 0
        # The small addend keeps 0.1 · 30 from being 2 updates.
        return max(0, int(self.counters.frames * training.updates_per_frame + 1e-6) - self.counters.updates)

    def _learn(self) -> dict[str, float]:
        """All updates that are due, in compiled calls of up to `updates_per_call`; mean metrics over them."""
        training, due = self.config.training, self._updates_due()
        root = key(self.config.seed, Stream.UPDATE)
        sums: dict[str, float] = {}
        calls = []
        for begin in range(0, due, training.updates_per_call):
            count = min(training.updates_per_call, due - begin)
            first = self.counters.updates + begin
            # A call always gets the same shape; what is beyond `count` is not read.
            draws = [generator(self.config.seed, Stream.REPLAY, first + i) for i in range(training.updates_per_call)]
            batches = self.store.sample_many(
                draws, training.batch_size, self.learner.sequence_length, self.learner.sequence_stride
            )
            self.state, metrics = self._updates(self.state, batches, jnp.asarray(count, jnp.int32), root)
            calls.append((count, metrics))
        for count, metrics in calls:
            for name, value in metrics.items():
                sums[name] = sums.get(name, 0.0) + float(value) * count / due
        broken = [name for name, value in sums.items() if not np.isfinite(value)]
        if broken:
            # Ends the run rather than learning on from numbers that mean nothing.
            raise NonFiniteError(
                f"{', '.join(broken)} stopped being finite between update {self.counters.updates} and "
                f"{self.counters.updates + due}. The newest checkpoint of {self.directory.path} is from before; "
                "lower the learning rates to go on from there in a new run."
            )
        self.counters = replace(self.counters, updates=self.counters.updates + due)
        return sums

    def _evaluate(self, display: Display) -> None:
        """Noise-free returns and the skills' distances, on a line of their own."""
        began, models = time.monotonic(), self.state.models
        metrics = summarize(self.evaluator.episodes(models, self.config.evaluation.episodes))
        spread = self.evaluator.displacement(models)
        if spread is not None:
            metrics |= {"skill/displacement_across": spread.across, "skill/displacement_within": spread.within}
        training = self.config.training
        if self.store.steps >= self.learner.sequence_length:
            draw = generator(self.config.seed, Stream.EVALUATE, self.counters.episodes)
            probe = self.store.sample(draw, training.batch_size, self.learner.sequence_length)
            log_q = self.evaluator.log_q_prior(models, probe)
            if log_q is not None:
                metrics["skill/log_q_prior"] = log_q
        self._tick()
        self.log.write(self.counters, metrics | {"rate/evaluation_seconds": time.monotonic() - began})
        shown = [f"evaluation at {self.counters.frames:,} frames: return {metrics['evaluation/return']:.1f}"]
        if spread is not None:
            shown.append(f"skills end {spread.across:.2f} m apart (within one {spread.within:.2f} m)")
        display.say(" · ".join(shown))

    def _save(self) -> None:
        self._tick()
        self.checkpoints.save(self.state, self.counters)
        self._saved = self.counters.frames

    def _tick(self) -> None:
        self.counters = replace(self.counters, seconds=round(time.monotonic() - self._began, 3))

    def _rates(self, before: Counters) -> dict[str, float]:
        self._tick()
        seconds = max(self.counters.seconds - before.seconds, 1e-3)
        return {
            "rate/updates_per_second": (self.counters.updates - before.updates) / seconds,
            "rate/frames_per_second": (self.counters.frames - before.frames) / seconds,
        }


def train(config: Config, run: Path, *, resume: bool = False) -> RunDirectory:
    """Train as `config` says and keep everything in the directory `run`; with `resume` go on with what is there."""
    keep_freed_memory()
    directory = RunDirectory(run)
    trainer = Trainer(config, directory, resume=resume)
    unplayable = False
    try:
        with Display(config.frames, trainer.counters.frames) as display:
            trainer.run(display)
    except UserError:
        unplayable = not resume and trainer.counters.episodes == 0
        raise
    finally:
        trainer.close()
        if unplayable:
            shutil.rmtree(directory.path)  # made just now, and nothing is in it yet
    return directory


def _refuse_lost_checkpoints(directory: RunDirectory, config: Config) -> None:
    """Raise UserError where a run without a checkpoint had played on after its first one was due.

    Beginning it anew would delete its episodes.
    """
    due = max(config.training.checkpoint_every, directory.read()[0].training.checkpoint_every)
    played = {line.get("frames", 0) for line in read_metrics(directory.metrics_file)}
    if sum(frames >= due for frames in played) > 1:
        raise UserError(
            f"{directory.path} has lost its checkpoints, though {max(played):,} frames were played: restore them from "
            "a copy, or start a new run."
        )


def _carried_episodes(directory: RunDirectory) -> list[Path]:
    """Files of the episodes that a transfer brought along, relabelled."""
    source = directory.source()
    if source is None or not source["options"]["relabel"]:
        return []
    return first_episodes(directory.source_episodes, source["episodes"])


def _crossed(every: int, before: int, after: int) -> bool:
    return before // every < after // every
