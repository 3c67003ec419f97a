"""Run a notebook's cells in this process and write down every function of the packages that ran.

Called with a notebook, a folder for its results and a file for the list; further words are name=value.
What modules do while they are imported is left out: it is the import that counts there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from icgkit.reproduce.notebooks import cell_source, cell_tags, parse_parameters, read_notebook

ROOT = str(Path(sys.modules["icgkit"].__file__ or "").parents[1]) + "/"
PACKAGES = tuple(f"{ROOT}{name}/" for name in ("icgkit", "icgforge"))


def main(path: str, out: str, target: str, *pairs: str) -> None:
    seen: set[CodeType] = set()
    importing = 0

    def watch(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal importing
        code = frame.f_code
        if event in ("call", "return") and code.co_filename.startswith(PACKAGES):
            if code.co_name == "<module>":
                importing += 1 if event == "call" else -1
            elif event == "call" and not importing:
                seen.add(code)

    notebook = read_notebook(path)
    space: dict[str, Any] = {"__name__": "__main__"}
    sys.setprofile(watch)
    for cell in notebook.cells:
        if cell["cell_type"] != "code":
            continue
        exec(compile(cell_source(cell), path, "exec"), space)
        if "parameters" in cell_tags(cell):
            space.update(parse_parameters(pairs) | {"out": out})
    sys.setprofile(None)
    names = []
    for code in seen:
        module = code.co_filename.removeprefix(ROOT).removesuffix(".py").replace("/", ".")
        module = module.removesuffix(".__init__")
        names.append(f"{module}:{code.co_qualname.split('.<locals>')[0]}")
    Path(target).write_text(json.dumps(sorted(set(names))))


if __name__ == "__main__":
    main(*sys.argv[1:])
