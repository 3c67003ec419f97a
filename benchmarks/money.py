"""What is spent against what may be spent: a loopback server counts, the ledger is compared with it.

`python -m benchmarks.money` prints one row a case: budget, dollars by the server's count, dollars
booked, and their ratios. The server's words are made up; prices are litellm's for gpt-4o.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from icgkit.calls.cache import Cache
from icgkit.calls.engine import call_many
from icgkit.calls.limits import Limits
from icgkit.calls.prices import Price
from icgkit.calls.request import Request
from icgkit.errors import CallError
from tests.fault_server import State, serve

IN, OUT = 2.5e-6, 1e-5
CASES: list[tuple[str, str, int, dict[str, Any], float]] = [
    ("typical replies, 300 tokens", "[[long=300]]", 400, {"max_tokens": 4096}, 1.0),
    ("every reply at its limit", "[[long=4096]]", 40, {"max_tokens": 4096}, 1.0),
    ("three empty replies, then 500", "[[none:3]][[500]]", 900, {"max_tokens": 4096}, 1.0),
    ("empty replies", "[[none]]", 700, {"max_tokens": 4096}, 1.0),
    ("no max_tokens, replies of 6,000", "[[long=6000]]", 60, {}, 1.0),
    ("20,000 tokens in where 20 are estimated", "[[dear=20000]]", 60, {"max_tokens": 100}, 1.0),
    ("usage below 0", "[[cheap]]", 40, {"max_tokens": 1000}, 0.1),
]


def asked(server: State, fault: str, n: int, params: dict[str, Any], model: str) -> list[Request]:
    mark = os.urandom(4).hex()
    return [
        Request(
            model, [{"role": "user", "content": f"{fault} {mark} {i}"}], {"api_base": server.url, **params}
        )
        for i in range(n)
    ]


def truth(server: State, requests: list[Request]) -> float:
    prompts = [str(r.messages[-1]["content"]) for r in requests]
    return sum(max(0, i) * IN + o * OUT for p in prompts for i, o in server.billed.get(p, []))


def main() -> None:
    os.environ.setdefault("OPENAI_API_KEY", "none-needed")
    print(
        f"{'case':42s} {'budget':>7s} {'spent':>8s} {'booked':>8s} {'spent/budget':>13s} {'booked/spent':>13s}"
    )
    with serve() as server, tempfile.TemporaryDirectory() as folder:
        for k, (name, fault, n, params, budget) in enumerate(CASES):
            requests = asked(server, fault, n, params, "gpt-4o")
            limits = Limits(concurrency=50, backoff=0.02, budget=budget)
            call_many(requests, cache=Cache(Path(folder) / str(k)), limits=limits, progress=False)
            row(name, budget, truth(server, requests), Path(folder) / str(k))
        requests = asked(server, "[[long=300]]", 400, {"max_tokens": 4096}, "gpt-4o")
        for _ in range(3):
            limits = Limits(concurrency=50, backoff=0.02, budget=1.0)
            call_many(requests, cache=Cache(Path(folder) / "again"), limits=limits, progress=False)
        row("three runs, one cache", 1.0, truth(server, requests), Path(folder) / "again")
        requests = asked(server, "[[long=300]]", 400, {"max_tokens": 4096}, "openai/own")
        try:
            call_many(requests, cache=Cache(Path(folder) / "own"), limits=Limits(budget=0.01), progress=False)
        except CallError as exc:
            print(
                f"model without a price: refused, {truth(server, requests):.2f} spent ({str(exc)[:60]} ...)"
            )
        limits = Limits(concurrency=50, budget=1.0, prices={"openai/own": Price(IN, OUT)})
        call_many(requests, cache=Cache(Path(folder) / "own"), limits=limits, progress=False)
        row("the same with a price", 1.0, truth(server, requests), Path(folder) / "own")


def row(name: str, budget: float, spent: float, folder: Path) -> None:
    ledger = Cache(folder).ledger
    ledger.refresh()
    cost = ledger.spent.cost
    ratio = f"{cost / spent:13.2f}" if spent else f"{'-':>13s}"
    print(f"{name:42s} {budget:7.2f} {spent:8.4f} {cost:8.4f} {spent / budget:13.2f} {ratio}", flush=True)


if __name__ == "__main__":
    main()
