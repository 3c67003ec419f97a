"""Nothing leaves for an address that nobody named, and no key goes where it does not belong.

Real servers and a real proxy on 127.0.0.1 see every request; the proxy lets nothing through.
"""

from __future__ import annotations

import json
import os
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
from icgkit.calls.keys import load_litellm
from icgkit.calls.limits import Limits
from icgkit.calls.record import Record
from icgkit.calls.request import Request, address
from icgkit.calls.transports import (
    LitellmTransport,
    OpenAITransport,
    Transport,
    check_models,
    open_transport,
    route_of,
)
from icgkit.errors import CallError
from icgkit.study.batch import run_batch
from icgkit.study.file import Study

ASK = [{"role": "user", "content": "Which parts change?"}]
ONCE = Limits(retries=0, timeout=10, connect_timeout=2)
OPENAI, ANTHROPIC = "sk-openai-0123456789abcdef", "sk-ant-0123456789abcdef"


@pytest.fixture(autouse=True)
def _bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider's variable is set, and the working directory is an empty one."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL", "_PROXY", "_proxy")) or name.startswith(
            ("AWS_", "AZURE_", "VERTEX")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setattr(keys, "_in_use", set())
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))


def transport(model: str, **params: Any) -> Transport:
    return open_transport(address(Request(model, ASK, params)), Limits())


def call(model: str, folder: Path, **params: Any) -> Record:
    return complete(Request(model, ASK, params), cache=Cache(folder), limits=ONCE)


LOCAL = sorted(keys.table()["local"])


@pytest.mark.parametrize("provider", LOCAL)
def test_a_server_of_one_s_own_without_an_address_is_never_looked_for_elsewhere(
    provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listen() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", OPENAI)
        with pytest.raises(CallError, match=rf"{provider} has no address of its own.*api_base"):
            call(f"{provider}/some-model", tmp_path / "c")
        assert proxy.requests == []
    assert not (tmp_path / "c").exists()


def test_what_it_needs_works_as_the_error_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with listen(good) as server:
        for provider in ("hosted_vllm", "lm_studio", "llamafile"):
            monkeypatch.setenv(f"{provider.upper()}_API_BASE", server.url + "/v1")
            assert call(f"{provider}/m", tmp_path / provider).text == "fine"
        assert call("openai_like/m", tmp_path / "o", api_base=server.url + "/v1").text == "fine"
        assert len(server.requests) == 4


def test_the_command_line_stops_before_anything_is_sent_or_made(tmp_path: Path) -> None:
    write_small(tmp_path / "mine")
    with listen() as proxy:
        env = {**os.environ, "HTTPS_PROXY": proxy.url, "HTTP_PROXY": proxy.url, "OPENAI_API_KEY": OPENAI}

        def icgkit(*options: str) -> subprocess.CompletedProcess[str]:
            base = [
                sys.executable,
                "-m",
                "icgkit.cli",
                "run",
                "--dataset",
                "../mine",
                "--conditions",
                "direct",
            ]
            return subprocess.run([*base, *options], capture_output=True, text=True, check=False, env=env)

        for more in ([], ["--dry-run"]):
            done = icgkit("--models", "hosted_vllm/m", "--cache", "./c", *more)
            assert done.returncode == 2
            assert "HOSTED_VLLM_API_BASE=http://localhost:8000/v1" in done.stderr
        assert proxy.requests == []
        assert list(Path().iterdir()) == []
        # That the proxy would have seen it: a model with an address of its own gets as far as this.
        study = f'dataset="{tmp_path}/mine"\nmodels=["openai/gpt-4o"]\nconditions=["direct"]\n[limits]\nretries=0\n'
        Path("s.toml").write_text(study, encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "icgkit.cli", "run", "s.toml"], capture_output=True, check=False, env=env
        )
        assert set(proxy.targets) == {"CONNECT api.openai.com:443"}
        assert OPENAI not in "".join(proxy.requests)


def test_a_bare_claude_never_goes_to_the_address_that_is_set_for_openai(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANTHROPIC)
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI)
    with listen(good) as server, listen() as proxy:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        asked = address(Request("claude-sonnet-4-6", ASK))
        assert (asked.endpoint, route_of(asked).provider) == (None, "anthropic")
        assert address(Request("gpt-4o", ASK)).endpoint == server.url
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert call("claude-sonnet-4-6", tmp_path / "c").status == "error"
        assert server.requests == []
        assert set(proxy.targets) == {"CONNECT api.anthropic.com:443"}


