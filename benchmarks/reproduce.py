"""Time papermill one notebook after the other against `icgkit reproduce`, in one run.

    python benchmarks/reproduce.py [--param name=value ...] [--only WORD ...]

Both run the same notebooks with the same parameters from a fresh process, both may write bytecode,
and ours is run once before the clock starts, so that neither pays for compiling. The results are
compared byte by byte. Exit code 1 if a target is missed: 4 times as fast, nothing changed in under
2 s, equal bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from icgkit.reproduce.notebooks import find_notebooks, parse_parameters, share_parameters

PLAIN = """
import json, sys
import papermill
for path, parameters in json.load(sys.stdin):
    papermill.execute_notebook(path, None, parameters=parameters, kernel_name="python3", progress_bar=False)
"""


def timed(command: list[str], **options: str) -> float:
    """Run a command and return how long it took, seconds."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(command, check=True, text=True, capture_output=True, env=env, **options)
    return time.perf_counter() - start


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--param", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--repeat", type=int, default=1)
    given = parser.parse_args()
    notebooks = find_notebooks(None, given.only)
    shared = share_parameters(notebooks, parse_parameters(given.param))
    with tempfile.TemporaryDirectory() as folder:
        plain, ours = Path(folder, "plain"), Path(folder, "ours")
        tasks = json.dumps([[str(n.path), {**shared[n.name], "out": str(plain)}] for n in notebooks])
        words = [w for name in ("param", "only") for v in getattr(given, name) for w in (f"--{name}", v)]
        reproduce = [sys.executable, "-m", "icgkit.cli", "reproduce", "--out", str(ours), *words]
        timed([*reproduce, "--force"])
        rows = []
        for _ in range(given.repeat):
            rows.append(
                (
                    timed([sys.executable, "-c", PLAIN], input=tasks),
                    timed([*reproduce, "--force"]),
                    timed(reproduce),
                )
            )
        names = sorted(p.name for p in plain.iterdir())
        same = [n for n in names if (plain / n).read_bytes() == (ours / n).read_bytes()]
    before, after, idle = (min(column) for column in zip(*rows, strict=True))
    count = len(notebooks)
    print(f"{count} notebooks, {os.cpu_count()} processors, best of {given.repeat}")
    print(f"papermill one after the other  {before:7.1f} s  {before / count:6.2f} s a notebook")
    print(f"icgkit reproduce --force       {after:7.1f} s  {after / count:6.2f} s a notebook")
    print(f"icgkit reproduce, no change    {idle:7.1f} s")
    print(f"ratio {before / after:.1f} (target 4); {len(same)} of {len(names)} files have equal bytes")
    for name in sorted(set(names) - set(same)):
        print(f"  differs: {name}")
    return int(before / after < 4 or idle > 2 or len(same) < len(names))


if __name__ == "__main__":
    raise SystemExit(main())
