"""A cache knows what its answers were made of; rows of results are told apart by what was asked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from loopback import Answer, listen
from small_data import write_small

import icgkit
from icgkit.calls import keys
from icgkit.calls.cache import Cache
from icgkit.calls.keys import load_litellm  # noqa: F401 - the import is slow; here it is paid once
from icgkit.calls.record import Record
from icgkit.calls.recorded import load_responses, read_run
from icgkit.cases.dataset import load_dataset
from icgkit.errors import IcgError, SchemaError, UnknownName
from icgkit.judge.ask import Judge
from icgkit.judge.kinds import judge_name
from icgkit.report.results import load_results
from icgkit.study import run as study_run
from icgkit.study.file import Study
from icgkit.study.identity import accept_cases
from icgkit.study.judging import judge_cache

VERDICT = json.dumps(
    {"verdicts": [{"id": f"n{k}", "region": True, "update": True, "reason": True} for k in (1, 2)]}
)


def told(whole: str, asked: dict[str, Any]) -> Answer:
    """Answer with the temperature and the roles that were sent; a judge marks everything as found."""
    roles = ",".join(m["role"] for m in asked["messages"])
    text = VERDICT if asked["model"].startswith("judge") else f"t={asked.get('temperature')} {roles}"
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    data = {
        "model": asked["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9},
    }
    return 200, {"Content-Type": "application/json"}, json.dumps(data).encode()


@pytest.fixture
def server() -> Iterator[Any]:
    with listen(told) as seen:
        yield seen


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data" / "cases").mkdir(parents=True)
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))
    monkeypatch.setattr(keys, "_in_use", set())
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    write_small(tmp_path / "work" / "mine")


def study(server: Any, **change: Any) -> Study:
    base = {
        "dataset": "./mine", "models": ["openai/m"], "conditions": ["direct"], "cache": "./run",
        "params": {"api_base": server.url, "temperature": 0}, "limits": {"retries": 0},
    }  # fmt: skip
    return Study.of({**base, **change})


def run(server: Any, **change: Any) -> Any:
    return study_run.run(study(server, **change), progress=False)


# -- the dataset -------------------------------------------------------------------------------------


def test_later_commands_find_the_dataset_of_a_folder_from_anywhere(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(server)
    monkeypatch.chdir(tmp_path)
    for spelt in ("work/run", "./work/run/", str(tmp_path / "work" / "run")):
        assert judge_cache(spelt, ["offline/judge"], progress=False)["judgments"].height == 6
        found = load_results(spelt)
        assert (found.name, found.dataset.folder) == ("run", tmp_path / "work" / "mine")
    shutil.move("work/mine", "elsewhere")
    with pytest.raises(
        UnknownName, match=r"dataset 'mine' in .*work/mine, which is not there.*--dataset FOLDER"
    ):
        judge_cache("work/run", ["offline/judge"])
    assert judge_cache("work/run", ["offline/judge"], dataset="./elsewhere")["judgments"].height == 6


def test_other_cases_of_the_same_name_are_refused_by_every_command(server: Any, tmp_path: Path) -> None:
    run(server)
    write_small(Path("mine"), update="another update")
    for command in (
        lambda: run(server),
        lambda: study_run.estimate(study(server)),
        lambda: judge_cache("./run", ["offline/judge"]),
        lambda: load_results("./run"),
    ):
        with pytest.raises(SchemaError, match=r"other cases of dataset 'mine': 3 differ and 0 are gone"):
            command()
    assert len(server.requests) == 3
    write_small(Path("mine"))
    assert run(server).summary.called == 0


def test_further_cases_are_no_other_dataset_and_missing_ones_are(server: Any) -> None:
    run(server)
    write_small(Path("mine"), n=5)
    assert run(server).summary.called == 2
    write_small(Path("mine"), n=2)
    with pytest.raises(SchemaError, match="0 differ and 3 are gone"):
        judge_cache("./run", ["offline/judge"])


def test_the_printed_remedy_works_as_typed(server: Any) -> None:
    """Annotations were mended: the answers hold, the verdicts on the old nodes do not."""
    run(server, judges=["offline/judge"])
    before = pl.read_parquet("run/judgments.parquet")
    write_small(Path("mine"), update="mended")
    with pytest.raises(SchemaError) as error:
        judge_cache("./run", ["offline/judge"])
    line = str(error.value).split("as they are now: ")[1].split(", which")[0]
    done = subprocess.run(
        [str(Path(sys.executable).parent / "icgkit"), *line.split()[1:], "--judges", "offline/judge"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 cases have changed" in done.stderr
    assert pl.read_parquet("run/judgments.parquet").height == before.height
    assert run(server).summary.called == 0  # no answer was lost


def test_accepting_drops_the_verdicts_on_old_nodes_only(server: Any) -> None:
    run(server, judges=["offline/judge"])
    cases = write_small(Path("mine"))
    from icgkit.cases.dataset import write_cases

    node = cases[0].constraint_nodes[0].model_copy(update={"expected_update": "other"})
    changed = cases[0].model_copy(update={"constraint_nodes": (node, cases[0].constraint_nodes[1])})
    write_cases([changed, *cases[1:]], Path("mine/cases.jsonl"))
    assert accept_cases(Path("run"), load_dataset("./mine")) == ["c0"]
    assert set(pl.read_parquet("run/judgments.parquet")["case_id"]) == {"c1", "c2"}
    assert load_results("./run").responses.height == 3


def test_a_run_toml_of_before_is_still_read(server: Any) -> None:
    run(server)
    Path("run/cases.json").unlink()
    Path("run/run.toml").write_text(
        f'dataset = "{Path("mine").absolute()}"\nmodels = ["x"]\n', encoding="utf-8"
    )
    assert judge_cache("./run", ["offline/judge"], progress=False)["judgments"].height == 6
    assert read_run(Path("run"))["models"] == ["x"]
    write_small(Path("mine"), update="other")  # known from the first command on
    with pytest.raises(SchemaError, match="other cases"):
        load_results("./run")


def test_a_typo_leaves_no_folder_behind(server: Any) -> None:
    wrong: list[dict[str, Any]] = [
        {"models": ["openai/m", "no-such-model-xyz"]}, {"conditions": ["dircet"]}, {"dataset": "./mien"},
        {"judges": ["no-such-model-xyz"]}, {"models": ["hosted_vllm/m"], "params": {}}, {"templates": "tmeplates"},
    ]  # fmt: skip
    for change in wrong:
        with pytest.raises((SchemaError, UnknownName, IcgError)):
            run(server, **change)
        assert not Path("run").exists(), change
    assert server.requests == []


def test_two_runs_in_one_cache_add_up_in_run_toml(server: Any) -> None:
    run(server, judges=[{"name": "openai/judge-a", "params": {"api_base": server.url}}])
    Path("run/run.toml").write_text(
        "# ours\n" + Path("run/run.toml").read_text() + '\n[subsets]\nx = "50 cases"\n'
    )
    run(server, models=["openai/other"], conditions=["cot"], samples=2)
    meta = read_run(Path("run"))
    assert (meta["models"], meta["conditions"], meta["samples"]) == (
        ["openai/m", "openai/other"],
        ["direct", "cot"],
        2,
    )
    assert (meta["primary_judge"], meta["subsets"]) == ("openai/judge-a", {"x": "50 cases"})
    assert Path("run/run.toml").read_text().startswith("# ours")
    stamp = Path("run/run.toml").stat().st_mtime_ns
    run(server)
    assert Path("run/run.toml").stat().st_mtime_ns == stamp  # nothing new: not written


@pytest.mark.parametrize("name", ['o\'hara "x" ü', "a.b", "x\x7fy", "[t]", "new\\line"])
def test_any_name_survives_run_toml(server: Any, name: str) -> None:
    write_small(Path("mine"), name=name.replace("\\", "/").replace('"', "'").replace("\x7f", ""))
    run(server, models=[{"name": "openai/m", "label": name}])
    assert (
        tomllib.loads(Path("run/run.toml").read_text(encoding="utf-8"))["asked"][name]["name"] == "openai/m"
    )


# -- labels ------------------------------------------------------------------------------------------


def test_one_model_with_two_settings_is_two_rows(server: Any) -> None:
    models = [
        {"name": "openai/m", "label": "m (t=0)"},
        {"name": "openai/m", "label": "m (t=1)", "params": {"temperature": 1}},
        {"name": "openai/m", "label": "m (default)", "params": {"temperature": "unset"}},
    ]
    judge: dict[str, Any] = {"name": "openai/judge-a", "params": {"api_base": server.url}}
    done = run(server, models=models, judges=[judge])
    texts = dict(
        load_responses("./run").select("model", pl.col("text").str.split(" ").list.first()).iter_rows()
    )
    assert texts == {"m (t=0)": "t=0", "m (t=1)": "t=1", "m (default)": "t=None"}
    assert done.responses["model"].n_unique() == 3
    assert set(load_results("./run").judgments["model"]) == set(texts)
    assert set(Cache.named("./run").frame().filter(kind="elicit")["model"]) == {"openai/m"}
    assert run(server, models=models, judges=[judge]).summary.called == 0
    Cache.named("./run").pack()
    assert load_responses("./run").height == 9


def test_an_answer_that_is_there_serves_another_label_at_no_cost(server: Any) -> None:
    run(server)
    done = run(server, models=[{"name": "openai/m", "label": "m (t=0)"}])
    assert (done.summary.called, set(done.responses["model"])) == (0, {"m (t=0)"})
    assert set(load_responses("./run")["model"]) == {"openai/m", "m (t=0)"}


def test_one_name_for_two_things_is_refused_with_a_remedy_that_works(server: Any) -> None:
    two = [{"name": "openai/m"}, {"name": "openai/m", "params": {"temperature": 1}}]
    with pytest.raises(SchemaError, match=r"two models are called 'openai/m'.*label = \"openai/m \(2\)\""):
        run(server, models=two)
    run(server)
    with pytest.raises(
        SchemaError, match=r"model 'openai/m' was asked otherwise .*params of direct.*label = "
    ):
        run(server, params={"api_base": server.url, "temperature": 1})
    assert len(server.requests) == 3
    run(server, models=[{"name": "openai/m", "label": "openai/m (2)", "params": {"temperature": 1}}])
    assert load_responses("./run").height == 6


def test_other_words_under_the_same_name_are_refused(server: Any) -> None:
    run(server)
    own = Path("own")
    own.mkdir()
    shipped = Path(icgkit.__file__).parent / "templates" / "conditions" / "direct.md"
    (own / "direct.md").write_text(shipped.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    with pytest.raises(SchemaError, match="the words of 'direct' are others"):
        run(server, templates="own")
    (own / "direct.md").rename(own / "brief.md")
    assert run(server, templates="own", conditions=["brief"]).summary.called == 3


# -- judges ------------------------------------------------------------------------------------------


def own_judge(words: str) -> str:
    folder = Path("own/judges")
    folder.mkdir(parents=True, exist_ok=True)
    shipped = Path(icgkit.__file__).parent / "templates" / "judges" / "recall.md"
    (folder / "recall.md").write_text(shipped.read_text(encoding="utf-8") + f"\n{words}\n", encoding="utf-8")
    return "own"


def test_a_judge_with_other_words_is_another_judge(server: Any) -> None:
    run(server)
    entry = {"name": "openai/judge-a", "params": {"api_base": server.url}}
    judges = Study.of({**study(server).model_dump(), "judges": [entry]}).judges
    judge_cache("./run", judges, progress=False)
    judge_cache("./run", judges, templates=own_judge("Be strict."), progress=False)
    names = set(pl.read_parquet("run/judgments.parquet")["judge"])
    assert names == {"openai/judge-a", judge_name(Judge("openai/judge-a", "own"), "recall")}
    judge_cache("./run", judges, templates=own_judge("Be mild."), progress=False)
    assert pl.read_parquet("run/judgments.parquet")["judge"].n_unique() == 3
    assert set(read_run(Path("run"))["judges"]) == set(pl.read_parquet("run/judgments.parquet")["judge"])


def test_a_label_of_a_judge_stands_for_one_set_of_words_and_parameters(server: Any) -> None:
    run(server)

    def judged(templates: Any = None, **params: Any) -> Any:
        entry = {"name": "openai/judge-a", "label": "strict", "params": {"api_base": server.url, **params}}
        judges = Study.of({**study(server).model_dump(), "judges": [entry]}).judges
        return judge_cache("./run", judges, templates=templates, progress=False)

    judged(own_judge("Be strict."))
    assert set(pl.read_parquet("run/judgments.parquet")["judge"]) == {"strict"}
    before = len(server.requests)
    for change in ({}, {"templates": own_judge("Be mild.")}, {"templates": "own", "temperature": 1}):
        with pytest.raises(SchemaError, match=r"judge 'strict' was asked otherwise.*--study"):
            judged(**change)
    assert len(server.requests) == before


def test_the_command_judge_takes_parameters_from_a_study_file(server: Any) -> None:
    run(server)
    params = f'{{ api_base = "{server.url}", temperature = "unset", max_completion_tokens = 50, max_tokens = "unset" }}'
    Path("judges.toml").write_text(
        'dataset = "./mine"\nmodels = ["x"]\nconditions = ["direct"]\n'
        f'judges = [{{ name = "openai/judge-a", label = "A", params = {params} }}]\n', encoding="utf-8",
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "icgkit.cli", "judge", "--cache", "./run", "--study", "judges.toml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    sent = json.loads(server.requests[-1].split("\n\n")[-1])
    assert {k: v for k, v in sent.items() if k not in ("messages", "model")} == {"max_completion_tokens": 50}
    frame = pl.read_parquet("run/judgments.parquet")
    assert (set(frame["judge"]), frame["found"].sum()) == ({"A"}, 6)


def test_the_judges_of_one_run_are_told_apart(server: Any) -> None:
    judge: dict[str, Any] = {"name": "openai/judge-a", "params": {"api_base": server.url}}
    with pytest.raises(SchemaError, match="two judges of recall are called 'openai/judge-a'"):
        run(server, judges=[judge, {**judge, "params": {**judge["params"], "temperature": 1}}])
    assert not Path("run").exists()
    run(server, judges=[judge, {**judge, "label": "again", "params": {**judge["params"], "temperature": 1}}])
    assert set(pl.read_parquet("run/judgments.parquet")["judge"]) == {"openai/judge-a", "again"}
    assert load_results("./run", judge="again").judgments.height == 6


# -- roles -------------------------------------------------------------------------------------------


def test_a_model_without_a_system_role_is_served(server: Any) -> None:
    models = ["openai/m", {"name": "openai/n", "system": "user"}]
    run(
        server,
        models=models,
        judges=[{"name": "openai/judge-a", "system": "user", "params": {"api_base": server.url}}],
    )
    roles = dict(
        load_responses("./run").select("model", pl.col("text").str.split(" ").list.last()).iter_rows()
    )
    assert roles == {"openai/m": "system,user", "openai/n": "user"}
    bodies = [json.loads(r.split("\n\n")[-1]) for r in server.requests]
    words = next(b for b in bodies if b["model"] == "m")["messages"][0]["content"]
    text = next(b for b in bodies if b["model"] == "n")["messages"][0]["content"][-1]["text"]
    assert text.startswith(f"{words}\n\n")
    assert all(len(b["messages"]) == 1 for b in bodies if b["model"] == "judge-a")


def test_an_empty_system_text_is_not_sent(server: Any) -> None:
    Path("own").mkdir()
    head = "---\nlabel: X\nshort: X\norder: 1\nfamily: core\ninputs: [instruction]\noutput: text\n"
    for name, line in (("none", ""), ("blank", "system: ' '\n")):
        (Path("own") / f"{name}.md").write_text(
            f"{head}{line}---\nLook: {{{{ instruction }}}}\n", encoding="utf-8"
        )
    run(server, templates="own", conditions=["none", "blank"])
    assert set(load_responses("./run")["text"].str.split(" ").list.last()) == {"user"}


def test_records_without_a_label_are_read(tmp_path: Path) -> None:
    """A cache of an older version has no column for it."""
    cache = Cache(tmp_path / "old")
    cache.put(Record("k", "elicit", "d", "c", "direct", "openai/m", text="x"))
    cache.pack()
    path = tmp_path / "old" / "calls.parquet"
    pl.read_parquet(path).drop("label").write_parquet(path)
    assert load_responses(tmp_path / "old")["model"].to_list() == ["openai/m"]


def test_a_dry_run_counts_each_label_by_itself(server: Any) -> None:
    models = [
        {"name": "gpt-4o", "label": "a"},
        {"name": "gpt-4o", "label": "b", "params": {"temperature": 1}},
    ]
    frame = study_run.estimate(study(server, models=models)).frame()
    rows = {r["model"]: (r["calls"], r["cost"] > 0) for r in frame.iter_rows(named=True)}
    assert rows == {"a": (3, True), "b": (3, True)}
    assert not Path("run").exists()


def test_a_complete_cache_in_a_folder_that_cannot_be_written_to_is_run(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root nothing is read only, so the system's answer is given by hand."""
    import errno

    from icgkit.study import identity

    run(server)
    Path("run/run.toml").unlink()

    def refused(*_args: Any, **_options: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(identity, "write_whole", refused)
    done = study_run.run(study(server), progress=False, pack=False)
    assert (done.summary.called, done.responses.height) == (0, 3)
