"""Warm kernels: a server that has imported the libraries and is forked for each notebook.

Most of a short notebook's time goes into starting Python and importing. The server does both once;
a fork of it is an ordinary IPython kernel with its own memory, that has run nothing yet. A kernel
provisioner (`icgkit-fork`) puts it under `jupyter_client`, so that papermill and nbclient see no
difference. The server only imports; it forks while no thread of it can hold a lock, and where it
cannot, or the platform has no fork, ordinary kernels of the running interpreter serve instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from icgkit.errors import CallError
from icgkit.files import bootstrap, python

SERVER_ENV = {
    # One numeric thread and no background purging: threads do not survive a fork.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow, which pandas imports where it is installed
    # glibc keeps what arrays leave: a page that is asked for anew costs more than what is done with it.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}


LINGER = 0.02
"""Seconds that a client waits for further messages of a kernel's start."""
LONGEST_SOCKET = 100
"""Longest path of a socket: Linux allows 107 bytes, other systems 103."""
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


def can_fork() -> bool:
    """Return whether warm kernels are possible: not on macOS, whose libraries do not survive a fork."""
    return sys.platform.startswith("linux") and os.environ.get("ICGKIT_FORK", "1") != "0"


def kernel_env(**extra: str) -> dict[str, str]:
    """Return the environment of kernels: ours, with bytecode allowed, else each start recompiles."""
    return {k: v for k, v in os.environ.items() if k != NO_BYTECODE} | extra


def _short_folder() -> Path:
    """Make a scratch folder whose sockets have names that the system allows."""
    for parent in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if len(parent) + len("/icgkit-xxxxxxxx/xxxxxxxx-5") <= LONGEST_SOCKET:
            with contextlib.suppress(OSError):
                return Path(tempfile.mkdtemp(prefix="icgkit-", dir=parent))
    return Path(tempfile.mkdtemp(prefix="icgkit-"))


