"""Which functions of the package a notebook can reach, read from source without running anything.

A result rests on the code that its notebook calls, and on what that code calls. Names are followed
from the notebook's cells through imports to definitions; a method is reached if its class is and
some reached code uses its name. That is never too little (a test holds it against what kernels
really ran) and seldom too much, so that a changed function makes stale what it can change.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PACKAGE = "icgkit"
PACKAGES = ("icgkit", "icgforge")
"""Import packages of the distribution; a notebook may use both."""

_QUIET = {
    *("cache", "lru_cache", "cached_property", "property", "staticmethod", "classmethod", "dataclass"),
    *(
        "contextmanager",
        "contextlib",
        "functools",
        "overload",
        "runtime_checkable",
        "total_ordering",
        "plain_style",
    ),
}
"""Decorators that register nothing: what they adorn is reached only by its name."""


@dataclass
class Part:
    """A definition, a method, or the statements of a module that run when it is imported."""

    digest: str
    names: set[str] = field(default_factory=set)
    chains: set[tuple[str, ...]] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    rooms: set[str] = field(default_factory=set)
    """Packages whose modules it imports by names that it looks up (`f"icgforge.worlds.{name}"`)."""
    always: set[str] = field(default_factory=set)
    """Parts of the same module that may run although no name asks for them."""


class _Module:
    """The parts of one file by their dotted names within it; `""` is what importing it runs."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.package = name if path.stem == "__init__" else name.rpartition(".")[0]
        text = path.read_text(encoding="utf-8")
        self.lines = text.splitlines()
        self.parts: dict[str, Part] = {}
        self.methods: dict[str, list[str]] = {}
        own: list[ast.stmt] = []
        named: dict[str, list[ast.stmt]] = {}
        always: set[str] = set()
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.ClassDef):
                self._class(statement)
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.parts[statement.name] = self.part([statement])
                if _unasked(statement):
                    always.add(statement.name)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # A docstring.
            elif names := list(_assigned(statement)):
                for name in names:
                    named.setdefault(name, []).append(statement)
            else:
                own.append(statement)
        for key, statements in named.items():
            self.parts[key] = self.part(statements)
        self.parts[""] = self.part(own)
        self.parts[""].always = always
        self.imports = self.parts[""].imports

    def _class(self, node: ast.ClassDef) -> None:
        methods, always = [], set()
        body: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
        for statement in node.body:
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                body.append(statement)
                continue
            key = f"{node.name}.{statement.name}"
            part = self.part([statement])
            if key in self.parts:  # A setter, an overload.
                part.digest = _digest(self.parts[key].digest + part.digest)
            self.parts[key] = part
            if _unasked(statement):
                always.add(key)
            else:
                methods.append(statement.name)
        self.parts[node.name] = self.part(body)
        self.parts[node.name].always = always
        self.methods[node.name] = methods

    def part(self, nodes: Iterable[ast.AST]) -> Part:
        """Read names, dotted chains, words and imports of some statements; docstrings do not count."""
        nodes = list(nodes)
        part = Part(_digest("\n".join(self._text(node) for node in nodes)))
        for node in nodes:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name):
                    part.names.add(inner.id)
                elif isinstance(inner, ast.Attribute):
                    if chain := _chain(inner):
                        part.chains.add(chain)
                    part.words.add(inner.attr)
                elif isinstance(inner, ast.JoinedStr) and isinstance(head := inner.values[0], ast.Constant):
                    if re.fullmatch(rf"({'|'.join(PACKAGES)})\.[\w.]+\.", str(head.value)):
                        part.rooms.add(str(head.value).rstrip("."))
                elif isinstance(inner, ast.Import | ast.ImportFrom):
                    part.imports |= _imports(inner, self.package)
        return part

    def _text(self, node: ast.AST) -> str:
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1) or 1
        decorators = getattr(node, "decorator_list", [])
        first = min([first, *(d.lineno for d in decorators)])
        gone: set[int] = set()
        for inner in ast.walk(node):
            body = getattr(inner, "body", None)
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and isinstance(
                body, list
            ):
                head = body[0]
                if isinstance(head, ast.Expr) and isinstance(head.value, ast.Constant):
                    gone.update(range(head.lineno, (head.end_lineno or head.lineno) + 1))
        kept = (self.lines[n - 1].rstrip() for n in range(first, last + 1) if n not in gone)
        return "\n".join(line for line in kept if line)


class Code:
    """The package's source as a web of parts; files are read when something reaches them."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(__file__).parents[2]
        self._modules: dict[str, _Module | None] = {}

    def reached(self, sources: Iterable[str]) -> dict[str, str]:
        """Return what code of a notebook's cells can reach: dotted name of a part to its digest."""
        walk = _Walk(self)
        for source in sources:
            walk.read(source)
        return walk.run()

    def module(self, name: str) -> _Module | None:
        """Return a module of the package by its dotted name, None if there is none."""
        if name not in self._modules:
            base = self.folder.joinpath(*name.split("."))
            found = [p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()]
            self._modules[name] = (
                _Module(name, found[0]) if found and name.split(".")[0] in PACKAGES else None
            )
        return self._modules[name]

    @cached_property
    def lazy(self) -> dict[str, str]:
        """The public names that `icgkit` imports when first used, and the modules that have them."""
        return self._table("_WHERE")

    @cached_property
    def rooms(self) -> dict[str, str]:
        """The modules that `icgkit` offers under a name of its own."""
        return self._table("_MODULES")

    def _table(self, table: str) -> dict[str, str]:
        root = self.module(PACKAGE)
        found: dict[str, str] = {}
        for statement in ast.parse("\n".join(root.lines)).body if root else ():
            if list(_assigned(statement)) == [table] and isinstance(statement, ast.Assign | ast.AnnAssign):
                found = ast.literal_eval(statement.value) if statement.value else {}
        return {name: f"{PACKAGE}.{module}" for name, module in found.items()}

    @cached_property
    def template_words(self) -> set[str]:
        """Attributes that the templates of pages ask for."""
        texts = (p.read_text(encoding="utf-8") for p in (self.folder / PACKAGE / "templates").rglob("*.j2"))
        return {word for text in texts for word in re.findall(r"\.(\w+)", text)}


