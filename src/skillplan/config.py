"""Every setting of a run: frozen, checked where it is made, never written to afterwards."""

import math
from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

import tyro

from skillplan.errors import UserError

Activation = Literal["elu", "silu", "relu"]
Selection = Literal["cem", "cem-gradient", "mppi", "prior", "high-level-policy", "amortized-train", "none", "actions"]
LearnerName = Literal["latent", "hiro"]
WITHOUT_SKILLS = ("none", "actions")
SEARCHING = ("cem", "cem-gradient", "mppi", "amortized-train", "actions")
"""Selections that try populations of plans before acting."""
"""Selections after which nothing is told the policy."""
Part = Literal["world_model", "policy", "value", "predictor", "selection"]


def _positive(section: str, **values: int | float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            option = f"--{section + '.' if section else ''}{name}".replace("_", "-")
            raise UserError(f"{option} is {value}: give a number above zero.")


def _not_negative(section: str, **values: int | float) -> None:
    for name, value in values.items():
        if not 0 <= value < math.inf:
            option = f"--{section}.{name}".replace("_", "-")
            raise UserError(f"{option} is {value}: give zero or more.")


@dataclass(frozen=True)
class EnvironmentConfig:
    """The world as the agent meets it."""

    action_repeat: int = 2
    """Frames for which an action is held."""
    pixels: bool = False
    """Observe 64x64 images instead of features."""
    shadows: bool = False
    """Draw with shadows, reflections and smooth edges, as dm_control does; over ten times as slow without a GPU."""
    episode_length: int | None = None
    """Time limit in frames; needed only by Gymnasium environments that have none."""
    workers: bool = False
    """Run each environment of `envs` in a process of its own; pays where an environment is slow."""

    def __post_init__(self) -> None:
        _positive("environment", action_repeat=self.action_repeat)
        if self.episode_length is not None:
            _positive("environment", episode_length=self.episode_length)


@dataclass(frozen=True)
class NetworkConfig:
    """What all networks have in common."""

    activation: Activation = "elu"
    """Nonlinearity between layers."""
    layer_norm: bool = False
    """Normalise before each nonlinearity, and inside the recurrent cell."""
    output_scale: float = 1.0
    """Factor on the initial weights of the reward and value outputs."""

    def __post_init__(self) -> None:
        _positive("network", output_scale=self.output_scale)


@dataclass(frozen=True)
class WorldModelConfig:
    """The latent dynamics model (paper section 2.1, Dreamer's RSSM)."""

    deter: int = 200
    """Size of the deterministic part of s_t."""
    stoch: int = 30
    """Size of the stochastic part of s_t."""
    hidden: int = 200
    """Width of the dense layers around the recurrent cell."""
    feature_units: int = 256
    """Width of the encoder and decoder for features."""
    feature_layers: int = 2
    """Hidden layers of the encoder and decoder for features."""
    pixel_depth: int = 32
    """Channels of the first layer of the image encoder; the others are multiples."""
    head_units: int = 400
    """Width of the reward and continuation heads."""
    continuation: bool = False
    """Learn whether an episode goes on; for worlds that terminate."""
    kl_scale: float = 1.0
    """The paper's beta."""
    free_nats: float = 3.0
    """The KL is not pushed below this."""
    kl_balance: float | None = None
    """Share of the KL that trains the prior; none: both sides alike, as in the ELBO."""
    symlog: bool = False
    """Squash observations with sign(x) ln(1 + |x|)."""
    learning_rate: float = 6e-4
    """Adam's step size for the paper's theta."""

    def __post_init__(self) -> None:
        _positive(
            "world-model",
            deter=self.deter,
            stoch=self.stoch,
            hidden=self.hidden,
            feature_units=self.feature_units,
            feature_layers=self.feature_layers,
            pixel_depth=self.pixel_depth,
            head_units=self.head_units,
            learning_rate=self.learning_rate,
        )
        _not_negative("world-model", kl_scale=self.kl_scale, free_nats=self.free_nats)
        if self.kl_balance is not None and not 0 <= self.kl_balance <= 1:
            raise UserError(f"--world-model.kl-balance is {self.kl_balance}: give a share between 0 and 1.")


@dataclass(frozen=True)
class PolicyConfig:
    """The low-level policy q(a | s, z)."""

    units: int = 400
    """Width."""
    layers: int = 4
    """Hidden layers."""
    initial_std: float = 5.0
    """Standard deviation before the tanh, at the start of training."""
    entropy_scale: float = 0.0
    """Weight of an entropy bonus; the paper has none."""
    exploration_noise: float = 0.3
    """Standard deviation of the noise on collected actions."""
    learning_rate: float = 8e-5
    """Adam's step size for the paper's phi."""

    def __post_init__(self) -> None:
        _positive(
            "policy",
            units=self.units,
            layers=self.layers,
            initial_std=self.initial_std,
            learning_rate=self.learning_rate,
        )
        _not_negative("policy", entropy_scale=self.entropy_scale, exploration_noise=self.exploration_noise)


@dataclass(frozen=True)
class ValueConfig:
    """The value model v(s)."""

    units: int = 400
    """Width."""
    layers: int = 3
    """Hidden layers."""
    learning_rate: float = 8e-5
    """Adam's step size for the paper's psi."""

    def __post_init__(self) -> None:
        _positive("value", units=self.units, layers=self.layers, learning_rate=self.learning_rate)


@dataclass(frozen=True)
class BehaviorConfig:
    """Behaviour learning in imagination (the paper's Algorithm 1, second part)."""

    imagination_length: int = 10
    """Imagined steps from each start state."""
    discount: float = 0.99
    """Gamma."""
    return_lambda: float = 0.95
    """Lambda of the returns."""
    normalize_returns: bool = False
    """Divide returns by their 5-95 percentile range in the policy's loss; the paper does not."""
    start_sequences: int | None = None
    """Sequences of the batch whose states start imagination; none: all of them."""

    def __post_init__(self) -> None:
        _positive("behavior", imagination_length=self.imagination_length)
        if self.imagination_length < 2:
            raise UserError("--behavior.imagination-length is 1: returns need at least 2 imagined states.")
        if self.start_sequences is not None:
            _positive("behavior", start_sequences=self.start_sequences)
        for name, value in (("discount", self.discount), ("return-lambda", self.return_lambda)):
            if not 0 <= value <= 1:
                raise UserError(f"--behavior.{name} is {value}: give a number between 0 and 1.")


@dataclass(frozen=True)
class SkillConfig:
    """The skill z and where it comes from."""

    selection: Selection = "cem"
    """Planned, drawn from the prior, chosen by a high-level policy, or absent, with or without a policy instead."""
    size: int = 3
    """Numbers in a skill."""
    duration: int = 10
    """The paper's K: agent steps for which acting and planning hold a skill."""
    segment_length: int | None = None
    """Steps for which imagination holds a skill while training; none: the same as `duration`."""
    prior_fraction: float = 0.0
    """Share of the start states that train with a skill from N(0, I) instead of the selected one."""
    explore_fraction: float = 0.0
    """Share of the skills held while collecting that are drawn from N(0, I) instead of selected."""

    def __post_init__(self) -> None:
        _positive("skill", duration=self.duration)
        if self.selection in WITHOUT_SKILLS:
            if self.size != 0:
                raise UserError(
                    f"--skill.size is {self.size} but --skill.selection is {self.selection!r}: give size 0."
                )
            if self.explore_fraction > 0:
                raise UserError(
                    f"--skill.explore-fraction is {self.explore_fraction} but --skill.selection is "
                    f"{self.selection!r}: there are no skills to draw, give 0."
                )
            if self.selection == "actions" and self.duration != 1:
                raise UserError(
                    f"--skill.duration is {self.duration} but --skill.selection is 'actions': an action is held for 1."
                )
        else:
            _positive("skill", size=self.size)
        if self.segment_length is not None:
            _positive("skill", segment_length=self.segment_length)
        for name, share in (("prior", self.prior_fraction), ("explore", self.explore_fraction)):
            if not 0 <= share <= 1:
                raise UserError(f"--skill.{name}-fraction is {share}: give a share between 0 and 1.")

    @property
    def training_segment(self) -> int:
        """Steps for which one skill is held in the imagination that trains the policy."""
        return self.segment_length or self.duration


@dataclass(frozen=True)
class PlannerConfig:
    """Skill selection by the cross-entropy method (the paper's Algorithm 2)."""

    horizon: int = 10
    """The paper's H: imagined steps by which a plan is judged."""
    training_horizon: int | None = None
    """H while training, where it is not that of acting; none: the same as `horizon`."""
    population: int = 16
    """The paper's G: plans tried per iteration."""
    elites: int = 4
    """The paper's M: best plans to which the distribution is fitted."""
    iterations: int = 4
    """The paper's MaxCEMiter."""
    training_population: int | None = None
    """G while training, where it is not that of acting; none: the same as `population`."""
    training_elites: int | None = None
    """M while training; none: the same as `elites`."""
    training_iterations: int | None = None
    """MaxCEMiter while training; none: the same as `iterations`."""
    skill_noise: float = 0.1
    """Standard deviation of the paper's epsilon, added to the mean of the planned distribution."""
    plan_lambda: float = 0.95
    """Lambda of a plan's score."""
    objective: Literal["task", "total"] = "task"
    """Whether a plan's score counts the intrinsic reward too."""
    starts: Literal["all", "segment"] = "all"
    """While training, plan from every state of a sequence, or from every K-th one, whose neighbours share the plan."""
    common_noise: bool = False
    """Judge all plans of one start under the same random draws."""
    temperature: float = 0.5
    """Of the softmax of `mppi`, in standard deviations of a population's scores."""
    gradient_steps: int = 3
    """Steps by which `cem-gradient` refines each elite."""
    gradient_step_size: float = 0.1
    """Length of such a step in the space of plans."""

    def __post_init__(self) -> None:
        _positive(
            "planner",
            horizon=self.horizon,
            population=self.population,
            elites=self.elites,
            iterations=self.iterations,
            temperature=self.temperature,
            gradient_steps=self.gradient_steps,
            gradient_step_size=self.gradient_step_size,
        )
        _not_negative("planner", skill_noise=self.skill_noise)
        for name, horizon in (("horizon", self.horizon), ("training-horizon", self.training_horizon)):
            if horizon is not None and horizon < 2:
                raise UserError(f"--planner.{name} is {horizon}: a score needs at least 2 imagined states.")
        given = {
            name: getattr(self, name) for name in ("training_population", "training_elites", "training_iterations")
        }
        _positive("planner", **{name: number for name, number in given.items() if number is not None})
        for elites, population in (("elites", "population"), ("training_elites", "training_population")):
            kept = getattr(self, elites) or self.elites
            tried = getattr(self, population) or self.population
            if kept > tried:
                raise UserError(
                    f"--planner.{elites.replace('_', '-')} is {kept}, more than --planner."
                    f"{population.replace('_', '-')} {tried}: keep fewer plans or try more."
                )
        if not 0 <= self.plan_lambda <= 1:
            raise UserError(f"--planner.plan-lambda is {self.plan_lambda}: give a number between 0 and 1.")


@dataclass(frozen=True)
class DiscoveryConfig:
    """The skill predictor q_chi(z | {s}, s_0) and its reward."""

    intrinsic: Annotated[Literal["backward", "forward"], tyro.conf.arg(aliases=["--intrinsic"])] = "backward"
    """The mutual information by the skill predictor, or by the world model's own densities."""
    compared_skills: int = 16
    """L of the forward estimate: the realised skill and L - 1 from N(0, I)."""
    intrinsic_scale: float = 1.0
    """Weight of the intrinsic reward, log q_chi or the forward estimate."""
    intrinsic_path: Literal["reward", "loss"] = "reward"
    """Inside returns and value, as in the paper, or as a term of the policy's loss alone."""
    predictor_input: Literal["sequence", "change"] = "sequence"
    """All latent features of a segment, or the first decoded observation with the change up to the last."""
    predictor_noise: float = 0.0
    """Standard deviation of the noise on the predictor's input."""
    units: int = 256
    """Width of the predictor."""
    layers: int = 2
    """Hidden layers of the predictor."""
    learning_rate: float = 8e-5
    """Adam's step size for the paper's chi."""

    def __post_init__(self) -> None:
        _positive("discovery", units=self.units, layers=self.layers, learning_rate=self.learning_rate)
        if self.compared_skills < 2:
            raise UserError(f"--discovery.compared-skills is {self.compared_skills}: compare at least 2.")
        _not_negative("discovery", intrinsic_scale=self.intrinsic_scale, predictor_noise=self.predictor_noise)


@dataclass(frozen=True)
class HiroConfig:
    """The model-free baseline: two levels that learn by TD3 (HIRO). Its c is K, `skill.duration`."""

    goal: Literal["skill", "state"] = "skill"
    """What the high level hands down: a skill, paid with log q_chi, or a change of the observation, to be reached."""
    goal_keys: tuple[str, ...] = ()
    """Pieces of the observation that a `state` goal speaks of; none named: all."""
    goal_bound: float = 1.0
    """Largest change that a `state` goal asks for, of each number of the squashed observation."""
    units: int = 300
    """Width of the policies and critics of both levels."""
    layers: int = 2
    """Their hidden layers."""
    actor_learning_rate: float = 1e-4
    """Adam's step size for both policies."""
    critic_learning_rate: float = 1e-3
    """Adam's step size for both pairs of critics."""
    discount: float = 0.99
    """Gamma, for a step of either level: the high level's is K agent steps."""
    target_rate: float = 0.005
    """Tau: the share by which target networks follow."""
    target_noise: float = 0.2
    """Standard deviation of the noise on a target's action, which lies in [-1, 1]."""
    target_noise_clip: float = 0.5
    """Bound of that noise."""
    policy_delay: int = 2
    """Updates of the critics for each one of policy and targets."""
    high_level_every: int = 10
    """Updates of the low level for each one of the high level."""
    reward_scale: float = 0.1
    """Factor on the task rewards that the high level sums."""
    candidates: int = 10
    """Goals among which the off-policy correction chooses: the original, the centre, and draws around that."""
    candidate_std: float = 0.5
    """Standard deviation of these draws, as a share of the goal's bound."""
    action_noise: float = 0.1
    """Standard deviation of the noise on collected actions."""
    goal_noise: float = 0.3
    """Standard deviation of the noise on collected goals, as a share of their bound."""

    def __post_init__(self) -> None:
        _positive(
            "hiro",
            goal_bound=self.goal_bound,
            units=self.units,
            layers=self.layers,
            actor_learning_rate=self.actor_learning_rate,
            critic_learning_rate=self.critic_learning_rate,
            target_noise_clip=self.target_noise_clip,
            policy_delay=self.policy_delay,
            high_level_every=self.high_level_every,
            reward_scale=self.reward_scale,
            candidate_std=self.candidate_std,
        )
        _not_negative(
            "hiro", target_noise=self.target_noise, action_noise=self.action_noise, goal_noise=self.goal_noise
        )
        if self.candidates < 2:
            raise UserError(f"--hiro.candidates is {self.candidates}: the original and the centre make at least 2.")
        for name, value in (("discount", self.discount), ("target-rate", self.target_rate)):
            if not 0 <= value <= 1:
                raise UserError(f"--hiro.{name} is {value}: give a number between 0 and 1.")


@dataclass(frozen=True)
class ReplayConfig:
    """What the agent remembers."""

    max_frames: int = 1_000_000
    """Frames kept for sampling; older episodes stay on disk but are no longer drawn."""
    memory_map: bool = False
    """Keep the store in files instead of memory."""

    def __post_init__(self) -> None:
        _positive("replay", max_frames=self.max_frames)


@dataclass(frozen=True)
class TrainingConfig:
    """The loop of Algorithm 1."""

    seed_episodes: int = 5
    """The paper's S: episodes that are played before anything is learned."""
    seed_policy: Literal["random", "agent"] = "random"
    """Who plays them: chance, or the agent as it is, which has learned on another task."""
    pretrain_updates: int = 100
    """Updates between the seed episodes and the first collected one."""
    updates_per_frame: float = 0.2
    """Updates for each frame of experience."""
    batch_size: int = 50
    """The paper's B: sequences in a batch."""
    sequence_length: int = 50
    """The paper's L: steps in a sequence."""
    updates_per_call: int = 10
    """Updates in one call of the compiled function."""
    gradient_clip: float = 100.0
    """Largest global norm of a gradient."""
    frozen: tuple[Part, ...] = ()
    """Parts whose parameters do not change."""
    checkpoint_every: int = 10_000
    """Frames between checkpoints; they fall on the ends of episodes."""

    def __post_init__(self) -> None:
        _positive(
            "training",
            seed_episodes=self.seed_episodes,
            updates_per_frame=self.updates_per_frame,
            batch_size=self.batch_size,
            sequence_length=self.sequence_length,
            updates_per_call=self.updates_per_call,
            gradient_clip=self.gradient_clip,
            checkpoint_every=self.checkpoint_every,
        )
        _not_negative("training", pretrain_updates=self.pretrain_updates)


@dataclass(frozen=True)
class EvaluationConfig:
    """How an agent is judged while it trains."""

    every: int = 10_000
    """Frames between evaluations; they fall on the ends of episodes."""
    episodes: int = 10
    """Episodes, on reset seeds that are the same for every run."""
    hold_steps: int = 30
    """Agent steps for which each skill is held when skills are compared."""

    def __post_init__(self) -> None:
        _positive("evaluation", every=self.every, episodes=self.episodes, hold_steps=self.hold_steps)


@dataclass(frozen=True)
class Config:
    """A whole run."""

    task: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TASK")] = "rover-field"
    """What to learn; `skillplan tasks` lists them."""
    agent: str = "lsp"
    """Preset of the algorithm; `skillplan agents` lists them."""
    size: str = "paper"
    """Preset of widths and learning settings: paper, compact, tiny or debug."""
    frames: int = 1_000_000
    """Frames of experience, seed episodes included."""
    seed: int = 0
    """Drives every random draw of the run."""
    envs: int = 1
    """Episodes of experience that are collected side by side, with one set of updates after them."""
    learner: LearnerName = "latent"
    """What learns: the parts around a latent world model, or HIRO's two levels."""
    environment: EnvironmentConfig = field(default_factory=EnvironmentConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    world_model: WorldModelConfig = field(default_factory=WorldModelConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    value: ValueConfig = field(default_factory=ValueConfig)
    behavior: BehaviorConfig = field(default_factory=BehaviorConfig)
    skill: SkillConfig = field(default_factory=SkillConfig)
    planner: PlannerConfig = field(default_factory=PlannerConfig)
    discovery: DiscoveryConfig = field(default_factory=DiscoveryConfig)
    hiro: HiroConfig = field(default_factory=HiroConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)

    def __post_init__(self) -> None:
        _positive("", frames=self.frames, envs=self.envs)
        if not 0 <= self.seed < 2**32:
            raise UserError(f"--seed is {self.seed}: give zero or more, below 2^32.")
        sequences = self.behavior.start_sequences
        if sequences is not None and sequences > self.training.batch_size:
            raise UserError(
                f"--behavior.start-sequences is {sequences}, more than --training.batch-size "
                f"{self.training.batch_size}: start from fewer sequences or draw more."
            )
        if self.learner == "latent":
            self._check_no_hiro()
            if self.skill.size > 0:
                self._check_imagined_skills()

    def _check_no_hiro(self) -> None:
        """What HIRO alone would read must not be set in vain."""
        plain = HiroConfig()
        for setting in fields(HiroConfig):
            value = getattr(self.hiro, setting.name)
            if value != getattr(plain, setting.name):
                raise UserError(
                    f"--hiro.{setting.name.replace('_', '-')} is {value!r}, but --agent is {self.agent!r}, which "
                    "does not read it: choose --agent hiro, or leave it out."
                )

    def _check_imagined_skills(self) -> None:
        """Plans and imagination must be long enough for a skill."""
        if self.skill.duration > self.planner.horizon:
            raise UserError(
                f"--skill.duration (K) is {self.skill.duration}, longer than --planner.horizon (H) "
                f"{self.planner.horizon}: shorten the skill or lengthen the horizon."
            )
        if self.planner.training_horizon is not None and self.skill.training_segment > self.planner.training_horizon:
            raise UserError(
                f"A skill is held for {self.skill.training_segment} steps while training but "
                f"--planner.training-horizon is {self.planner.training_horizon}: lengthen the horizon."
            )
        if self.skill.training_segment > self.behavior.imagination_length:
            raise UserError(
                f"A skill is held for {self.skill.training_segment} steps but --behavior.imagination-length is "
                f"{self.behavior.imagination_length}: imagine further, or set a shorter --skill.segment-length."
            )
