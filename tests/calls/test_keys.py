"""Keys are read where the user runs, go to their server, and are found in no file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, good, listen
from small_data import write_small

from icgkit.calls import keys
from icgkit.calls.cache import Cache
from icgkit.calls.engine import complete
from icgkit.calls.limits import Limits
from icgkit.calls.request import Request, address
from icgkit.calls.transports import open_transport
from icgkit.errors import CallError
from icgkit.study import run as study_run

ASK = [{"role": "user", "content": "Which parts change?"}]
ONCE = Limits(retries=0, timeout=10)
SECRET = "Zebra9.secret/value+77"
"""Neither its look nor the name of its variable says that it is a key."""


@pytest.fixture(autouse=True)
def _bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL", "_PROXY")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(keys, "_in_use", set())
    (tmp_path / "work" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))


def echo(where: str) -> Any:
    """Answer with the Authorization header in one place of the reply."""

    def answer(whole: str, asked: dict[str, Any]) -> Answer:
        header = next(line for line in whole.split("\n") if line.lower().startswith("authorization"))
        status, headers, data = good(whole, asked)
        body = json.loads(data)
        if where == "text":
            body["choices"][0]["message"]["content"] = f"I was called with {header}"
        elif where == "field":
            body["debug"] = {"request": [header]}
        elif where == "model":
            body["model"] = header
        elif where == "refusal":
            body["choices"][0]["message"]["refusal"] = header
        elif where == "escaped":
            return 200, headers, data.replace(b"fine", "".join(f"\\u{ord(c):04x}" for c in header).encode())
        elif where == "error":
            body = {"error": {"message": f"Incorrect API key provided: {header}", "code": 402}}
        else:
            return int(where), headers, json.dumps({"error": header}).encode()
        return status, headers, json.dumps(body).encode()

    return answer


def files_with(folder: Path, secret: str) -> list[str]:
    """Name the files that hold a secret; Parquet is read as well, for it is compressed."""
    import polars as pl

    found = []
    for file in folder.rglob("*"):
        if file.is_file():
            text = file.read_bytes().decode("utf-8", "replace")
            if file.suffix == ".parquet":
                text += json.dumps(pl.read_parquet(file).to_dicts(), default=str)
            found += [file.name] if secret in text else []
    return found


@pytest.mark.parametrize("model", ["openai/m", "openai/o3-m"])
@pytest.mark.parametrize("where", ["text", "field", "model", "refusal", "escaped", "error", "401", "500"])
def test_a_key_that_a_server_echoes_is_recorded_nowhere(
    where: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_LLM", SECRET)
    with listen(echo(where)) as server:
        params = {"api_base": server.url, "api_key_env": "MY_LLM"}
        cache = Cache(tmp_path / "c")
        record = complete(Request(model, ASK, params), cache=cache, limits=ONCE)
        assert SECRET in "".join(server.requests)  # it was sent, else there is nothing to leak
    assert SECRET not in repr(record)
    if where in ("text", "escaped"):
        assert "Bearer Zeb..." in str(record.text)
    cache.pack()
    assert files_with(tmp_path / "c", SECRET) == []


def test_a_whole_run_leaves_no_key_in_any_file_nor_on_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    write_small(tmp_path / "mine")
    monkeypatch.setenv("MY_LLM", SECRET)
    monkeypatch.setenv("GATEWAY", "gateway-0123456789")
    with listen(echo("text")) as server:
        params = {"api_base": server.url, "api_key_env": "MY_LLM", "headers_env": {"X-Gateway": "GATEWAY"}}
        study = {
            "dataset": str(tmp_path / "mine"), "models": [{"name": "openai/m", "params": params}],
            "conditions": ["direct"], "judges": [{"name": "openai/j", "params": params}], "cache": str(tmp_path / "run"),
        }  # fmt: skip
        told = study_run.estimate(study).text()
        done = study_run.run(study, progress=False)
        sent = "".join(server.requests)
    assert "X-Gateway: gateway-0123456789" in sent
    for secret in (SECRET, "gateway-0123456789"):
        assert files_with(tmp_path, secret) == []
        assert secret not in told + done.text() + "".join(capfd.readouterr())
    assert f"openai/m -> {server.url} (key from MY_LLM; X-Gateway from GATEWAY)" in told
    assert f"openai/m: the value of MY_LLM is sent as the key to {server.url}" in told


@pytest.mark.parametrize(
    "params",
    [
        {"extra_headers": {"Authorization": "Bearer abcdef0123456789"}},
        {"extra_headers": {"api-key": "abcdef0123456789"}},
        {"extra_headers": {"X-Trace": "sk-abcdef0123456789"}},
        {"extra_headers": {"X-Trace": "ours: other-0123456789"}},
        {"extra_body": {"api_key": "abcdef0123456789"}},
        {"extra_body": {"deep": [{"client_secret": "abcdef0123456789"}]}},
        {"aws_secret_access_key": "abcdef0123456789"},
        {"vertex_credentials": '{"private_key": "abcdef0123456789"}'},
        {"user": "other-0123456789"},
    ],
)
def test_a_secret_among_the_parameters_is_refused_and_not_shown(
    params: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "other-0123456789")
    with pytest.raises(CallError, match="a secret among the parameters") as told:
        complete(
            Request("hosted_vllm/m", ASK, {"api_base": "http://127.0.0.1:9", **params}),
            cache=Cache(tmp_path / "c"),
        )
    assert "0123456789" not in str(told.value)
    assert not (tmp_path / "c").exists()


def test_parameters_that_only_look_like_secrets_pass() -> None:
    harmless = {
        "max_tokens": 9, "extra_body": {"stop_token_ids": [1, 2], "prompt_cache_key": "run-7", "top_k": 3},
        "extra_headers": {"X-Title": "our study"}, "stop": ["END"], "vertex_credentials": "/home/me/sa.json",
    }  # fmt: skip
    keys.refuse_secrets("m", harmless)


@pytest.mark.parametrize("model", ["openai/m", "together_ai/m"])
@pytest.mark.parametrize("written", ["{}\n", "  {} \r\n", '"{}"', "'{}'\n"])
def test_blanks_and_quotes_round_a_key_are_not_sent(
    written: Any, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "gsk_0123456789abcdef"
    for name in ("OPENAI_API_KEY", "TOGETHERAI_API_KEY"):
        monkeypatch.setenv(name, written.format(key))
    with listen(good) as server:
        params = {"api_base": server.url}
        assert complete(Request(model, ASK, params), cache=Cache(tmp_path / "c"), limits=ONCE).status == "ok"
        (line,) = [x for x in server.requests[0].split("\n") if x.lower().startswith("authorization")]
    assert line.split(": ", 1)[1].strip() == f"Bearer {key}"


@pytest.mark.parametrize("value", ["sk-0123456789\nabcdef", "sk-0123456789\u200babc", "sk-01234 56789abc"])
def test_a_key_that_no_header_can_carry_is_a_clear_error(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", value)
    with pytest.raises(CallError, match="the key in GROQ_API_KEY has") as told:
        open_transport(address(Request("groq/m", ASK)), Limits())
    assert "0123456789" not in str(told.value)


def test_dotenv_gives_keys_of_known_providers_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    for name in ("GROQ_API_KEY", "MY_LLM", "XAI_API_KEY"):  # so that what is set here is taken back
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    bad = {"OPENAI_BASE_URL": "http://evil", "PYTHONPATH": "evil", "HTTPS_PROXY": "http://evil", "LD_PRELOAD": "x", "GITHUB_TOKEN": "y", "GOOGLE_APPLICATION_CREDENTIALS": "z"}  # fmt: skip
    lines = ["GROQ_API_KEY='gsk-1'", "MY_LLM=b", "OPENAI_API_KEY=other", "XAI_API_KEY=${HOME}", *(f"{k}={v}" for k, v in bad.items())]  # fmt: skip
    before = {k: os.environ.get(k) for k in bad}
    Path(".env").write_text("\n".join(lines), encoding="utf-8")
    assert keys.load_env(also=["MY_LLM"]) == ["GROQ_API_KEY", "MY_LLM", "XAI_API_KEY"]
    assert (os.environ["GROQ_API_KEY"], os.environ["OPENAI_API_KEY"], os.environ["XAI_API_KEY"]) == (
        "gsk-1",
        "mine",
        "${HOME}",
    )
    assert {k: os.environ.get(k) for k in bad} == before
    said = capfd.readouterr().err
    assert f"keys read from {Path.cwd() / '.env'}: GROQ_API_KEY, MY_LLM, XAI_API_KEY" in said
    assert "not read, since no key of a known provider: 'OPENAI_BASE_URL', 'PYTHONPATH'" in said


def test_dotenv_of_a_parent_or_of_the_project_is_not_read(tmp_path: Path) -> None:
    """Neither by icgkit nor by litellm, which looks into every parent if it is let."""
    for folder in (tmp_path, tmp_path / "work"):
        (folder / ".env").write_text(
            "GROQ_API_KEY=gsk-0123456789\nOPENAI_BASE_URL=http://evil\n", encoding="utf-8"
        )
    code = (
        "import os\nfrom icgkit.calls import keys\nfrom icgkit.calls.keys import load_litellm\n"
        "load_litellm()\nkeys.load_env()\nprint(os.environ.get('GROQ_API_KEY'), os.environ.get('OPENAI_BASE_URL'))"
    )
    for directory in ("deep",):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=directory, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "None None"


def test_a_fifo_or_a_device_named_dotenv_is_no_hang(tmp_path: Path) -> None:
    os.mkfifo(".env")
    assert keys.load_env() == []


def trap(folder: Path) -> None:
    """Put modules into a folder that write a file when they are imported."""
    for name in ("icgkit", "asyncio", "json", "polars", "typing", "ipykernel", "zlib", "litellm", "dotenv"):
        (folder / f"{name}.py").write_text(
            f"open({str(folder / 'RAN')!r}, 'a').write({name!r})\n", encoding="utf-8"
        )
    (folder / "sitecustomize.py").write_text(
        f"open({str(folder / 'RAN')!r}, 'a').write('site')\n", encoding="utf-8"
    )


def test_nothing_is_imported_from_the_working_directory(tmp_path: Path) -> None:
    write_small(tmp_path / "mine")
    trap(Path())
    script = shutil.which("icgkit", path=str(Path(sys.executable).parent))
    options = [
        "--dataset",
        "../mine",
        "--models",
        "offline/instruction-only",
        "--conditions",
        "direct",
        "--cache",
        "../c",
    ]
    done = subprocess.run([str(script), "run", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(script), "judge", "--cache", "../c", "--dataset", "../mine"], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not Path("RAN").exists()


@pytest.mark.parametrize("fork", ["1", "0"])
def test_a_kernel_imports_nothing_from_its_directory(
    fork: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from icgkit.reproduce.kernel import WarmKernelManager, warm_server

    monkeypatch.setenv("ICGKIT_FORK", fork)
    trap(Path())

    async def run() -> str:
        manager = WarmKernelManager()
        await manager.start_kernel(cwd=str(Path.cwd()))
        client = manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=120)
        reply = await client.execute_interactive(
            "import zlib, ipykernel, polars", output_hook=lambda m: None, timeout=120
        )
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
        return str(reply["content"]["status"])

    import asyncio

    with warm_server():
        assert asyncio.run(run()) == "ok"
    assert not Path("RAN").exists()


def test_an_odd_variable_is_said_before_the_first_call_of_a_judge_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    from icgkit.study.file import JudgeEntry
    from icgkit.study.judging import judge_cache

    write_small(tmp_path / "mine")
    monkeypatch.setattr(keys, "_told", set())
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-0123456789")
    study_run.run(
        {"dataset": str(tmp_path / "mine"), "models": ["offline/instruction-only"], "conditions": ["direct"], "cache": str(tmp_path / "c")},
        progress=False,
    )  # fmt: skip
    with listen(good) as server:
        entry = JudgeEntry(
            name="openai/j", params={"api_base": server.url, "api_key_env": "AWS_SECRET_ACCESS_KEY"}
        )
        judge_cache(tmp_path / "c", [entry], progress=False)
    said = capfd.readouterr().err
    assert f"openai/j: the value of AWS_SECRET_ACCESS_KEY is sent as the key to {server.url}" in said
    assert "0123456789" not in said
