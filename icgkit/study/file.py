"""A study as one TOML file: what is asked of whom, who judges, within which limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    field_validator,
    model_validator,
)

from icgkit.calls.cache import Cache, Mode
from icgkit.calls.keys import load_litellm
from icgkit.calls.limits import LIMITS, Limits
from icgkit.calls.models import PAPER, Model
from icgkit.calls.prices import Price
from icgkit.calls.request import merged, provider_of
from icgkit.cases import subset as sampling
from icgkit.cases.dataset import Dataset, load_dataset
from icgkit.cases.images import MAX_SIDE
from icgkit.cases.subset import SEED
from icgkit.errors import IcgError, SchemaError, UnknownName
from icgkit.files import folder_of, is_path, read_file
from icgkit.judge.ask import PARAMS as JUDGE_PARAMS
from icgkit.judge.ask import Judge
from icgkit.judge.kinds import kinds
from icgkit.study.plan import Elicitation, Plan, make_plan
from icgkit.untrusted import toml_table

LEAST_PRICE = 0.001
"""Dollars a million tokens below which a price is taken for one that was meant for a single token."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PriceEntry(_Part):
    """A price where litellm knows none, or another: US dollars a million tokens, `image` dollars an image."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached: Annotated[float, Field(ge=0)] | None = None
    image: Annotated[float, Field(ge=0)] = 0.0

    @field_validator("input", "output", "cached")
    @classmethod
    def _per_million(cls, value: float | None) -> float | None:
        if value is not None and 0 < value < LEAST_PRICE:
            raise ValueError(
                f"{value:g} dollars a million tokens is no price; give {value * 1e6:g} if it is meant for one token"
            )
        return value

    def price(self) -> Price:
        """Return the price as the engine takes it, in dollars a token."""
        cached = None if self.cached is None else self.cached / 1e6
        return Price(self.input / 1e6, self.output / 1e6, cached, image=self.image)


class ModelEntry(_Part):
    """A model; `params` add to those of the study, `conditions.<id>` to these under one condition."""

    name: Annotated[str, Field(min_length=1)]
    label: str = ""
    system: Literal["system", "user"] = "system"
    params: dict[str, Any] = {}
    conditions: dict[str, dict[str, Any]] = {}
    price: PriceEntry | None = None


class JudgeEntry(_Part):
    """A judge: a model and the kinds of judging that it does; `label` and `system` as those of a model."""

    name: Annotated[str, Field(min_length=1)]
    label: str = ""
    kinds: tuple[str, ...] = ("recall",)
    params: dict[str, Any] = {}
    system: Literal["system", "user"] = "system"
    price: PriceEntry | None = None

    def model(self) -> Model:
        """Return the judge as the model that is asked."""
        return Model(self.name, merged(JUDGE_PARAMS, self.params), label=self.label, system=self.system)

    def judge(self, templates: str | Path | None = None) -> Judge:
        """Return the judge with the words that it is told."""
        return Judge(self.model(), templates)


class Subset(_Part):
    """A part of the cases: `n` of them stratified by category, or those listed."""

    n: Annotated[int, Field(gt=0)] | None = None
    seed: int = SEED
    cases: tuple[str, ...] = ()


def _limits(value: Any) -> Limits:
    """Read the table `[limits]` of a study: the fields of `Limits`, but for prices, which models have."""
    if isinstance(value, Limits):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("is a table of names and values")
    try:
        for name in value:
            if name not in ("providers", *LIMITS):
                raise UnknownName.among("limit", str(name), ("providers", *LIMITS))
        if not isinstance(value.get("providers", {}), Mapping):
            raise SchemaError("providers", got=value["providers"], allowed="a table for each provider")
        return Limits(**value)
    except IcgError as exc:
        raise ValueError(str(exc)) from None


def _limits_table(limits: Limits) -> dict[str, Any]:
    """Return limits as the table that `_limits` reads."""
    return {name: getattr(limits, name) for name in ("providers", *LIMITS)}


class Study(_Part):
    """What a study file says; see `docs/study.md` and `Study.read`.

    Examples
    --------
    >>> study = Study(dataset="icg-teb", models=["offline/priors"], conditions=["direct"])
    >>> study.models[0].name, study.params["max_tokens"]
    ('offline/priors', 4096)
    """

    dataset: str
    models: Annotated[tuple[ModelEntry, ...], Field(min_length=1)]
    conditions: Annotated[tuple[str, ...], Field(min_length=1)]
    cache: str = ""
    samples: Annotated[int, Field(gt=0)] = 1
    params: dict[str, Any] = Field(default_factory=lambda: dict(PAPER))
    max_side: Annotated[int, Field(gt=0)] = MAX_SIDE
    templates: str | None = None
    helpers: dict[str, ModelEntry] = {}
    judges: tuple[JudgeEntry, ...] = ()
    subset: Subset = Subset()
    limits: Annotated[Limits, PlainValidator(_limits), PlainSerializer(_limits_table)] = Limits()
    """See `icgkit.calls.limits.Limits`."""
    redo: tuple[Literal["error", "empty", "refused", "truncated"], ...] = ("error", "empty")

    @field_validator("models", "judges", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [{"name": v} if isinstance(v, str) else v for v in value]
        return value

    @field_validator("helpers", mode="before")
    @classmethod
    def _helper_names(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {k: {"name": v} if isinstance(v, str) else v for k, v in value.items()}
        return value

    @field_validator("conditions", "redo", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _known_kinds(self) -> Study:
        for k, entry in enumerate(self.judges):
            for name in entry.kinds:
                if name not in kinds() and name not in (known := kinds(self.templates)):
                    raise ValueError(f"judges.{k}.kinds: {name!r} is none of {', '.join(known)}")
        return self

    @classmethod
    def read(cls, path: str | Path) -> Study:
        """Read a study file.

        Raises
        ------
        SchemaError
            Naming the file and every field that is wrong or unknown.
        """
        path = Path(path)
        if not path.is_file():
            raise SchemaError(f"study file {path} not found")
        data = toml_table(read_file(path), path.name)
        data.setdefault("cache", path.stem)
        return cls.of(_paths_from(path.absolute().parent, data), path.name)

    @classmethod
    def of(cls, data: dict[str, Any], place: str = "study") -> Study:
        """Build a study from plain data, with errors that name the field."""
        try:
            return cls.model_validate(data)
        except ValidationError as exc:
            problems = []
            for e in exc.errors(include_url=False):
                where = ".".join(map(str, e["loc"])) or "study"
                known = f" (known: {', '.join(cls.model_fields)})" if e["type"] == "extra_forbidden" else ""
                problems.append(f"{where}: {e['msg']}{known}")
            raise SchemaError(f"{place}: " + " | ".join(problems)) from None

    def cases(self) -> Dataset:
        """Return the dataset, or the part of it that the study asks about."""
        whole = load_dataset(self.dataset)
        if self.subset.cases:
            return whole.subset(self.subset.cases)
        if self.subset.n is not None:
            return whole.subset(stratified(whole, self.subset.n, self.subset.seed))
        return whole

    def plan(self, dataset: Dataset | None = None) -> Plan:
        """Resolve the names of the study."""

        def full(entry: ModelEntry) -> Model:
            own = {**self.params, **entry.params}  # what is "unset" here may be set under a condition
            return Model(entry.name, own, entry.conditions, entry.label, entry.system)

        return make_plan(
            dataset or self.cases(),
            self.conditions,
            [full(m) for m in self.models],
            Elicitation(
                samples=self.samples,
                templates=self.templates,
                helpers={k: full(m) for k, m in self.helpers.items()},
                max_side=self.max_side,
            ),
        )

    def entries(self) -> list[ModelEntry | JudgeEntry]:
        """Return every model that the study may call: those asked, judges, helpers."""
        return [*self.models, *self.judges, *self.helpers.values()]

    def priced(self, given: Iterable[str]) -> Study:
        """Return the study with prices as `read_prices` reads them, for those of its models that they name."""
        prices = _prices(given)
        if not prices:
            return self
        names = {e.name for e in self.entries()}
        for name in prices:
            if name not in names:
                raise UnknownName.among("model in --price", name, names)

        def with_price(entry: Any) -> Any:
            new = prices.get(entry.name)
            return entry.model_copy(update={"price": new}) if new else entry

        change = {
            "models": tuple(map(with_price, self.models)),
            "judges": tuple(map(with_price, self.judges)),
        }
        helpers = {name: with_price(entry) for name, entry in self.helpers.items()}
        return self.model_copy(update=change | {"helpers": helpers})

    def call_limits(self, budget: float | None = None) -> Limits:
        """Return the limits of the study's calls with the prices that it gives; `budget` wins over its own."""
        entries = self.entries()
        _known_providers(self.limits, {provider_of(e.name) for e in entries})
        prices: dict[str, Price] = {}
        for entry in entries:
            if entry.price is not None:
                price = entry.price.price()
                if prices.setdefault(entry.name, price) != price:
                    raise SchemaError(f"model {entry.name} has two prices", remedy="give the same one")
        limits = replace(self.limits, prices=prices)
        return limits if budget is None else replace(limits, budget=budget)

    def open_cache(self, mode: Mode = "record") -> Cache:
        """Open the cache that the study names, by default the one with the name of its dataset's folder."""
        return Cache.named(self.cache or folder_of("cases", self.dataset).name, mode)


