"""Who imports whom among the modules of a package; imports in functions and for types alone are counted."""

from __future__ import annotations

import ast
from pathlib import Path


def modules(package: Path) -> dict[str, Path]:
    """Return dotted name to file of every module of a package."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(package: Path) -> dict[str, set[str]]:
    """Return for each module the modules of its package that it names in an import anywhere.

    A name imported from a package that is no module counts for the package's `__init__`.
    """
    known = modules(package)
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        found: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {f if f in known else node.module for f in full}
        graph[name] = (found & set(known)) - {name}
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return every set of modules that reach each other (strongly connected, more than one)."""
    order: list[str] = []
    seen: set[str] = set()
    back: dict[str, set[str]] = {n: set() for n in graph}
    for name, targets in graph.items():
        for target in targets:
            back[target].add(name)

    def walk(start: str, edges: dict[str, set[str]], done: list[str]) -> None:
        stack = [(start, iter(sorted(edges[start])))]
        seen.add(start)
        while stack:
            for after in stack[-1][1]:
                if after not in seen:
                    seen.add(after)
                    stack.append((after, iter(sorted(edges[after]))))
                    break
            else:
                done.append(stack.pop()[0])

    for name in sorted(graph):
        if name not in seen:
            walk(name, graph, order)
    seen.clear()
    found = []
    for name in reversed(order):
        if name not in seen:
            group: list[str] = []
            walk(name, back, group)
            if len(group) > 1:
                found.append(sorted(group))
    return sorted(found)
