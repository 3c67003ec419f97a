from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import subprocess
import sys

import pytest

from icgkit.cache import Cache, Record
from icgkit.errors import SchemaError

WEIRD = "line\u2028sep\u0085arated \U0001f600 \x00 \r\n end"


def record(number: int, **change) -> Record:
    base = {"key": f"k{number}", "kind": "elicit", "dataset": "d", "case_id": f"c{number}", "condition": "direct",
            "model": "m", "text": f"answer {number}"}  # fmt: skip
    return Record(**{**base, **change})


def test_what_is_put_comes_back(tmp_path) -> None:
    cache = Cache(tmp_path / "x")
    full = record(
        1, text=WEIRD, raw='{"a":1}', cost=0.5, latency=1.5, created=3.0, extra='{"b":2}', attempts=2
    )
    cache.put(full)
    assert cache.get("k1") == full
    assert cache.get("k2") is None
    assert Cache(cache.folder).get("k1") == full
    cache.pack()
    assert Cache(cache.folder).get("k1") == full
    assert [p.name for p in cache.folder.iterdir()] == ["calls.parquet"]
    assert list(cache.records()) == [full]


def test_a_torn_last_line_loses_one_record_and_glues_onto_nothing(tmp_path) -> None:
    cache = Cache(tmp_path / "x")
    for number in range(3):
        cache.put(record(number, text=WEIRD))
    cache.close()
    (file,) = cache.folder.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-10])
    again = Cache(cache.folder)
    assert [again.get(f"k{n}") is not None for n in range(3)] == [True, True, False]
    again.put(record(2))
    assert len(Cache(cache.folder)) == 3
    assert again.frame().height == 3
    again.pack()
    assert Cache(cache.folder).frame().height == 3


def test_a_damaged_line_is_counted_and_ignored(tmp_path) -> None:
    cache = Cache(tmp_path / "x")
    for number in range(3):
        cache.put(record(number))
    cache.close()
    (file,) = cache.folder.glob("*.jsonl")
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([lines[0], b"\x00\x00{", b"[1]", *lines[2:]]))
    with pytest.warns(UserWarning, match="2 damaged lines"):
        again = Cache(cache.folder)
    assert len(again) == 2


def test_a_planted_pickle_is_never_loaded(tmp_path) -> None:
    class Bomb:
        def __reduce__(self):
            return (os.system, (f"touch {tmp_path / 'boom'}",))

    folder = tmp_path / "x"
    folder.mkdir()
    for name in ("calls.pkl", "calls-1-x.jsonl", "cache.db"):
        (folder / name).write_bytes(pickle.dumps(Bomb()) + b"\n")
    with pytest.warns(UserWarning, match="damaged"):
        cache = Cache(folder)
    cache.frame()
    assert len(cache) == 0
    assert not (tmp_path / "boom").exists()


def test_a_good_answer_wins_over_an_earlier_and_a_later_failure(tmp_path) -> None:
    cache = Cache(tmp_path / "x")
    cache.put(record(1, status="error", text=None, refusal="HTTP 500"))
    assert cache.status("k1") == "error"
    cache.put(record(1, text="good"))
    cache.put(record(1, status="error", text=None))
    for view in (cache, Cache(cache.folder)):
        assert view.get("k1").text == "good"
        assert view.frame()["text"].to_list() == ["good"]
    cache.pack()
    assert Cache(cache.folder).get("k1").text == "good"


def test_one_call_may_serve_two_cases(tmp_path) -> None:
    cache = Cache(tmp_path / "x")
    cache.put(record(1))
    cache.put(record(1, case_id="other"))
    assert len(cache) == 1
    assert sorted(cache.frame()["case_id"]) == ["c1", "other"]


def test_replay_writes_nothing(tmp_path) -> None:
    cache = Cache(tmp_path / "x", mode="replay")
    with pytest.raises(SchemaError, match="read only"):
        cache.put(record(1))
    assert not (tmp_path / "x").exists()
    with pytest.raises(SchemaError, match="mode"):
        Cache(tmp_path / "x", mode="write")


def test_packing_gives_the_same_bytes_for_the_same_answers(tmp_path) -> None:
    packed = []
    for name, order in (("a", range(50)), ("b", reversed(range(50)))):
        cache = Cache(tmp_path / name)
        for number in order:
            cache.put(
                record(number, model="offline/priors", created=float(os.getpid()), latency=number + len(name))
            )
            if number == 25:
                cache.close()
        packed.append(cache.pack().read_bytes())
        assert cache.pack().read_bytes() == packed[-1]
    assert packed[0] == packed[1]


def _write(folder: str, worker: int) -> None:
    cache = Cache(folder)
    for number in range(50):
        cache.put(record(number * 100 + worker))


def test_sixteen_processes_lose_no_record(tmp_path) -> None:
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    workers = [context.Process(target=_write, args=(str(tmp_path / "x"), n)) for n in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    cache = Cache(tmp_path / "x")
    assert len(cache) == 800
    assert cache.frame().height == 800


def test_packing_leaves_the_file_of_a_live_writer(tmp_path) -> None:
    code = (
        "import sys; from icgkit.cache import Cache, Record\n"
        "c = Cache(sys.argv[1]); c.put(Record('live', 'elicit', 'd', 'c', 'x', 'm', text='1'))\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "c.put(Record('late', 'elicit', 'd', 'c', 'x', 'm', text='2'))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "x")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        cache = Cache(tmp_path / "x")
        cache.put(record(1))
        cache.pack()
        assert len(list(cache.folder.glob("*.jsonl"))) == 1
        process.communicate("\n")
    again = Cache(tmp_path / "x")
    assert {r.key for r in again.records()} == {"k1", "live", "late"}
    again.pack()
    assert {r.key for r in again.records()} == {"k1", "live", "late"}
    assert not list(cache.folder.glob("*.jsonl"))


def test_records_hold_no_nan_and_no_odd_status(tmp_path) -> None:
    cache = Cache(tmp_path / "x")
    with pytest.raises(ValueError, match="JSON"):
        cache.put(record(1, cost=float("nan")))
    with pytest.raises(SchemaError, match="status"):
        cache.put(record(1, status="fine"))
    assert len(cache) == 0


def test_other_processes_are_seen_on_refresh(tmp_path) -> None:
    first, second = Cache(tmp_path / "x"), Cache(tmp_path / "x")
    first.put(record(1))
    assert "k1" not in second
    second.refresh()
    assert "k1" in second
    assert json.loads(next(iter(first.folder.glob("*.jsonl"))).read_text())["key"] == "k1"
