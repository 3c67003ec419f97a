from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from icgkit.errors import CallError
from icgkit.files import project_root
from icgkit.reproduce.kernel import (
    KernelServer,
    WarmKernelManager,
    can_fork,
    end_kernels,
    kernel_env,
    warm_server,
)

needs_fork = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forked kernels need Linux")


@pytest.fixture(scope="module")
def server() -> Iterator[KernelServer]:
    with warm_server(str(project_root() / "data" / "cases" / "icg-teb"), POLARS_MAX_THREADS="1") as server:
        assert server is not None
        yield server


def run(*cells: str, manager: type[AsyncKernelManager] = WarmKernelManager) -> list[str]:
    """Run cells in one kernel of their own and return what each printed."""
    notebook = new_notebook(cells=[new_code_cell(c) for c in cells])  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, kernel_manager_class=manager, kernel_name="any", timeout=60, shutdown_kernel="immediate"
    ).execute()
    return ["".join(o.get("text", "") for o in cell.outputs).strip() for cell in notebook.cells]


@needs_fork
def test_the_server_only_imports(server: KernelServer) -> None:
    # A thread that holds a lock at the moment of a fork would hold it for ever in the child.
    assert server.ask(op="ready") == {"threads": []}
    assert server.usable()


@needs_fork
def test_kernels_are_forks_that_share_nothing(server: KernelServer) -> None:
    probe = (
        "import os, random, sys; import numpy as np; import polars as pl; import icgkit\n"
        "print(os.getppid(), os.getpid(), os.getsid(0), hasattr(icgkit, 'mark'), 'leak' in globals(),"
        " os.environ.get('MARK'), np.random.rand(), random.random(), pl.__version__ is None)\n"
        "icgkit.mark = leak = 1; os.environ['MARK'] = 'x'; os.chdir('/')"
    )
    first, second = (run(probe)[0].split() for _ in range(2))
    for ppid, pid, session, mark, leak, variable, *_ in (first, second):
        assert int(ppid) == server.process.pid
        assert pid == session  # a session of its own: Ctrl-C in the terminal does not reach it
        assert (mark, leak, variable) == ("False", "False", "None")
    assert first[1] != second[1]
    assert first[6:8] != second[6:8]  # random states are drawn anew


@needs_fork
def test_libraries_are_loaded_before_the_first_cell(server: KernelServer) -> None:
    names = ("polars", "matplotlib.pyplot", "icgkit.report.save", "icgkit.report.tables")
    assert run(f"import sys; print(all(n in sys.modules for n in {names!r}))")[0] == "True"
    heavy = ("litellm", "onnxruntime", "cv2")
    assert run(f"import sys; print([n for n in {heavy!r} if n in sys.modules])")[0] == "[]"


@needs_fork
def test_datasets_templates_and_fonts_are_read_before_the_first_cell(server: KernelServer) -> None:
    probe = (
        "from icgkit.cases import dataset\n"
        "from icgkit.prompts import conditions\n"
        "from icgkit.report import render, tables\n"
        "print(dataset._cases.cache_info().currsize, conditions._shipped.cache_info().currsize,"
        " tables.latex_template.cache_info().currsize, len(render._spare_fonts))"
    )
    assert run(probe) == ["1 1 1 3"]


@needs_fork
def test_polars_works_in_a_fork(server: KernelServer) -> None:
    code = (
        "import polars as pl\n"
        "f = pl.LazyFrame({'a': [1, 2, 3] * 10_000, 'b': range(30_000)})\n"
        "print(f.group_by('a').agg(pl.col('b').sum()).sort('a').collect(engine='streaming')['b'].to_list(), pl.thread_pool_size())"
    )
    # Sums of 0, 3, 6 ...: 3 * 10000 * 9999 / 2, and 10000 and 20000 more for the next two.
    assert run(code)[0] == "[149985000, 149995000, 150005000] 1"


@needs_fork
def test_a_kernel_that_is_killed_is_reported(server: KernelServer, tmp_path: Path) -> None:
    pid = server.ask(op="fork", args=["-f", str(tmp_path / "c.json")], env=kernel_env(), cwd=str(tmp_path))[
        "pid"
    ]
    assert server.ask(op="poll", pid=pid) == {"code": None}
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 60
    while (code := server.ask(op="poll", pid=pid)["code"]) is None and time.monotonic() < end:
        time.sleep(0.01)
    assert code == -signal.SIGKILL


@needs_fork
def test_no_kernel_starts_while_the_run_is_ended(server: KernelServer) -> None:
    end_kernels()
    with pytest.raises(CallError, match="being ended"):
        run("print(1)")
    with warm_server() as same:  # the next block starts kernels again
        assert same is server
        assert run("print(1)") == ["1"]


@needs_fork
def test_kernels_end_with_their_server(tmp_path: Path) -> None:
    server = KernelServer()
    file = str(tmp_path / "c.json")
    pid = server.ask(op="fork", args=["-f", file], env=kernel_env(), cwd=str(tmp_path))["pid"]
    os.kill(pid, 0)
    server.close()
    assert server.process.returncode == 0
    end = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.01)
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    assert not server.folder.exists()


def test_ordinary_kernels_where_there_is_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICGKIT_FORK", "0")
    monkeypatch.setattr("icgkit.reproduce.kernel._server", None)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert not can_fork()
    with warm_server() as none:
        assert none is None
        out = run("import os, sys; print(os.getppid(), sys.executable, sys.dont_write_bytecode)")[0].split()
    # The running interpreter, a child of ours, and allowed to write bytecode.
    assert out == [str(os.getpid()), sys.executable, "False"]
