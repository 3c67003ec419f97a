"""Kill a run of 400 calls with SIGKILL at 50 random moments, and count what was paid twice.

    python benchmarks/kill.py [SEED]

Each run is a forked process that calls a server in another process; it is killed up to 0.1 s after
its first call has arrived. At the end every call has to be recorded exactly once, and the calls
seen beyond 400 must be no more than those in flight at the kills.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

CALLS, KILLS, FLIGHT = 400, 50, 8


def work(url: str, folder: str) -> None:
    from icgkit.calls.cache import Cache
    from icgkit.calls.engine import complete_many
    from icgkit.calls.limits import Limits
    from icgkit.calls.request import Request

    requests = [
        Request("hosted_vllm/m", [{"role": "user", "content": f"call {i}"}], {"api_base": url})
        for i in range(CALLS)
    ]
    complete_many(requests, cache=Cache(folder), limits=Limits(concurrency=FLIGHT), progress=False)


def main(seed: int) -> int:
    from icgkit.calls.cache import Cache
    from icgkit.calls.keys import load_litellm

    load_litellm()
    rng = random.Random(seed)
    script = Path(__file__).resolve().parents[1] / "tests" / "fault_server.py"
    server = subprocess.Popen([sys.executable, str(script), "0", "0.05"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().strip()

    def seen() -> dict[str, int]:
        with urllib.request.urlopen(url.removesuffix("/v1") + "/counts") as reply:
            return json.load(reply)["seen"]

    kills = ended = 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            while True:
                before = sum(seen().values())
                pid = os.fork()
                if pid == 0:
                    try:
                        work(url, folder)
                    finally:
                        os._exit(0)
                if kills < KILLS:
                    while sum(seen().values()) == before:
                        if os.waitpid(pid, os.WNOHANG)[0]:
                            ended += 1
                            break
                        time.sleep(0.002)
                    else:
                        time.sleep(rng.uniform(0, 0.1))
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
                        kills += 1
                        time.sleep(0.1)  # the server finishes what it was sent
                        continue
                    break
                os.waitpid(pid, 0)
                break
            counts = seen()
            recorded = Counter(_lines(folder))
            frame = Cache(folder).frame()
            total, extra = sum(counts.values()), sum(counts.values()) - CALLS
            print(
                f"{kills} kills; {len(recorded)} calls recorded, {sum(recorded.values())} lines, {frame.height} rows"
            )
            print(
                f"server saw {total} calls, {extra} beyond {CALLS}; allowed {kills} x {FLIGHT} = {kills * FLIGHT}"
            )
            good = (
                len(recorded) == CALLS == frame.height == sum(recorded.values()) and extra <= kills * FLIGHT
            )
            again = sum(seen().values())
            work(url, folder)
            good = good and sum(seen().values()) == again
            print("run once more: no call" if good else "FAILED")
            return 0 if good else 1
    finally:
        server.terminate()
        server.wait()


def _lines(folder: str) -> list[str]:
    keys = []
    for path in Path(folder).glob("calls-*.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            keys.append(json.loads(line)["key"])
    return keys


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