@pytest.mark.parametrize("named", ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"])
def test_an_address_in_a_provider_s_own_variable_is_shown_and_recorded(
    named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANTHROPIC)
    monkeypatch.setenv(named, "http://127.0.0.1:9")
    for model in ("anthropic/claude-sonnet-4-6", "claude-sonnet-4-6"):
        assert route_of(address(Request(model, ASK))).address == "http://127.0.0.1:9"


def _key_of_another(provider: str, whole: str) -> bool:
    return OPENAI in whole and provider not in (
        "openai",
        "text-completion-openai",
        "aiohttp_openai",
        "custom",
    )


def test_no_server_gets_the_key_of_another_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """litellm takes OPENAI_API_KEY for any server of that form without a key of its own."""
    litellm = load_litellm()
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI)
    wrong, reached = [], 0
    names = sorted({str(getattr(p, "value", p)) for p in litellm.openai_compatible_providers})
    with listen(good) as server:
        for provider in names:
            before = len(server.requests)
            try:
                record = call(f"{provider}/m", tmp_path / "c", api_base=server.url)
            except CallError:  # a browser's sign-in, a name of a form of its own
                continue
            new = server.requests[before:]
            reached += bool(new)
            assert record.status in ("ok", "error", "empty"), provider
            wrong += [provider for whole in new if _key_of_another(provider, whole)]
    assert wrong == []
    assert reached > 40


@pytest.mark.parametrize(
    "model", ["deepseek/deepseek-chat", "groq/x", "mistral/x", "openrouter/x", "together_ai/x", "xai/grok-4"]
)
def test_a_missing_key_stops_before_the_first_call(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI)
    with pytest.raises(CallError, match="API_KEY is not set"):
        call(model, tmp_path / "c")
    (route,) = check_models([address(Request(model, ASK))], need_keys=False)
    assert "NO KEY" in route.text()


@pytest.mark.parametrize(
    ("model", "params", "env"),
    [
        ("azure/gpt-4o", {"api_base": "https://r.openai.azure.com"}, {"AZURE_API_KEY": "azure-0123456789"}),
        ("azure/gpt-4o", {"api_base": "https://r.openai.azure.com", "api_version": "2024-10-21"}, {"AZURE_AD_TOKEN": "azure-0123456789"}),
        ("azure/gpt-4o", {}, {"AZURE_API_BASE": "https://r.openai.azure.com", "AZURE_API_KEY": "azure-0123456789"}),
        ("azure/gpt-4o", {"api_base": "https://r.openai.azure.com", "api_key_env": "OURS"}, {"OURS": "azure-0123456789"}),
        ("azure/gpt-4o", {"api_base": "https://r.openai.azure.com", "tenant_id": "t", "client_id": "c"}, {}),
        ("vertex_ai/gemini-2.5-pro", {"vertex_project": "p", "vertex_location": "us-central1"}, {}),
        ("vertex_ai/gemini-2.5-pro", {"vertex_project": "p", "vertex_credentials": "/home/me/sa.json"}, {}),
        ("vertex_ai/gemini-2.5-pro", {}, {"GOOGLE_APPLICATION_CREDENTIALS": "/home/me/sa.json"}),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", {"aws_profile_name": "lab", "aws_region_name": "eu-west-1"}, {}),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", {"aws_role_name": "arn:aws:iam::1:role/x", "aws_session_name": "s"}, {}),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", {}, {"AWS_BEARER_TOKEN_BEDROCK": "bedrock-0123456789"}),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", {}, {}),
        ("gemini/gemini-2.5-flash", {}, {"GOOGLE_API_KEY": "AIza0123456789abcdefghij"}),
        ("openai/served", {"api_base": "http://localhost:8000/v1"}, {}),
    ],
)  # fmt: skip
def test_every_valid_way_to_sign_in_is_accepted(
    model: Any, params: Any, env: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert check_models([address(Request(model, ASK, {"max_tokens": 10, **params}))])


def test_azure_without_an_address_or_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CallError, match="AZURE_API_BASE"):
        transport("azure/gpt-4o")
    with pytest.raises(CallError, match="AZURE_API_KEY is not set"):
        transport("azure/gpt-4o", api_base="https://r.openai.azure.com")


