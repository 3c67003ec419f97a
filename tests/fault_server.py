"""A real HTTP server on loopback that speaks the OpenAI form and fails by script.

The first fault that a request asks for is taken from its prompt: `[[429:2]]` answers 429 twice and
then properly. Counts of what was seen are kept by prompt. Run it in a thread with `serve()`, or as
a process: `python tests/fault_server.py PORT`, which prints its address.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from aiohttp import web

FAULT = re.compile(r"\[\[([a-z0-9_]+)(?::(\d+))?(?:=([0-9.]+))?\]\]")


@dataclass
class State:
    """What the server has seen."""

    delay: float = 0.0
    seen: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=dict)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    in_flight: int = 0
    most_in_flight: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    billed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Tokens in and out of every reply that was sent, by prompt: what a provider would bill."""
    most_a_second: int = 0
    """Calls that are taken in a second, others get 429; 0 for any number."""
    taken: list[float] = field(default_factory=list)
    url: str = ""


def prompt_of(body: dict[str, Any]) -> str:
    """Return the text of the last message."""
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def reply(body: dict[str, Any], text: str | None = "ok", **change: Any) -> dict[str, Any]:
    """Build an answer in the OpenAI form."""
    message = {"role": "assistant", "content": text, **change.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": change.pop("finish_reason", "stop")}
    usage = tokens(body)
    answer = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
    }
    return {**answer, "usage": usage, **change}


def tokens(body: dict[str, Any], sent: int = 100, got: int = 20) -> dict[str, int]:
    """Build the usage of a reply; each of `n` replies counts."""
    got *= int(body.get("n") or 1)
    return {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}


def good(body: dict[str, Any]) -> dict[str, Any]:
    """Answer properly: the text names the prompt, so that mix-ups show."""
    return reply(body, f"echo {prompt_of(body)[:80]}")


