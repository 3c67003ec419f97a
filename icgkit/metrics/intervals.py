"""How an interval is made: options that travel together, one small object for each kind."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from icgkit.errors import SchemaError, UnknownName

KINDS = ("percentile", "bca", "expanded")
CASE = "case_id"


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number of at least `least` (numpy's too), or raise."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise SchemaError(name, got=value, allowed=f"a whole number of {least} or more")
    return number


def level_ok(level: Any) -> float:
    """Return the confidence level, or raise unless it lies strictly between 0 and 1."""
    if isinstance(level, bool | str) or not hasattr(level, "__float__") or not 0 < float(level) < 1:
        raise SchemaError("level", got=level, allowed="a number between 0 and 1, such as 0.95")
    return float(level)


def _columns(name: str, cluster: Any) -> str | tuple[str, str] | None:
    """Return one or two columns of clusters, or raise."""
    if cluster is None or isinstance(cluster, str):
        return cluster
    names = tuple(cluster)
    if (
        not all(isinstance(c, str) for c in names)
        or len(set(names)) != len(names)
        or len(names) not in (1, 2)
    ):
        raise SchemaError(name, got=cluster, allowed="a column, or two crossed columns")
    return names[0] if len(names) == 1 else names


def _over(cluster: Any) -> tuple[str, ...]:
    if cluster is None:
        return (CASE,)
    return (cluster,) if isinstance(cluster, str) else tuple(cluster)


@dataclass(frozen=True)
class Bootstrap:
    """Resample whole clusters: the option `ci=` (or `draws=`) of every metric that draws.

    Parameters
    ----------
    n : int
        Resamples (2 or more).
    seed : int
        Seed of the draws; the same seed gives the same interval, byte by byte.
    cluster : str or two of them, optional
        Column whose groups are drawn whole; `case_id` when absent. Two columns are crossed: their
        groups are drawn independently and a row counts as often as the product says.
    level : float
        Confidence level, between 0 and 1.
    kind : {"percentile", "bca", "expanded"}
        Percentile ends as they are; corrected for bias and skewness by the jackknife over clusters
        (one cluster column); or percentile ends taken further out, as Student's t does to the normal
        distribution, which mends the narrowness with few clusters.

    Notes
    -----
    expanded: the tail is Phi(-sqrt(C / (C - 1)) t) with t the quantile of Student's t with C - 1
    degrees of freedom, C clusters. Crossed: the pigeonhole bootstrap, which errs on the wide side.
    Sources: Efron and Tibshirani (1993, ch. 13 and 14; percentile, BCa), Hesterberg (2015, section 4;
    expanded), Owen (2007; crossed).

    Examples
    --------
    >>> Bootstrap(2000, cluster="template").words()
    'percentile bootstrap over template, B=2000, seed=42'
    """

    n: int = 10_000
    seed: int = 42
    cluster: str | Sequence[str] | None = None
    level: float = 0.95
    kind: Literal["percentile", "bca", "expanded"] = "percentile"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", whole("Bootstrap.n (resamples)", self.n, 2))
        object.__setattr__(self, "seed", whole("Bootstrap.seed", self.seed, 0))
        object.__setattr__(self, "level", level_ok(self.level))
        if self.kind not in KINDS:
            raise UnknownName.among("kind of bootstrap", str(self.kind), KINDS)
        object.__setattr__(self, "cluster", _columns("Bootstrap.cluster", self.cluster))
        if len(self.over) == 2 and self.kind == "bca":
            raise SchemaError(
                "Bootstrap(kind='bca') with crossed clusters", got=self.over, allowed="percentile or expanded",
                remedy="leave kind out, or name one column",
            )  # fmt: skip

    @property
    def over(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return _over(self.cluster)

    def words(self, over: str = "") -> str:
        """Word the method, as the column `method` has it."""
        kind = {"percentile": "percentile", "bca": "BCa", "expanded": "expanded percentile"}[self.kind]
        return f"{kind} bootstrap over {over or ' x '.join(self.over)}, B={self.n}, seed={self.seed}"


@dataclass(frozen=True)
class Wilson:
    """Wilson's score interval of a proportion: trials are taken as independent, which nodes of a case are not.

    Parameters
    ----------
    level : float
        Confidence level, between 0 and 1.

    Notes
    -----
    The p for which abs(p_hat - p) = z sqrt(p (1 - p) / n): (p_hat + z^2 / 2n +- z sqrt(p_hat (1 - p_hat) / n
    + z^2 / 4n^2)) / (1 + z^2 / n). n is scored nodes (micro) or cases (macro).
    Source: Wilson (1927).

    Examples
    --------
    >>> Wilson(0.9).level
    0.9
    """

    level: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", level_ok(self.level))

    @property
    def over(self) -> tuple[str, ...]:
        """The column that groups rows into cases."""
        return (CASE,)

    def words(self) -> str:
        """Word the method, as the column `method` has it."""
        return "Wilson, trials taken as independent"


@dataclass(frozen=True)
class Sandwich:
    """Robust errors of a regression, summed within clusters: the option `ci=` of `gee`.

    Parameters
    ----------
    cluster : str or two of them, optional
        Column of the clusters, or two crossed columns; `case_id` when absent.
    level : float
        Confidence level, between 0 and 1.
    kind : {"robust", "bias_reduced"}
        Sandwich errors with the normal distribution; or errors corrected for the leverage of each
        cluster, with Student's t on clusters minus coefficients, for fewer than 40 clusters.

    Notes
    -----
    Sources: Liang and Zeger (1986; robust), Mancl and DeRouen (2001; bias_reduced).

    Examples
    --------
    >>> Sandwich("template").over
    ('template',)
    """

    cluster: str | Sequence[str] | None = None
    level: float = 0.95
    kind: Literal["robust", "bias_reduced"] = "robust"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cluster", _columns("Sandwich.cluster", self.cluster))
        object.__setattr__(self, "level", level_ok(self.level))
        if self.kind not in ("robust", "bias_reduced"):
            raise UnknownName.among("kind of robust errors", str(self.kind), ("robust", "bias_reduced"))

    @property
    def over(self) -> tuple[str, ...]:
        """The columns of the clusters."""
        return _over(self.cluster)


SANDWICH = Sandwich()
"""The default of `ci=` in `gee`."""
CI: TypeAlias = Bootstrap | Wilson | None
BOOTSTRAP = Bootstrap()
"""The default of `ci=`: 10,000 resamples of the cases, seed 42, 95 %."""
NO_INTERVAL = (CASE,)


_DRAWN = "ig.Bootstrap(n=10_000, seed=42, cluster=None, level=0.95)"


def drawn(ci: Any) -> Bootstrap | None:
    """Return the bootstrap, or None; raise for anything else."""
    return ci if ci is None else needed(ci, f"{_DRAWN} or None")


def any_kind(ci: Any) -> CI:
    """Return a bootstrap, Wilson or None; raise for anything else."""
    if ci is None or isinstance(ci, Wilson):
        return ci
    return needed(ci, f"{_DRAWN}, ig.Wilson(level=0.95) or None")


def needed(ci: Any, allowed: str = "ig.Bootstrap(n=10_000, seed=42, cluster=None)") -> Bootstrap:
    """Return the bootstrap; raise for anything else, None too."""
    if isinstance(ci, Bootstrap):
        return ci
    raise SchemaError("ci=", got=ci, allowed=allowed, remedy="import icgkit as ig; give ci=ig.Bootstrap()")


def clusters_of(ci: CI) -> tuple[str, ...]:
    """Return the columns of the clusters; cases where nothing is drawn."""
    return NO_INTERVAL if ci is None else ci.over


def t_quantile(share: float, freedom: int) -> float:
    """Return the quantile of Student's t."""
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    return float(stdtrit(freedom, share))


def t_below(t: float, freedom: int) -> float:
    """Return the share of Student's t that lies below."""
    from scipy.special import stdtr

    return float(stdtr(freedom, t))


def level_of(ci: CI) -> float | None:
    """Return the confidence level, or None without an interval."""
    return None if ci is None else ci.level
