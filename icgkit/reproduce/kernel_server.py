"""The process that warm kernels are forked from: it imports, waits, and forks on request."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

PRELOADED = (
    # What a kernel imports while it starts, its debugger among it.
    *("ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell", "ipykernel.debugger"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.pylabtools"),
    *("IPython.core.oinspect", "IPython.core.logger", "faulthandler"),
    *("IPython.extensions.storemagic", "sqlite3", "tornado.platform.asyncio", "matplotlib_inline.config"),
    # What notebooks import, and what saving a figure does.
    *("numpy", "numpy.random", "PIL.ImageDraw", "PIL.ImageFont", "matplotlib.pyplot"),
    *("matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf"),
    *("matplotlib.backends.backend_svg", "fontTools.subset", "PIL.PngImagePlugin", "PIL.JpegImagePlugin"),
    *(f"fontTools.ttLib.tables.{t}" for t in ("O_S_2f_2", "_c_v_t", "_f_p_g_m", "_g_a_s_p", "_h_h_e_a")),
    *(f"fontTools.ttLib.tables.{t}" for t in ("_l_o_c_a", "_p_r_e_p")),
    *("polars", "jinja2", "pandas", "seaborn", "seaborn.objects"),
    *(
        f"icgkit.{m}"
        for m in (
            "taxonomy",
            "cases.case",
            "cases.dataset",
            "cases.show",
            "report.save",
            "metrics",
            "report.tables",
        )
    ),
    *(
        f"icgkit.{m}"
        for m in (
            "report.plots",
            "report.case_figures",
            "prompts.conditions",
            "prompts.replies",
            "calls.cache",
            "report.results",
            "report.views",
        )
    ),
    *(f"icgkit.{m}" for m in ("cases.images", "report.render", "report.published")),
)
"""What the server imports; a module that is absent is left to the notebook, which will say so."""

ON_REQUEST = ("scipy.stats",)
"""Slower ones, safe to import here, for runs in which several notebooks name them."""

QUIET_THREADS = {"polars-ooc-clea"}
"""Threads that sleep from the moment of import until data outgrow memory; they hold no lock."""


def _warm(datasets: Sequence[str]) -> None:
    """Do what every notebook would, but touch no frame: polars would start threads."""
    from icgkit.errors import IcgError

    with contextlib.suppress(ImportError):
        from matplotlib.figure import Figure

        from icgkit.cases.dataset import load_dataset
        from icgkit.cases.show import environment
        from icgkit.prompts.conditions import conditions
        from icgkit.report.render import keep_fonts, render
        from icgkit.report.tables import latex_template

        for folder in datasets:
            with contextlib.suppress(IcgError, OSError):
                load_dataset(folder)
        conditions()
        latex_template()
        for name in (
            "display/case.html.j2",
            "display/picture.svg.j2",
            "display/graph.svg.j2",
            "tables/table.html.j2",
        ):
            environment().get_template(name)
        figure = Figure(figsize=(2, 1))
        figure.text(0, 0, "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ .,;:()[]−–%")
        render(figure)
        keep_fonts()


def serve(fd: int) -> NoReturn:
    """Import, then fork on request until the other end of the socket is closed."""
    sys.path[:] = [p for p in sys.path if p]
    for name in (*PRELOADED, *(n for n in ON_REQUEST if n in sys.argv)):
        with contextlib.suppress(ImportError):
            if find_spec(name.split(".")[0]) is not None:
                import_module(name)
    _warm([word for word in sys.argv[1:] if os.sep in word])
    threads = _threads() - QUIET_THREADS
    import gc

    gc.collect()
    gc.freeze()  # The children's collector leaves the shared pages alone.
    control = socket.socket(fileno=fd)
    stream = control.makefile("rw", encoding="utf-8", newline="\n")
    children: dict[int, int | None] = {}
    for line in stream:
        request = json.loads(line)
        if request["op"] == "ready":
            answer: dict[str, Any] = {"threads": sorted(threads)}
        elif request["op"] == "fork":
            pid = os.fork()
            if pid == 0:
                control.close()
                _become_kernel(request)
            children[pid] = None
            answer = {"pid": pid}
        else:
            pid = request["pid"]
            if children.get(pid, 0) is None:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    children[pid] = os.waitstatus_to_exitcode(status)
            answer = {"code": children.get(pid, 1)}
        stream.write(json.dumps(answer) + "\n")
        stream.flush()
    for pid, code in children.items():
        if code is None:
            # A child that has just been forked leads no group yet.
            for end in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    end(pid, signal.SIGKILL)
    os._exit(0)


def _threads() -> set[str]:
    """Return the names of this process's threads other than the main one."""
    tasks = Path("/proc/self/task")
    return {(task / "comm").read_text().strip() for task in tasks.iterdir() if task.name != str(os.getpid())}


def _become_kernel(request: dict[str, Any]) -> NoReturn:
    """Turn the fork into an IPython kernel; never return."""
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(request["env"] | {"JPY_PARENT_PID": str(os.getppid())})
        os.chdir(request["cwd"])
        import numpy as np
        from ipykernel.kernelapp import IPKernelApp

        np.random.seed()  # noqa: NPY002 - the global state that a fork would otherwise share
        sys.argv = ["ipykernel_launcher", *request["args"]]
        IPKernelApp.launch_instance()
        code = 0
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else 1
    finally:
        import atexit

        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()  # noqa: SLF001 (os._exit skips them, and there is no public way)
        os._exit(code)