class _Walk:
    def __init__(self, code: Code) -> None:
        self.code = code
        self.found: dict[str, str] = {}
        self.words = set(code.template_words)
        self.waiting: list[tuple[str, str]] = []
        self.methods: dict[str, list[tuple[str, str]]] = {}

    def read(self, source: str) -> None:
        """Follow the names in a notebook's cell."""
        try:
            tree = ast.parse(source)
        except SyntaxError:
            return
        holder = _Module.__new__(_Module)
        holder.name, holder.package, holder.lines = "", "", source.splitlines()
        holder.parts, holder.methods = {}, {}
        part = holder.part(tree.body)
        self.cell_imports = getattr(self, "cell_imports", {}) | part.imports
        holder.imports = self.cell_imports
        self._follow(holder, part)

    def run(self) -> dict[str, str]:
        """Follow everything that waits, and return what was reached."""
        while self.waiting:
            module_name, key = self.waiting.pop()
            module = self.code.module(module_name)
            name = f"{module_name}:{key}"
            if module is None or name in self.found or key not in module.parts:
                continue
            self.found[name] = module.parts[key].digest
            self._import(module_name)
            for method in module.methods.get(key, ()):
                if method in self.words:
                    self.waiting.append((module_name, f"{key}.{method}"))
                else:
                    self.methods.setdefault(method, []).append((module_name, f"{key}.{method}"))
            self._follow(module, module.parts[key])
        return self.found

    def _import(self, name: str) -> None:
        """Importing a module runs its own statements, and those of the packages around it."""
        pieces = name.split(".")
        for end in range(1, len(pieces) + 1):
            around = ".".join(pieces[:end])
            if f"{around}:" not in self.found:
                self.waiting.append((around, ""))

    def _follow(self, module: _Module, part: Part) -> None:
        known = module.imports | part.imports
        for owner, name in part.imports.values():
            for place in (owner, f"{owner}.{name}" if name else owner):
                if self.code.module(place):
                    self._import(place)
        for name in part.names:
            if name in known:
                self._target(*known[name])
            elif name in module.parts:
                self.waiting.append((module.name, name))
        for head, *rest in part.chains:
            if head in known:
                self._chain(known[head], rest)
        self.waiting += [(module.name, key) for key in part.always]
        for room in part.rooms:
            for path in sorted(self.code.folder.joinpath(*room.split(".")).glob("*.py")):
                self._import(f"{room}.{path.stem}")
        for word in part.words - self.words:
            self.words.add(word)
            self.waiting += self.methods.pop(word, [])

    def _target(self, owner: str, name: str) -> None:
        """Reach what a name of a module stands for, through re-exports."""
        module = self.code.module(owner)
        if module is None:
            return
        if not name:
            self._import(owner)
        elif name in module.parts:
            self.waiting.append((owner, name))
        elif name in module.imports and module.imports[name] != (owner, name):
            self._import(owner)
            self._target(*module.imports[name])
        elif owner == PACKAGE and name in self.code.lazy:
            self._import(owner)
            self._target(self.code.lazy[name], name)
        elif owner == PACKAGE and name in self.code.rooms:
            self._import(self.code.rooms[name])
        elif self.code.module(f"{owner}.{name}"):
            self._import(f"{owner}.{name}")

    def _chain(self, start: tuple[str, str], rest: list[str]) -> None:
        """Follow `module.name.name` as far as it goes through modules."""
        owner, name = start
        for word in rest:
            place = f"{owner}.{name}" if name else owner
            if owner == PACKAGE:
                place = self.code.rooms.get(name, place)
            inner = self.code.module(place) and not (
                name and (module := self.code.module(owner)) and name in module.parts
            )
            if not inner:
                return
            owner, name = place, word
            self._target(owner, name)


def _imports(node: ast.Import | ast.ImportFrom, around: str) -> dict[str, tuple[str, str]]:
    """Return local names and the (module, name) that they stand for, of imports from the package."""
    found = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            if (package := alias.name.split(".")[0]) in PACKAGES:
                found[alias.asname or package] = (alias.name if alias.asname else package, "")
        return found
    owner = node.module or ""
    if node.level:
        base = around.split(".")[: len(around.split(".")) - node.level + 1]
        owner = ".".join([*base, owner]).strip(".")
    if owner.split(".")[0] in PACKAGES:
        for alias in node.names:
            found[alias.asname or alias.name] = (owner, alias.name)
    return found


def _assigned(statement: ast.stmt) -> Iterator[str]:
    """Yield the plain names that a top-level statement does nothing but assign."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            for node in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(node, ast.Name):
                    yield node.id


def _chain(node: ast.Attribute) -> tuple[str, ...]:
    names = [node.attr]
    inner = node.value
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    return (inner.id, *reversed(names)) if isinstance(inner, ast.Name) else ()


def _unasked(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether Python, a display or whom a decorator hands it to may call a function unasked."""
    names = {_word(d) for d in function.decorator_list if not _word(d).endswith("setter")}
    return function.name.startswith(("__", "_repr_", "_ipython_")) or not names <= _QUIET


def _word(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
