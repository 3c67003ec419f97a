"""Offline models (custom provider `offline` of litellm) in worker processes.

litellm takes some 10 ms for a call, these models mostly less than 1, so the workers ask the
provider's handler itself; a test holds that `litellm.completion` gives the same text.

They answer synchronously and use the processor, so each worker is a process of its own that
takes one line of JSON a call and gives one back. A worker is chosen by image, so that what it
has read from an image serves all conditions and models.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import zlib
from typing import Any

from icgkit.calls.local_models import local_models
from icgkit.calls.reply import Failed
from icgkit.calls.request import Addressed
from icgkit.errors import CallError
from icgkit.files import bootstrap, python

_LINE_LIMIT = 1 << 26


class Pool:
    """Worker processes, started when first needed, shared by all offline models of a run."""

    def __init__(self, size: int | None = None) -> None:
        self._size = size or max(1, min(8, os.cpu_count() or 1))
        self._workers: dict[int, tuple[asyncio.subprocess.Process, asyncio.Lock]] = {}
        self._starting = asyncio.Lock()

    async def _worker(self, number: int) -> tuple[asyncio.subprocess.Process, asyncio.Lock]:
        async with self._starting:
            known = self._workers.get(number)
            if known and known[0].returncode is None:
                return known
            env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "OMP_NUM_THREADS": "1"}
            process = await asyncio.create_subprocess_exec(
                *python("-c", bootstrap("from icgkit.calls.worker import main; main()")),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=env,
                limit=_LINE_LIMIT,
                start_new_session=True,
            )
            self._workers[number] = (process, asyncio.Lock())
            return self._workers[number]

    async def ask(self, job: dict[str, Any], affinity: str) -> dict[str, Any]:
        """Send one job to the worker that its affinity leads to."""
        process, lock = await self._worker(zlib.crc32(affinity.encode()) % self._size)
        assert process.stdin is not None
        assert process.stdout is not None
        async with lock:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        if not line:
            raise Failed("the offline worker ended", passing=True)
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise Failed(answer["failed"], passing=False)
        return answer

    async def close(self) -> None:
        """End the workers; the others that share the pool may all call this."""
        workers = list(self._workers.values())
        self._workers.clear()
        for process, _ in workers:
            if process.returncode is None and process.stdin:
                process.stdin.close()
        for process, _ in workers:
            try:
                await asyncio.wait_for(process.wait(), 10)
            except TimeoutError:
                process.kill()


class OfflineTransport:
    """One offline model."""

    provider = "offline"

    def __init__(self, model: str, params: dict[str, Any], pool: Pool | None = None) -> None:
        offline = local_models(self.provider)
        known = [name if "/" in name else f"offline/{name}" for name in (*offline.MODELS, *offline.JUDGES)]
        if model not in known:
            raise CallError(f"unknown model {model!r}", allowed=known)
        self._model, self.params = model, params
        self.pool = pool

    async def send(self, asked: Addressed) -> dict[str, Any]:
        """Ask a worker."""
        if self.pool is None:
            self.pool = Pool(1)
        job = {"model": self._model, "messages": asked.request.messages}
        affinity = asked.request.tags.get("case_id") or asked.prompt.sha256
        return await self.pool.ask(job, str(affinity)) | {"_cost": 0.0}

    async def close(self) -> None:
        """End the workers."""
        if self.pool is not None:
            await self.pool.close()


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Answer one job: what litellm's custom provider would answer, without the way through litellm."""
    try:
        text = local_models().reply(job["model"], job["messages"])
    except Exception as exc:
        return {"failed": f"{type(exc).__name__}: {exc}"}
    message = {"role": "assistant", "content": text}
    return {"model": job["model"], "choices": [{"message": message, "finish_reason": "stop"}]}


def main() -> None:
    """Serve jobs from stdin until it ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get among the answers
    for line in sys.stdin.buffer:
        out.write(json.dumps(answer(json.loads(line))).encode() + b"\n")
        out.flush()