def test_an_azure_call_goes_to_the_named_address_with_its_own_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_API_KEY", "azure-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI)
    with listen(good) as server:
        assert (
            call("azure/gpt-4o", tmp_path / "c", api_base=server.url, api_version="2024-10-21").text == "fine"
        )
        (whole,) = server.requests
    assert "azure-0123456789" in whole
    assert OPENAI not in whole


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("localhost:8000/v1", "no address"),
        ("ftp://host/v1", "no address"),
        ("http://", "no address"),
        ("http://host:99999/v1", "no address"),
        ("http://user:pw-0123456789@host/v1", "user name or password"),
        ("http://host/v1?key=abcdef0123456789", "a query in the address"),
    ],
)
def test_addresses_that_are_none_or_hold_a_secret(base: Any, message: Any) -> None:
    with pytest.raises(CallError, match=message) as told:
        transport("hosted_vllm/m", api_base=base)
    assert "0123456789" not in str(told.value)


def test_a_server_may_not_send_the_prompt_on_to_another(tmp_path: Path) -> None:
    with listen(good) as other:

        def away(whole: str, asked: dict[str, Any]) -> Answer:
            return 307, {"Location": other.url + "/v1/chat/completions"}, b""

        def within(whole: str, asked: dict[str, Any]) -> Answer:
            return (
                good(whole, asked) if "/new/" in whole else (307, {"Location": "/new/chat/completions"}, b"")
            )

        with listen(away) as server:
            record = call("hosted_vllm/m", tmp_path / "c", api_base=server.url + "/v1")
            assert (record.status, record.attempts) == ("error", 1)
            assert "name it as api_base" in str(record.refusal)
        assert other.requests == []
        with listen(within) as server:
            assert call("hosted_vllm/m", tmp_path / "d", api_base=server.url + "/v1").text == "fine"


def test_a_stream_is_refused_and_one_that_breaks_off_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="stream; got True; leave it out"):
        transport("hosted_vllm/m", api_base="http://127.0.0.1:9", stream=True)

    def stream(whole: str, asked: dict[str, Any]) -> Answer:
        return (
            200,
            {"Content-Type": "text/event-stream"},
            b'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n',
        )

    with listen(stream) as server:
        record = call("hosted_vllm/m", tmp_path / "c", api_base=server.url)
    assert (record.status, record.attempts) == ("error", 1)
    assert "not finished" in str(record.refusal)  # a stream that nobody asked for is read: this one broke off


def test_an_address_with_the_path_of_the_call_is_refused() -> None:
    with pytest.raises(CallError, match="/chat/completions is added"):
        transport("hosted_vllm/m", api_base="http://127.0.0.1:9/v1/chat/completions")


PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
PICTURE = [
    {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": PIXEL}}, {"type": "text", "text": "x"}],
    }
]


def test_an_image_that_litellm_would_leave_out_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DEEPSEEK_API_KEY", "XAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-0123456789")
    with pytest.raises(CallError, match="leaves images out of what it sends to deepseek"):
        open_transport(address(Request("deepseek/deepseek-chat", PICTURE)), Limits())
    assert isinstance(
        open_transport(address(Request("deepseek/deepseek-chat", ASK)), Limits()), LitellmTransport
    )
    for model in ("xai/grok-4", "gemini/gemini-2.5-flash"):
        assert isinstance(open_transport(address(Request(model, PICTURE)), Limits()), LitellmTransport)
    with listen(good) as server:  # the fact that this rests on
        call("deepseek/deepseek-chat", tmp_path / "c", api_base=server.url)
        litellm = load_litellm()
        litellm.completion(
            model="deepseek/deepseek-chat",
            messages=PICTURE,
            api_base=server.url,
            api_key="none",
            max_retries=0,
        )
        assert PIXEL[-40:] not in server.requests[-1]
        assert isinstance(transport("openai/deepseek-vl", api_base=server.url), OpenAITransport)


def test_a_stranger_s_cache_chooses_neither_address_nor_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_small(tmp_path / "data" / "cases" / "mine")
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-0123456789")
    with listen(good) as evil, listen() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        folder = tmp_path / "evil" / "batches"
        folder.mkdir(parents=True)
        state = {"batch": "b1", "api_base": evil.url + "/x", "api_key_env": "AWS_SECRET_ACCESS_KEY"}
        stub = {
            "key": "k",
            "kind": "elicit",
            "dataset": "mine",
            "case_id": "c0",
            "condition": "direct",
            "model": "openai/gpt-4o",
        }
        for lines in ([state], [stub, state], [{**stub, "endpoint": evil.url + "/x"}, state]):
            (folder / "a.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
            study = Study.of(
                {
                    "dataset": "mine",
                    "models": ["openai/gpt-4o"],
                    "conditions": ["direct"],
                    "cache": str(folder.parent),
                }
            )
            with pytest.raises(CallError, match="nothing was sent"):
                run_batch(study)
        assert evil.requests == proxy.requests == []
