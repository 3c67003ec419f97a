"""What many worlds need: money, dates and times as they are written, small tables of the world."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

Date = dt.date

MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split(),
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(),
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря".split(),
    "el": "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου".split(),
    "he": "בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר".split(),
    "ar": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر".split(),
    "hi": "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर".split(),
}
DAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
    "es": "lunes martes miércoles jueves viernes sábado domingo".split(),
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica".split(),
    "pt": "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo".split(),
    "ru": "понедельник вторник среда четверг пятница суббота воскресенье".split(),
    "el": "Δευτέρα Τρίτη Τετάρτη Πέμπτη Παρασκευή Σάββατο Κυριακή".split(),
    "he": "יום שני|יום שלישי|יום רביעי|יום חמישי|יום שישי|שבת|יום ראשון".split("|"),
    "ar": "الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد".split(),
    "hi": "सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार".split(),
    "ja": list("月火水木金土日"),
    "zh": [f"星期{x}" for x in "一二三四五六日"],
    "ko": list("월화수목금토일"),
}


def weekday(lang: str) -> Callable[[Date], str]:
    """Return a function that names the weekday of a date."""
    return lambda date: DAYS[lang][date.weekday()]


def day_month(lang: str, form: str = "{d} {m}") -> Callable[[Date], str]:
    """Return a function that writes a date; `{d}`, `{m}` (name of the month), `{n}` (its number), `{y}`."""
    return lambda date: form.format(
        d=date.day, m=MONTHS.get(lang, MONTHS["en"])[date.month - 1], n=date.month, y=date.year
    )


def clock(minutes: int) -> str:
    """Write minutes since midnight as 24-hour time.

    Examples
    --------
    >>> clock(65), clock(24 * 60 + 5)
    ('01:05', '00:05')
    """
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def clock12(minutes: int) -> str:
    """Write minutes since midnight as 12-hour time.

    Examples
    --------
    >>> clock12(0), clock12(13 * 60 + 30)
    ('12:00 am', '1:30 pm')
    """
    hour = minutes // 60 % 24
    return f"{(hour + 11) % 12 + 1}:{minutes % 60:02d} {'pm' if hour >= 12 else 'am'}"


def money(form: str, point: str = ".", thousand: str = ",", digits: int = 2) -> Callable[[int], str]:
    """Return a function that writes an amount, given in the smallest unit, as `form` with `{}`.

    Examples
    --------
    >>> money("{} €", ",", ".")(123450), money("¥{}", digits=0)(3500)
    ('1.234,50 €', '¥3,500')
    """

    def written(amount: int) -> str:
        sign, whole = ("−" if amount < 0 else ""), abs(amount)
        text = (
            f"{whole / 10**digits:,.{digits}f}".replace(",", "\0").replace(".", point).replace("\0", thousand)
        )
        return sign + form.format(text)

    return written


def season(date: Date) -> str:
    """Return the northern season of a date by its month."""
    return ("winter", "spring", "summer", "autumn")[date.month % 12 // 3]


def move(date: Date, days: int) -> Date:
    """Return a date some days later."""
    return date + dt.timedelta(days=days)


def by(name: str, *steps: int) -> Callable[[dict[str, Any], Random], Any]:
    """Return an edit that moves a number by one of some steps."""
    return lambda v, rng: v[name] + rng.choice(steps)


def other(
    names: Sequence[str], k: int, free: Iterable[Any], good: Callable[[Any, Any], bool] = lambda *_: True
) -> Callable[[dict[str, Any], Random], Any]:
    """Return an edit of the k-th name to what none of the names has yet; `good(new, old)` rules more out."""
    choice = list(free)

    def change(v: dict[str, Any], rng: Random) -> Any:
        taken = [v[n] for n in names]
        return rng.choice([x for x in choice if x not in taken and good(x, taken[k])] or [None])

    return change