async def _reset(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()


async def _fault(
    name: str, value: str | None, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    headers: dict[str, str] = {}
    if name == "after":  # Retry-After in seconds
        return web.json_response(
            {"error": {"message": "slow down"}}, status=429, headers={"Retry-After": value or "1"}
        )
    if name == "date":  # Retry-After as an HTTP date
        when = formatdate(time.time() + float(value or 2), usegmt=True)
        return web.json_response(
            {"error": {"message": "slow down"}}, status=429, headers={"Retry-After": when}
        )
    if name == "afterms":
        error = {"error": {"message": "slow down"}}
        return web.json_response(
            error, status=429, headers={"Retry-After": "2", "retry-after-ms": value or "1"}
        )
    if name == "noquota":
        error = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
        return web.json_response(error, status=429)
    if name.isdigit():
        error = {"error": {"message": f"status {name}", "type": "x", "code": name}}
        return web.json_response(error, status=int(name), headers=headers)
    if name == "reset":
        await _reset(request)
        return web.Response()
    if name == "half":
        data = json.dumps(good(body)).encode()
        response = web.StreamResponse(
            headers={"Content-Length": str(len(data)), "Content-Type": "application/json"}
        )
        await response.prepare(request)
        await response.write(data[: len(data) // 2])
        await _reset(request)
        return response
    if name == "never":
        await asyncio.sleep(3600)
    if name == "slow":
        await asyncio.sleep(float(value or 1))
        return web.json_response(good(body))
    simple: dict[str, Any] = {
        "long": reply(body, "many words", usage=tokens(body, 100, int(value or 300))),
        "dear": reply(body, "few words", usage=tokens(body, int(value or 20_000))),
        "cheap": reply(
            body, "free", usage={"prompt_tokens": -(10**9), "completion_tokens": 5}, _cost=-1000.0
        ),
        "error402": {"error": {"message": "402: no credits left", "code": 402}},
        "nochoices": reply(body, "x") | {"choices": []},
        "nullchoices": reply(body, "x") | {"choices": None},
        "none": reply(body, None),
        "blank": reply(body, "  "),
        "length": reply(body, "half an ans", finish_reason="length"),
        "thinking": reply(
            body,
            "",
            finish_reason="length",
            usage={
                "prompt_tokens": 100,
                "completion_tokens": 4096,
                "total_tokens": 4196,
                "completion_tokens_details": {"reasoning_tokens": 4096},
            },
        ),
        "filter": reply(body, None, finish_reason="content_filter"),
        "refusal": reply(body, None, message={"refusal": "I cannot help with that."}),
        "other": reply(body, "hello", model="some-other-model"),
        "error200": {"error": {"message": "upstream failed", "code": 502}},
        "weird": reply(body, "line\u2028sep\u0085arated \ud83d\ude00 \u0000 end"),
    }
    if name in simple:
        return web.json_response(simple[name])
    if name == "notjson":
        return web.Response(text="<html>gateway</html>", content_type="application/json")
    if name == "list":
        return web.json_response([1, 2])
    if name == "surrogate":
        half = json.dumps(reply(body, "SUR")).replace("SUR", "bad \\ud800 half")
        return web.Response(text=half, content_type="application/json")
    if name == "badkey":
        key = request.headers.get("Authorization", "")
        return web.json_response({"error": {"message": f"Incorrect API key provided: {key}"}}, status=401)
    raise ValueError(name)


def _bill(state: State, prompt: str, sent: bytes) -> None:
    try:
        usage = json.loads(sent)["usage"]
    except (ValueError, TypeError, KeyError):
        return
    state.billed.setdefault(prompt, []).append((usage["prompt_tokens"], usage["completion_tokens"]))


def make_app(state: State) -> web.Application:
    """Build the server."""

    async def chat(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = prompt_of(body)
        state.seen[prompt] += 1
        state.times.setdefault(prompt, []).append(time.time())
        state.bodies[prompt] = {k: v for k, v in body.items() if k != "messages"}
        state.in_flight += 1
        state.most_in_flight = max(state.most_in_flight, state.in_flight)
        try:
            now = time.monotonic()
            state.taken = [t for t in state.taken if now - t < 1.0]
            if state.most_a_second and len(state.taken) >= state.most_a_second:
                return web.json_response({"error": {"message": "slow down"}}, status=429)
            state.taken.append(now)
            response = await answer(request, body, prompt)
            if isinstance(response, web.Response) and response.status == 200 and response.body:
                _bill(state, prompt, bytes(response.body))  # type: ignore[arg-type]
            elif not isinstance(response, web.Response):  # cut off half-way, and billed all the same
                _bill(state, prompt, json.dumps(good(body)).encode())
            return response
        finally:
            state.in_flight -= 1

    async def answer(request: web.Request, body: dict[str, Any], prompt: str) -> web.StreamResponse:
        if state.delay:
            await asyncio.sleep(state.delay)
        before = 0
        for name, times, value in FAULT.findall(prompt):
            before += int(times or 10**9)
            if state.seen[prompt] <= before:
                return await _fault(name, value or None, request, body)
        return web.json_response(good(body))

    async def upload(request: web.Request) -> web.Response:
        form = await request.post()
        part: Any = form["file"]
        name = f"file-{len(state.files)}"
        state.files[name] = part.file.read()
        return web.json_response(_file(name, state))

    async def content(request: web.Request) -> web.Response:
        return web.Response(body=state.files[request.match_info["id"]])

    async def create(request: web.Request) -> web.Response:
        asked = await request.json()
        name = f"batch-{len(state.batches)}"
        lines = [json.loads(x) for x in state.files[asked["input_file_id"]].decode().splitlines()]
        good_lines, bad_lines = [], []
        for line in lines:
            fault = FAULT.search(prompt_of(line["body"]))
            state.seen[prompt_of(line["body"])] += 1
            if fault and fault.group(1).isdigit():
                error = {"error": {"message": "failed"}}
                bad_lines.append(_line(line, int(fault.group(1)), error))
            else:
                good_lines.append(_line(line, 200, good(line["body"])))
        state.files[name + "-out"] = "\n".join(map(json.dumps, good_lines)).encode()
        state.files[name + "-err"] = "\n".join(map(json.dumps, bad_lines)).encode()
        state.batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": "24h",
            "status": "in_progress",
            "created_at": int(time.time()),
            "polls": 0,
            "request_counts": {"total": len(lines), "completed": len(good_lines), "failed": len(bad_lines)},
        }
        return web.json_response({k: v for k, v in state.batches[name].items() if k != "polls"})

    async def poll(request: web.Request) -> web.Response:
        batch = state.batches[request.match_info["id"]]
        batch["polls"] += 1
        if batch["polls"] >= 2:
            name = batch["id"]
            batch |= {"status": "completed", "output_file_id": name + "-out", "error_file_id": name + "-err"}
        return web.json_response({k: v for k, v in batch.items() if k != "polls"})

    async def counts(request: web.Request) -> web.Response:
        return web.json_response({"seen": state.seen, "most": state.most_in_flight})

    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_post("/v1/files", upload)
    app.router.add_get("/v1/files/{id}/content", content)
    app.router.add_post("/v1/batches", create)
    app.router.add_get("/v1/batches/{id}", poll)
    app.router.add_get("/counts", counts)
    return app


def _file(name: str, state: State) -> dict[str, Any]:
    size = len(state.files[name])
    return {
        "id": name,
        "object": "file",
        "bytes": size,
        "created_at": 1,
        "filename": "f",
        "purpose": "batch",
        "status": "processed",
    }


def _line(line: dict[str, Any], status: int, body: dict[str, Any]) -> dict[str, Any]:
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "r", "custom_id": line["custom_id"], "response": response, "error": None}


async def _start(state: State, port: int = 0) -> web.AppRunner:
    runner = web.AppRunner(make_app(state), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    address = runner.addresses[0]
    state.url = f"http://127.0.0.1:{address[1]}/v1"
    return runner


@contextmanager
def serve(delay: float = 0.0) -> Iterator[State]:
    """Serve in a thread for the time of a `with` block."""
    state = State(delay)
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    runners: list[web.AppRunner] = []

    async def start() -> None:
        runners.append(await _start(state))
        ready.set()

    def run() -> None:
        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield state
    finally:
        asyncio.run_coroutine_threadsafe(runners[0].cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _main(port: int, delay: float) -> None:
    state = State(delay)
    await _start(state, port)
    print(state.url, flush=True)
    await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.0))