class KernelServer:
    """A warm server process and the socket to it; safe to use from several threads."""

    def __init__(self, *also: str, **env: str) -> None:
        ours, theirs = socket.socketpair()
        # What an ordinary kernel sets before the first import of matplotlib.
        inline = os.environ.get("MPLBACKEND") or "module://matplotlib_inline.backend_inline"
        self.env = {k: v for k, v in SERVER_ENV.items() if not k.startswith("_")}
        self.env |= {"MPLBACKEND": inline, **env}
        self._lock = threading.Lock()
        self.folder = _short_folder()
        self._log = open(self.folder / "kernels.log", "wb")  # noqa: SIM115 - closed by close()
        command = bootstrap(f"from icgkit.reproduce.kernel_server import serve; serve({theirs.fileno()})")
        self.process = subprocess.Popen(
            python("-c", command, *also),
            pass_fds=[theirs.fileno()],
            env=kernel_env(**SERVER_ENV) | self.env,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )
        theirs.close()
        self._socket = ours
        self._stream = ours.makefile("rw", encoding="utf-8", newline="\n")

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and return the answer; the first one waits for the imports."""
        with self._lock:
            try:
                self._stream.write(json.dumps(request) + "\n")
                self._stream.flush()
                answer = self._stream.readline()
            except (OSError, ValueError):
                answer = ""
        if not answer:
            raise CallError("the kernel server has died", got=self.log_tail())
        result: dict[str, Any] = json.loads(answer)
        return result

    def usable(self) -> bool:
        """Return whether the server stands and no foreign thread runs in it."""
        try:
            return not self.ask(op="ready")["threads"]
        except CallError:
            return False

    def log_tail(self) -> str:
        """Return the last words of the server and its kernels."""
        with contextlib.suppress(OSError):
            return (self.folder / "kernels.log").read_text(errors="replace")[-2000:]
        return ""

    def close(self) -> None:
        """End the server and every kernel that it still has."""
        with contextlib.suppress(OSError, ValueError):
            self._socket.shutdown(socket.SHUT_RDWR)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with contextlib.suppress(OSError, ValueError):
            self._stream.close()
        self._socket.close()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class _ForkedProcess:
    """The part of `subprocess.Popen` that a provisioner uses."""

    stdin = stdout = stderr = None

    def __init__(self, server: KernelServer, pid: int) -> None:
        self.server, self.pid = server, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                self.returncode = self.server.ask(op="poll", pid=self.pid)["code"]
            except CallError:
                self.returncode = 1
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("kernel", timeout or 0)
            time.sleep(0.005)
        return code

    def send_signal(self, signum: int) -> None:
        # The server reaps only in poll, so that the id cannot belong to somebody else yet.
        if self.poll() is None:
            os.kill(self.pid, signum)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


_server: KernelServer | None = None
_processes: list[Any] = []
_ended = threading.Event()


def end_kernels() -> None:
    """Kill every kernel started here that still runs, and let no other start, until the next block."""
    _ended.set()
    while _processes:
        process = _processes.pop()
        if process is not None and process.poll() is None:
            with contextlib.suppress(OSError):
                process.kill()


@contextlib.contextmanager
def warm_server(*also: str, **env: str) -> Iterator[KernelServer | None]:
    """Keep a server for the kernels started inside the block; None where fork is not possible."""
    global _server
    _ended.clear()
    if not can_fork() or _server is not None:
        yield _server
        return
    _server = KernelServer(*also, **env)
    try:
        yield _server
    finally:
        server, _server = _server, None
        server.close()


class ForkProvisioner(LocalProvisioner):
    """Start a kernel by forking the warm server, or as usual where there is none."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel whose command line jupyter_client has made."""
        if _ended.is_set():
            raise CallError("no kernel is started any more: the run is being ended")
        server = _server
        if server is None or not server.usable():
            kwargs["env"] = {k: v for k, v in (kwargs.get("env") or os.environ).items() if k != NO_BYTECODE}
            info = await super().launch_kernel(cmd, **kwargs)
            _processes.append(self.process)
            return info
        args = cmd[cmd.index("ipykernel_launcher") + 1 :]
        cwd = str(kwargs.get("cwd") or Path.cwd())
        env = {**(kwargs.get("env") or kernel_env()), **server.env}
        pid = server.ask(op="fork", args=args, env=env, cwd=cwd)["pid"]
        self.process = _ForkedProcess(server, pid)  # type: ignore[assignment]
        _processes.append(self.process)
        self.pid = self.pgid = pid
        self.cwd = cwd
        return self.connection_info

    async def wait(self) -> int | None:
        """Wait until the kernel has ended: asked often, since a fork that was killed ends at once."""
        if isinstance(self.process, _ForkedProcess):
            while await self.poll() is None:
                await asyncio.sleep(0.005)
        return await super().wait()


class _PromptClient(AsyncKernelClient):
    """A client that does not linger once its kernel has answered."""

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        channel = self.iopub_channel
        ask = channel.get_msg
        channel.get_msg = lambda timeout=None: ask(timeout=min(timeout or LINGER, LINGER))
        try:
            await super().wait_for_ready(timeout)
        finally:
            del channel.get_msg


class _OwnInterpreter(KernelSpecManager):
    """Answers every kernel name with the kernel of the running interpreter."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:  # noqa: ARG002 (the base class names it)
        return KernelSpec(
            argv=python("-m", "ipykernel_launcher", "-f", "{connection_file}"),
            display_name="Python 3 (ipykernel)",
            language="python",
            metadata={"kernel_provisioner": {"provisioner_name": "icgkit-fork"}},
        )


class WarmKernelManager(AsyncKernelManager):
    """Kernel manager for papermill's `kernel_manager_class`: our interpreter, forked if it can be."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs, kernel_spec_manager=_OwnInterpreter(), client_factory=_PromptClient)
        if _server is not None:  # Sockets in a folder of our own: no race for free ports.
            place = str(_server.folder / uuid.uuid4().hex[:8])
            if len(os.fsencode(place)) + 2 <= LONGEST_SOCKET:
                self.transport, self.ip = "ipc", place
