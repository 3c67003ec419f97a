"""A real server on 127.0.0.1 that keeps every request it gets, and a proxy that lets nothing through."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fault_server import reply

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Seen:
    """Requests in the order of arrival, each as one text: line, headers, body."""

    port: int = 0
    requests: list[str] = field(default_factory=list)
    answer: Callable[[str, dict[str, Any]], Answer] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        """What was asked of the proxy: CONNECT host:port, or a whole address."""
        return [" ".join(r.split()[:2]) for r in self.requests]


@contextmanager
def listen(answer: Callable[[str, dict[str, Any]], Answer] | None = None) -> Iterator[Seen]:
    """Serve on a free port; `answer` gets the request as text and its JSON body."""
    seen = Seen(answer=answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            whole = f"{self.requestline}\n{self.headers}\n" + body.decode("utf-8", "replace")
            seen.requests.append(whole)
            try:
                asked = json.loads(body)
            except ValueError:
                asked = {}
            if seen.answer is None or self.command == "CONNECT":
                status, headers, data = 502, dict[str, str](), b"nothing leaves"
            else:
                status, headers, data = seen.answer(whole, asked)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET = do_CONNECT = _take

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    seen.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()


def good(whole: str, asked: dict[str, Any]) -> Answer:
    """Answer in the OpenAI form."""
    data = json.dumps(reply({"model": "m", **asked}, "fine")).encode()
    return 200, {"Content-Type": "application/json"}, data
