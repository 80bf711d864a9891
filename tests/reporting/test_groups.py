from reporting.made import make_run
from skillplan.reporting.groups import differing, flatten, group
from skillplan.reporting.runs import find_runs
from skillplan.reporting.table import export


def names(*paths) -> dict[str, list[str]]:
    """Runs by the name of their curve, on the one task there is."""
    (members,) = group(find_runs(list(paths)).runs).values()
    return {name: [run.name for run in runs] for name, runs in members.items()}


def test_seeds_of_an_agent_are_one_curve(tmp_path):
    paths = [make_run(tmp_path / name, agent=name[:-2], seed=int(name[-1])) for name in ("lsp-0", "lsp-1", "dreamer-0")]
    assert names(*paths) == {"lsp": ["lsp-0", "lsp-1"], "dreamer": ["dreamer-0"]}


def test_an_arm_is_named_after_its_directory(tmp_path):
    paths = [
        make_run(tmp_path / "lsp-fixed-policy-0", source={"task": "rover-field", "options": {"fix_policy": True}}),
        make_run(tmp_path / "rover-cove-lsp-0"),
        make_run(tmp_path / "cove-lsp-0-from-rover"),
    ]
    assert names(*paths) == {
        "lsp-fixed-policy": ["lsp-fixed-policy-0"],
        "lsp": ["rover-cove-lsp-0", "cove-lsp-0-from-rover"],
    }


def test_how_a_run_was_carried_over_is_told_apart_whatever_its_directory_is_called(tmp_path):
    source = {"task": "rover-field", "config": {"frames": 12_000}}
    paths = [
        make_run(tmp_path / "a", source={**source, "options": {"fix_policy": True}}),
        make_run(tmp_path / "b", source={**source, "options": {"fix_policy": True, "relabel": True}}),
        make_run(tmp_path / "c", source={**source, "options": {}}),
        make_run(tmp_path / "d"),
    ]
    assert names(*paths) == {
        "lsp, policy fixed": ["a"],
        "lsp, policy fixed, relabelled": ["b"],
        "lsp (source rover-field, frames 12000)": ["c"],
        "lsp (source none, frames none)": ["d"],
    }


def test_runs_of_one_agent_that_differ_in_a_setting_are_two_curves(tmp_path):
    paths = [
        make_run(tmp_path / "a", overrides={"discovery": {"predictor_noise": 0.3}}),
        make_run(tmp_path / "b"),
        make_run(tmp_path / "c", seed=1, overrides={"frames": 50, "evaluation": {"every": 7}}),
    ]
    assert names(*paths) == {"lsp (predictor noise 0.3)": ["a"], "lsp (predictor noise 0.0)": ["b", "c"]}


def test_many_differing_settings_still_give_different_names(tmp_path):
    # The two settings that are named are the same in both of the last ones.
    base = {"world_model": {"deter": 9}, "policy": {"units": 9}}
    paths = [
        make_run(tmp_path / "a"),
        make_run(tmp_path / "b", overrides=base),
        make_run(tmp_path / "c", overrides={**base, "value": {"units": 9}}),
    ]
    assert list(names(*paths)) == [
        "lsp (deter 8, units 8)",
        "lsp (deter 9, units 9)",
        "lsp (deter 9, units 9, variant 2)",
    ]


def test_a_table_stands_beside_ones_own_run_under_its_own_name(tmp_path):
    path = make_run(tmp_path / "lsp-0", [1.0])
    export(tmp_path / "rover-field.csv", [path])
    assert names(path, tmp_path / "rover-field.csv") == {"lsp": ["lsp-0"], "lsp (rover-field)": ["lsp-0"]}


def test_a_table_of_several_arms_is_told_apart_by_their_names(tmp_path):
    paths = [make_run(tmp_path / name) for name in ("lsp-0", "lsp-fixed-policy-0")]
    export(tmp_path / "cove.csv", [make_run(tmp_path / "x" / path.name, [1.0]) for path in paths])
    assert set(names(tmp_path / "cove.csv")) == {"lsp", "lsp-fixed-policy"}


def test_tasks_are_apart_and_a_name_means_the_same_on_each(tmp_path):
    make_run(tmp_path / "lsp-0")
    make_run(tmp_path / "w" / "lsp-0", task="walker-walk")
    assert {task: list(members) for task, members in group(find_runs([tmp_path]).runs).items()} == {
        "rover-field": ["lsp"],
        "walker-walk": ["lsp"],
    }


def test_what_differs_is_found_by_name():
    one, other = {"a": 1, "b": {"c": [1, 2], "d": 3}}, {"a": 1, "b": {"c": [1, 2], "d": 4}, "e": None}
    assert differing([flatten(one), flatten(other)]) == ["b.d"]
    assert flatten(one) == {"a": 1, "b.c": (1, 2), "b.d": 3}