def _known_providers(limits: Limits, used: set[str]) -> None:
    """Raise if limits are meant for a provider that is neither among those `used` nor litellm's."""
    for name in limits.providers:
        if name not in used:
            known = {str(getattr(p, "value", p)) for p in load_litellm().provider_list} | used
            if name not in known:
                raise UnknownName.among("provider in [limits.providers]", name, known)


def _prices(given: Iterable[str]) -> dict[str, PriceEntry]:
    found = {}
    for text in given:
        name, _, numbers = text.rpartition("=")
        try:
            sent, got = (float(x) for x in numbers.split(","))
            found[name.strip()] = PriceEntry(input=sent, output=got)
        except ValueError as exc:
            why = exc.errors()[0]["msg"] if isinstance(exc, ValidationError) else None
            raise SchemaError(
                f"price of a model{f': {why}' if why else ''}",
                got=text,
                allowed="MODEL=IN,OUT in US dollars a million tokens, such as openai/mine=0.5,2.0",
            ) from None
    return found


def read_prices(given: Iterable[str]) -> dict[str, Price]:
    """Read prices of the command line, `MODEL=IN,OUT` in US dollars a million tokens, by model."""
    return {name: entry.price() for name, entry in _prices(given).items()}


def _paths_from(base: Path, data: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a study file with absolute paths: meant from its folder, else the working directory."""
    found = dict(data)
    for kind, name in (("cases", "dataset"), ("cache", "cache")):
        if isinstance(value := data.get(name), str) and value and is_path(value):
            found[name] = str(folder_of(kind, value, base))
    if isinstance(value := data.get("templates"), str):
        own = Path(value).expanduser()
        found["templates"] = str(next((p for p in (base / own, own.absolute()) if p.is_dir()), base / own))
    return found


def stratified(dataset: Dataset, n: int, seed: int = SEED) -> list[str]:
    """Draw `n` cases evenly over the categories of their nodes; ids in the order of the dataset."""
    return sampling.stratified(sampling.strata(dataset.nodes()), n, seed=seed)
