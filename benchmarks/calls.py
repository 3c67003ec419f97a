"""How fast models are called: ours beside a bare aiohttp client, AsyncOpenAI, litellm and Inspect.

    python benchmarks/calls.py                  # 461 calls, 50 in flight, 200 ms and 0 ms
    python benchmarks/calls.py --inspect PYTHON # with Inspect, installed in another environment
    python benchmarks/calls.py --memory         # peak memory at 461 and 46,100 calls
    python benchmarks/calls.py --images         # images a second
    python benchmarks/calls.py --replay         # 29,000 records checked, and read into a frame

Everything runs against a stub on loopback in a process of its own, in one go, so that the ratios
hold for the machine at hand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["OPENAI_API_KEY"] = "sk-benchmark-0000"
CALLS, FLIGHT = 461, 50
ANSWER = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "The price tag has to follow. " * 40},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 300, "total_tokens": 1300},
    }
).encode()


class Stub(asyncio.Protocol):
    """Reads a request by its Content-Length and answers after a while; nothing else."""

    delay = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.head, self.need = b"", -1

    def data_received(self, data: bytes) -> None:
        if self.need < 0:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return
            header = self.head[:end].lower()
            if b"expect: 100-continue" in header:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            length = int(header.split(b"content-length:")[1].split(b"\r\n")[0])
            self.need = length - (len(self.head) - end - 4)
        else:
            self.need -= len(data)
        if self.need <= 0:
            self.head, self.need = b"", -1
            asyncio.get_running_loop().call_later(self.delay, self.answer)

    def answer(self) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(ANSWER)}\r\n\r\n"
        if not self.transport.is_closing():
            self.transport.write(head.encode() + ANSWER)


async def stub(delay: float) -> None:
    Stub.delay = delay
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.sleep(3600)


def make_images(folder: Path, n: int = CALLS) -> list[Path]:
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)
    paths = []
    base = rng.integers(0, 255, (96, 128, 3), dtype=np.uint8)
    noise = rng.integers(0, 60, (768, 1024, 3), dtype=np.uint8)
    for i in range(n):
        image = np.asarray(Image.fromarray(np.roll(base, i, 1)).resize((1024, 768))) // 2 + noise
        path = folder / f"{i}.jpg"
        Image.fromarray(image.astype(np.uint8)).save(path, quality=53)
        paths.append(path)
    return paths


def make_cases(paths: list[Path], n: int) -> list:
    from icgkit.cases.case import Case, Target

    target = Target(element="a", region="b", action="c")
    return [
        Case(
            id=f"c{i}", image=paths[i % len(paths)].name, image_size=(1024, 768), source="stub",
            instruction=f"Change {i} to {i + 1}.", target=target,
        ).within(paths[0].parent, "stub")
        for i in range(n)
    ]  # fmt: skip


def message_lists(paths: list[Path]) -> list[list[dict]]:
    from icgkit.prompts.conditions import build_messages

    plain = []
    for case in make_cases(paths, len(paths)):
        messages = build_messages(case, "direct")
        part = messages[1]["content"][0]
        messages[1]["content"][0] = {
            "type": "image_url",
            "image_url": {"url": str.__str__(part["image_url"]["url"])},
        }
        plain.append(messages)
    return plain


class Clock:
    """Time gone and processor time used; the latter tells more on a machine that is shared."""

    processor = 0.0

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def stop(self) -> float:
        Clock.processor = time.process_time() - self.cpu
        return time.perf_counter() - self.wall


async def flood(jobs: list, one) -> float:
    queue = list(enumerate(jobs))[::-1]

    async def worker() -> None:
        while queue:
            await one(queue.pop()[1])

    clock = Clock()
    await asyncio.gather(*(worker() for _ in range(FLIGHT)))
    return clock.stop()


def bare_aiohttp(url: str, paths: list[Path]) -> float:
    import aiohttp

    async def go() -> float:
        jobs = message_lists(paths)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def one(messages: list) -> None:
                body = {"model": "stub", "messages": messages, "temperature": 0, "max_tokens": 4096}
                async with session.post(url + "/chat/completions", json=body) as reply:
                    await reply.json()

            return await flood(jobs, one)

    return asyncio.run(go())


def async_openai(url: str, paths: list[Path]) -> float:
    from openai import AsyncOpenAI

    async def go() -> float:
        jobs = message_lists(paths)
        async with AsyncOpenAI(base_url=url, max_retries=0) as client:

            async def one(messages: list) -> None:
                await client.chat.completions.create(
                    model="stub", messages=messages, temperature=0, max_tokens=4096
                )

            return await flood(jobs, one)

    return asyncio.run(go())


def bare_litellm(url: str, paths: list[Path], model: str = "openai/stub") -> float:
    import litellm

    litellm.suppress_debug_info = True

    async def go() -> float:
        jobs = message_lists(paths)

        async def one(messages: list) -> None:
            await litellm.acompletion(
                model=model, messages=messages, temperature=0, max_tokens=4096, api_base=url, num_retries=0
            )

        await one(jobs[0])
        return await flood(jobs, one)

    return asyncio.run(go())


def check_file(path: Path) -> None:
    """Decode a picture to its last row, as `icgkit.cases.images.check_all` does."""
    from PIL import Image

    with Image.open(path, formats=["PNG", "JPEG"]) as image:
        image.draft("RGB", (image.width // 8, image.height // 8))
        image.load()


def file_messages(path: Path, number: int) -> list[dict]:
    """What a user of another client writes: read and encode."""
    import base64

    data = path.read_bytes()
    image_url = {"url": f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"}
    text = {"type": "text", "text": f"Change {number} to {number + 1}."}
    return [{"role": "user", "content": [{"type": "image_url", "image_url": image_url}, text]}]


async def whole_flood(paths: list[Path], ask) -> float:
    """Check all images, then send and write down each answer, as `icgkit run` does."""
    clock = Clock()
    for path in paths:
        check_file(path)
    with tempfile.TemporaryFile() as log:

        async def one(job: tuple[int, Path]) -> None:
            reply = await ask(file_messages(job[1], job[0]))
            log.write(json.dumps({"path": job[1].name, "reply": reply}).encode() + b"\n")
            log.flush()

        await flood(list(enumerate(paths)), one)
        os.fsync(log.fileno())
    return clock.stop()


def whole_openai(url: str, paths: list[Path]) -> float:
    from openai import AsyncOpenAI

    async def go() -> float:
        async with AsyncOpenAI(base_url=url, max_retries=0) as client:

            async def ask(messages: list) -> dict:
                reply = await client.chat.completions.create(
                    model="stub", messages=messages, temperature=0, max_tokens=4096
                )
                return reply.model_dump()

            await ask(file_messages(paths[0], 0))
            return await whole_flood(paths, ask)

    return asyncio.run(go())


def whole_litellm(url: str, paths: list[Path]) -> float:
    import litellm

    litellm.suppress_debug_info = True

    async def go() -> float:
        async def ask(messages: list) -> dict:
            reply = await litellm.acompletion(
                model="openai/stub",
                messages=messages,
                temperature=0,
                max_tokens=4096,
                api_base=url,
                num_retries=0,
            )
            return reply.model_dump()

        await ask(file_messages(paths[0], 0))
        return await whole_flood(paths, ask)

    return asyncio.run(go())


def ours(url: str, paths: list[Path], straight: bool = True) -> float:
    """Calls made and recorded on disk, from messages that are there, as for the other ways."""
    from icgkit.calls import transports
    from icgkit.calls.cache import Cache
    from icgkit.calls.engine import complete_many
    from icgkit.calls.keys import load_litellm
    from icgkit.calls.limits import Limits
    from icgkit.calls.request import Request
    from icgkit.prompts.conditions import build_messages

    load_litellm()
    if not straight:
        transports.OPENAI_FORM = frozenset()
    params = {"temperature": 0, "max_tokens": 4096, "api_base": url}
    requests = [
        Request("openai/stub", build_messages(case, "direct"), params, tags={"case_id": case.id})
        for case in make_cases(paths, len(paths))
    ]
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(concurrency=FLIGHT)
        complete_many(requests[:1], cache=Cache(folder + "/w"), limits=limits, progress=False)
        clock = Clock()
        records = complete_many(requests, cache=Cache(folder + "/c"), limits=limits, progress=False)
        seconds = clock.stop()
        assert all(r.status == "ok" for r in records)
    return seconds


def ours_litellm(url: str, paths: list[Path]) -> float:
    return ours(url, paths, straight=False)


def whole(url: str, paths: list[Path]) -> float:
    """Eliciting as `icgkit run` does it: images read, decoded, prepared, messages built, frame read."""
    from icgkit.calls.cache import Cache
    from icgkit.calls.keys import load_litellm
    from icgkit.calls.limits import Limits
    from icgkit.cases.dataset import Dataset
    from icgkit.study.elicit import elicit
    from icgkit.study.plan import Elicitation

    load_litellm()
    dataset = Dataset("stub", "1", "", "", paths[0].parent, tuple(make_cases(paths, len(paths))))
    params = {"temperature": 0, "max_tokens": 4096, "api_base": url}
    limits = Limits(concurrency=FLIGHT)
    with tempfile.TemporaryDirectory() as folder:
        one = Dataset("warm", "1", "", "", paths[0].parent, tuple(make_cases(paths, 1)))
        elicit(one, ["direct"], ["openai/stub"], cache=Cache(folder + "/w"), how=Elicitation(params), limits=limits, progress=False)  # fmt: skip
        clock = Clock()
        frame = elicit(
            dataset,
            ["direct"],
            ["openai/stub"],
            cache=Cache(folder + "/c"),
            how=Elicitation(params),
            limits=limits,
            progress=False,
        )
        seconds = clock.stop()
    assert (frame["status"] == "ok").all()
    return seconds


INSPECT = """
import sys, time, json, tempfile, logging
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample, MemoryDataset
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, get_model, GenerateConfig
from inspect_ai.solver import generate
url, flight, *paths = sys.argv[1:]
samples = [Sample(input=[ChatMessageUser(content=[ContentImage(image=p), ContentText(text=f"Change {i}.")])]) for i, p in enumerate(paths)]
model = get_model("openai/stub", base_url=url, responses_api=False, config=GenerateConfig(max_connections=int(flight), temperature=0, max_tokens=4096))
task = Task(dataset=MemoryDataset(samples), solver=generate())
t = time.perf_counter()
with tempfile.TemporaryDirectory() as d:
    logs = eval(task, model=model, log_dir=d, display="none", max_samples=int(flight), max_connections=int(flight))
assert logs[0].status == "success", logs[0].error
print("SECONDS", time.perf_counter() - t)
"""


def inspect(url: str, paths: list[Path], python: str) -> float:
    out = subprocess.run(
        [python, "-c", INSPECT, url, str(FLIGHT), *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "SECONDS" not in out.stdout:
        raise RuntimeError(out.stderr[-2000:])
    return float(out.stdout.split("SECONDS")[1])


WAYS = {
    "bare aiohttp": bare_aiohttp,
    "AsyncOpenAI": async_openai,
    "litellm.acompletion": bare_litellm,
    "icgkit": ours,
    "icgkit through litellm": ours_litellm,
    "AsyncOpenAI, whole": whole_openai,
    "litellm, whole": whole_litellm,
    "icgkit, whole": whole,
}


def in_process(name: str, url: str, folder: Path, calls: int) -> tuple[float, float]:
    """Measure one way in a fresh process, so that none profits from another."""
    out = subprocess.run(
        [sys.executable, __file__, "--one", name, "--url", url, "--folder", str(folder), "--calls", str(calls)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "SECONDS" not in out.stdout:
        raise RuntimeError(out.stdout + out.stderr[-3000:])
    seconds, processor = out.stdout.split("SECONDS")[1].split()
    return float(seconds), float(processor)


def start_stub(delay: float) -> tuple[subprocess.Popen, str]:
    server = subprocess.Popen(
        [sys.executable, __file__, "--stub", str(delay)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    return server, f"http://127.0.0.1:{int(server.stdout.readline())}/v1"


def speed(
    inspect_python: str | None, repeats: int, calls: int, only: str = "", delays: str = "0.2,0"
) -> None:
    ways = [name for name in WAYS if only in name]
    with tempfile.TemporaryDirectory() as folder:
        paths = make_images(Path(folder), calls)
        size = sum(p.stat().st_size for p in paths) / len(paths)
        print(f"{calls} calls, {FLIGHT} in flight, image {size / 1e3:.0f} KB, best of {repeats}", flush=True)
        for delay in map(float, delays.split(",")):
            server, url = start_stub(delay)
            waves = -(-calls // FLIGHT)
            ideal = calls / (waves * delay) if delay else None
            best: dict[str, tuple[float, float]] = {}
            print(f"\nserver latency {delay * 1e3:.0f} ms" + (f", ideal {ideal:.0f}/s" if ideal else ""))
            try:
                tried: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
                for _ in range(repeats):  # interleaved: a busy minute strikes all alike
                    for name in ways:
                        tried[name].append(in_process(name, url, Path(folder), calls))
                for name, tries in tried.items():
                    best[name] = (calls / min(t[0] for t in tries), min(t[1] for t in tries) / calls * 1e3)
                    share = f"  {best[name][0] / ideal:6.1%} of the ideal" if ideal else ""
                    print(
                        f"  {name:24s} {best[name][0]:7.1f}/s  {best[name][1]:6.2f} ms processor a call{share}",
                        flush=True,
                    )
                if inspect_python:
                    best["Inspect"] = (calls / inspect(url, paths, inspect_python), 0.0)
                    print(f"  {'Inspect':24s} {best['Inspect'][0]:7.1f}/s", flush=True)
            finally:
                server.terminate()
                server.wait()
            for name in ("litellm, whole", "AsyncOpenAI, whole"):
                if name in best and "icgkit, whole" in best:
                    (ours_, work), (theirs, their_work) = best["icgkit, whole"], best[name]
                    print(
                        f"  icgkit is {ours_ / theirs:.2f} x {name} by the clock, {their_work / work:.2f} x by work"
                    )
            if "icgkit" not in best or "litellm.acompletion" not in best:
                continue
            rate, work = best["icgkit"]
            for name in ("litellm.acompletion", "Inspect"):
                if name in best:
                    print(f"  icgkit is {rate / best[name][0]:.1f} x {name} by the clock")
            print(
                f"  and {best['litellm.acompletion'][1] / work:.1f} x litellm.acompletion by processor time",
                flush=True,
            )


def memory() -> None:
    server, url = start_stub(0.0)
    try:
        for n in (CALLS, 100 * CALLS):
            out = subprocess.run(
                [sys.executable, __file__, "--peak", str(n), "--url", url],
                capture_output=True,
                text=True,
                check=False,
            )
            print(out.stdout.strip() or out.stderr[-2000:])
    finally:
        server.terminate()
        server.wait()


def peak(url: str, n: int) -> None:
    from icgkit.calls.cache import Cache
    from icgkit.calls.limits import Limits
    from icgkit.cases.dataset import Dataset
    from icgkit.study.elicit import run_plan
    from icgkit.study.plan import Elicitation, make_plan

    with tempfile.TemporaryDirectory() as folder:
        paths = make_images(Path(folder))
        dataset = Dataset("stub", "1", "", "", Path(folder), tuple(make_cases(paths, n)))
        plan = make_plan(dataset, ["direct"], ["openai/stub"], Elicitation({"api_base": url}))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = time.perf_counter()
        run_plan(plan, Cache(folder + "/c"), limits=Limits(concurrency=FLIGHT), progress=False)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rate = n / (time.perf_counter() - start)
        print(
            f"{n:6d} calls: peak {after:.0f} MB, {after - before:.0f} MB above the start; {rate:.0f} calls/s"
        )


def images() -> None:
    from icgkit.cases.images import prepare, prepare_ahead

    with tempfile.TemporaryDirectory() as folder:
        paths = make_images(Path(folder))
        cases = make_cases(paths, len(paths))
        for side, name in ((1024, "passed through"), (512, "scaled down")):
            start = time.perf_counter()
            prepare_ahead(cases, side)
            for path in paths:
                _ = prepare(path, side).data_url
            print(f"images {name}: {len(paths) / (time.perf_counter() - start):.0f}/s")
            start = time.perf_counter()
            for path in paths:
                _ = prepare(path, side).data_url
            print(f"  once more: {len(paths) / (time.perf_counter() - start):.0f}/s")


def replay(n: int = 29_000) -> None:
    from icgkit.calls.cache import Cache
    from icgkit.calls.recorded import load_responses
    from icgkit.calls.request import address, record_for
    from icgkit.cases.dataset import Dataset
    from icgkit.study.chains import requests
    from icgkit.study.elicit import run_plan
    from icgkit.study.plan import make_plan

    with tempfile.TemporaryDirectory() as folder:
        paths = make_images(Path(folder))
        dataset = Dataset("stub", "1", "", "", Path(folder), tuple(make_cases(paths, CALLS)))
        conditions = ["direct", "cot", "icg_self", "nl_self", "signal_guided", "taxonomy_only", "oracle"]
        models = [f"openai/stub{i}" for i in range(-(-n // (CALLS * len(conditions))))]
        plan = make_plan(dataset, conditions, models)
        cache = Cache(folder + "/c")
        for model in plan.models:
            for _, request in requests(plan, model):
                cache.put(
                    record_for(address(request), text="The price tag has to follow. " * 40, created=1.0)
                )
        for packed in (False, True):
            if packed:
                cache.pack()
            start = time.perf_counter()
            _, summary = run_plan(plan, Cache(folder + "/c"), progress=False)
            done = time.perf_counter() - start
            assert summary.called == 0
            start = time.perf_counter()
            frame = load_responses(folder + "/c")
            read = time.perf_counter() - start
            print(
                f"{frame.height} records {'packed' if packed else 'as lines'}: "
                f"declared complete in {done:.2f} s ({frame.height / done:.0f}/s), read in {read:.2f} s"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stub", type=float)
    parser.add_argument("--one")
    parser.add_argument("--url")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--inspect")
    parser.add_argument("--only", default="", help="only ways whose name holds this, such as whole")
    parser.add_argument("--delays", default="0.2,0", help="seconds of the stub's answers")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--peak", type=int)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--images", action="store_true")
    parser.add_argument("--replay", action="store_true")
    args = parser.parse_args()
    if args.stub is not None:
        asyncio.run(stub(args.stub))
    elif args.one:
        paths = sorted(args.folder.glob("*.jpg"), key=lambda p: int(p.stem))
        seconds = WAYS[args.one](args.url, paths[: args.calls])
        print("SECONDS", seconds, Clock.processor)
    elif args.peak:
        peak(args.url, args.peak)
    elif args.memory or args.images or args.replay:
        for wanted, work in ((args.memory, memory), (args.images, images), (args.replay, replay)):
            if wanted:
                work()
    else:
        speed(args.inspect, args.repeats, args.calls, args.only, args.delays)


if __name__ == "__main__":
    main()
