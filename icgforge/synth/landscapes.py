"""The landscapes that `scenery.picture` draws: places, seasons, times of day, weather, landmarks."""

from __future__ import annotations

import math
from functools import partial

from icgforge.synth.scenery import KINDS, RGB, Pen, cloud, fir, house, kind, mix, palm, skyline, sun, tree

# One call, one stroke, one row a line.
# fmt: off

WHITE: RGB = (250, 251, 252)


@kind("beach")
def _beach(p: Pen) -> None:
    p.sky((96, 184, 226), (206, 236, 244), 0.5)
    sun(p, p.rng.uniform(0.2, 0.8), 0.18, 0.9)
    cloud(p, p.rng.uniform(0.15, 0.85), 0.14, 0.8, WHITE)
    p.rect(0, 0.46, 1, 1, (38, 140, 178))
    for _ in range(9):
        x, y = p.rng.uniform(0, 1), p.rng.uniform(0.49, 0.62)
        p.line([(x, y), (x + 0.8 * p.u, y)], (120, 198, 220), 0.07)
    p.hill(0.72, 0.03, (240, 214, 160), 1.2)
    p.hill(0.76, 0.03, (232, 200, 142), 1.6)
    x = p.rng.uniform(0.35, 0.6)
    for k in range(8):
        a0, a1 = math.pi + k * math.pi / 8, math.pi + (k + 1) * math.pi / 8
        arc = [(x + math.cos(a) * 1.6 * p.u, 0.74 + math.sin(a) * 1.3 * p.v) for a in (a0, a1)]
        p.poly([(x, 0.74), *arc], (226, 74, 68) if k % 2 else WHITE)
    p.line([(x, 0.74), (x, 0.74 + 1.5 * p.v)], (120, 90, 60), 0.1)
    palm(p, 0.86, 0.84, 5.2)
    palm(p, 0.12, 0.9, 4.2)


@kind("snow")
def _snow(p: Pen) -> None:
    p.sky((128, 176, 214), (222, 234, 244))
    for x, h, w in ((0.22, 5.6, 4.2), (0.7, 6.6, 5.0), (0.47, 4.4, 3.4)):
        p.poly([(x - w * p.u, 0.78), (x + w * p.u, 0.78), (x, 0.78 - h * p.v)], (122, 140, 164))
        cap = 0.36
        left, right = (x - w * cap * p.u, 0.78 - h * (1 - cap) * p.v), (x + w * cap * p.u, 0.78 - h * (1 - cap) * p.v)
        zig = [(x + w * cap * 0.4 * p.u, right[1] - 0.5 * p.v), (x, right[1] + 0.1 * p.v), (x - w * cap * 0.4 * p.u, left[1] - 0.5 * p.v)]
        p.poly([left, (x, 0.78 - h * p.v), right, *zig], WHITE)
    p.hill(0.74, 0.05, (236, 242, 248), 1.3)
    p.hill(0.86, 0.03, (218, 228, 240), 1.8)
    for x in (0.08, 0.17, 0.83, 0.92):
        fir(p, x, 0.86 + p.rng.uniform(-0.03, 0.05), p.rng.uniform(2.4, 3.6), (44, 92, 84), snow=True)
    house(p, 0.5, 0.88, 2.2, (134, 90, 58), WHITE, (252, 214, 120))
    _flakes(p, 26)


def _flakes(p: Pen, n: int) -> None:
    for _ in range(n):
        p.disc(p.rng.random(), p.rng.uniform(0, 0.95), p.rng.uniform(0.06, 0.13), WHITE)


@kind("desert")
def _desert(p: Pen) -> None:
    p.sky((244, 178, 108), (252, 226, 176), 0.7)
    sun(p, p.rng.uniform(0.2, 0.8), 0.24, 1.1, (255, 240, 190))
    p.hill(0.6, 0.07, (224, 164, 96), 1.6)
    p.hill(0.7, 0.06, (210, 142, 78), 1.2)
    p.hill(0.84, 0.05, (194, 122, 66), 1.7)
    for x, s in ((0.18, 1.5), (0.8, 1.9)):
        y, g = 0.86, (74, 128, 84)
        p.rect(x - 0.2 * s * p.u, y - 2 * s * p.v, x + 0.2 * s * p.u, y, g, 0.2 * s)
        for side, lift in ((-1, 0.7), (1, 1.0)):
            x1 = x + side * 0.62 * s * p.u
            p.line([(x, y - lift * s * p.v), (x1, y - lift * s * p.v), (x1, y - (lift + 0.7) * s * p.v)], g, 0.3 * s)
            p.disc(x1, y - (lift + 0.7) * s * p.v, 0.15 * s, g)


@kind("forest")
def _forest(p: Pen) -> None:
    p.sky((150, 198, 186), (222, 238, 214))
    for base, tone, s in ((0.66, (110, 160, 130), 3.4), (0.8, (66, 124, 92), 4.4), (0.95, (38, 88, 66), 5.6)):
        p.rect(0, base - 0.02, 1, 1, mix(tone, (60, 100, 60), 0.3))
        x = p.rng.uniform(-0.04, 0.02)
        while x < 1.04:
            fir(p, x, base + p.rng.uniform(-0.01, 0.04), s * p.rng.uniform(0.8, 1.15), tone)
            x += s * 0.34 * p.u
    p.poly([(0.46, 1), (0.62, 1), (0.53, 0.84), (0.51, 0.84)], (178, 146, 104))


@kind("city")
def _city(p: Pen) -> None:
    p.sky((140, 184, 220), (232, 238, 240))
    cloud(p, p.rng.uniform(0.2, 0.8), 0.12, 0.8, WHITE)
    skyline(p, 0.84, (150, 166, 190), None, 9, 5.2)
    skyline(p, 0.86, (84, 104, 136), (252, 224, 150), 8, 3.6)
    p.rect(0, 0.85, 1, 1, (78, 82, 90))
    for k in range(7):
        p.rect(k / 7 + 0.02, 0.92, k / 7 + 0.09, 0.935, (236, 226, 190))
    x = p.rng.uniform(0.2, 0.7)
    p.rect(x, 0.86, x + 1.6 * p.u, 0.86 + 0.5 * p.v, (222, 92, 64), 0.15)
    p.rect(x + 0.3 * p.u, 0.86 - 0.32 * p.v, x + 1.2 * p.u, 0.86 + 0.1 * p.v, (222, 92, 64), 0.12)
    for dx in (0.35, 1.25):
        p.disc(x + dx * p.u, 0.86 + 0.5 * p.v, 0.2, (34, 34, 38))


@kind("harbour")
def _harbour(p: Pen) -> None:
    p.sky((156, 204, 228), (236, 240, 232), 0.55)
    p.hill(0.5, 0.04, (134, 160, 140), 1.1)
    for k in range(6):
        house(p, 0.06 + k * 0.17, 0.56, 1.5, [(236, 196, 120), (214, 110, 88), (240, 232, 214), (130, 170, 190)][k % 4], (150, 72, 58))
    p.rect(0, 0.56, 1, 1, (52, 118, 158))
    for _ in range(12):
        x, y = p.rng.random(), p.rng.uniform(0.62, 0.97)
        p.line([(x, y), (x + 0.9 * p.u, y)], (108, 168, 198), 0.08)
    for x, y, s, c in ((0.28, 0.78, 1.9, (196, 60, 56)), (0.72, 0.88, 2.5, (34, 62, 110))):
        p.poly([(x - s * 0.6 * p.u, y), (x + s * 0.6 * p.u, y), (x + s * 0.4 * p.u, y + s * 0.25 * p.v), (x - s * 0.4 * p.u, y + s * 0.25 * p.v)], c)
        p.line([(x, y), (x, y - s * 1.2 * p.v)], (90, 66, 50), 0.1)
        p.poly([(x + 0.08 * p.u, y - s * 1.15 * p.v), (x + 0.08 * p.u, y - 0.15 * p.v), (x + s * 0.55 * p.u, y - 0.15 * p.v)], WHITE)
        p.poly([(x - 0.08 * p.u, y - s * 0.95 * p.v), (x - 0.08 * p.u, y - 0.15 * p.v), (x - s * 0.4 * p.u, y - 0.15 * p.v)], (240, 226, 200))


@kind("farm")
def _farm(p: Pen) -> None:
    p.sky((132, 192, 232), (230, 242, 236), 0.6)
    cloud(p, p.rng.uniform(0.15, 0.85), 0.16, 0.9, WHITE)
    p.hill(0.56, 0.04, (150, 186, 96), 1.3)
    p.hill(0.66, 0.03, (214, 190, 92), 1.1)
    for k in range(-6, 13):
        p.line([(0.5 + (k - 3) * 0.03, 0.68), (0.5 + (k - 3) * 0.16, 1)], (190, 162, 70), 0.12)
    house(p, 0.24, 0.68, 3.0, (178, 58, 50), (96, 44, 42), WHITE)
    p.rect(0.24 + 2.0 * p.u, 0.68 - 2.6 * p.v, 0.24 + 3.0 * p.u, 0.68, (190, 196, 200))
    p.disc(0.24 + 2.5 * p.u, 0.68 - 2.6 * p.v, 0.5, (160, 168, 174))
    tree(p, 0.82, 0.68, 3.6, (94, 150, 72))


@kind("night")
def _night(p: Pen) -> None:
    p.sky((16, 22, 58), (62, 60, 110))
    _stars(p, 40)
    p.disc(0.78, 0.2, 0.85, (244, 238, 206))
    p.disc(0.78 + 0.38 * p.u, 0.2 - 0.12 * p.v, 0.75, (26, 32, 70))
    skyline(p, 0.9, (32, 36, 72), (250, 208, 112), 8, 4.6)
    p.rect(0, 0.89, 1, 1, (18, 20, 40))


def _stars(p: Pen, n: int) -> None:
    for _ in range(n):
        p.disc(p.rng.random(), p.rng.uniform(0, 0.6), p.rng.uniform(0.04, 0.1), (250, 246, 220))


def _part_of_day(p: Pen, top: RGB, low: RGB, light: str, ground: RGB, windows: RGB) -> None:
    p.sky(top, low)
    if light == "moon":
        _stars(p, 30)
        p.disc(0.72, 0.22, 0.9, (246, 242, 216))
        p.disc(0.72 + 0.42 * p.u, 0.22 - 0.14 * p.v, 0.8, mix(top, low, 0.2))
    elif light == "rise":
        sun(p, 0.3, 0.68, 1.4, (255, 196, 120))
    elif light == "set":
        sun(p, 0.72, 0.66, 1.5, (246, 104, 70))
    else:
        sun(p, 0.5, 0.2, 1.0, (255, 224, 110), rays=True)
        cloud(p, 0.2, 0.24, 0.7, WHITE)
    p.hill(0.72, 0.05, ground, 1.2)
    p.hill(0.8, 0.04, mix(ground, (20, 20, 40), 0.25), 1.5)
    dark = light in ("moon", "set")
    for x in (0.2, 0.34, 0.66):
        wall: RGB = (70, 66, 92) if dark else (240, 226, 200)
        house(p, x, 0.86, 1.9, wall, (50, 40, 60) if dark else (176, 84, 64), windows)
    tree(p, 0.86, 0.88, 3.2, mix((74, 140, 80), (20, 24, 50), 0.6 if dark else 0.0))


KINDS["morning"] = partial(_part_of_day, top=(150, 180, 220), low=(255, 214, 170), light="rise", ground=(150, 180, 120), windows=(150, 180, 200))
KINDS["noon"] = partial(_part_of_day, top=(70, 160, 226), low=(196, 230, 246), light="high", ground=(122, 188, 98), windows=(130, 170, 196))
KINDS["evening"] = partial(_part_of_day, top=(92, 64, 128), low=(255, 170, 96), light="set", ground=(96, 74, 86), windows=(252, 206, 104))
KINDS["midnight"] = partial(_part_of_day, top=(12, 18, 48), low=(48, 54, 104), light="moon", ground=(34, 44, 72), windows=(252, 214, 112))


def _season(p: Pen, top: RGB, low: RGB, ground: RGB, crown: RGB | None, extra: str) -> None:
    p.sky(top, low)
    if extra == "summer":
        sun(p, 0.8, 0.18, 1.0, (255, 214, 80), rays=True)
    elif extra != "winter":
        cloud(p, 0.24, 0.16, 0.8, WHITE)
    p.hill(0.72, 0.05, mix(ground, (255, 255, 255), 0.18), 1.2)
    p.hill(0.8, 0.04, ground, 1.6)
    tree(p, 0.3, 0.88, 6.2, crown)
    tree(p, 0.72, 0.84, 4.4, mix(crown, (255, 255, 255), 0.12) if crown else None)
    if extra == "spring":
        for _ in range(26):
            x, y = p.rng.random(), p.rng.uniform(0.86, 0.98)
            p.disc(x, y, 0.14, p.rng.choice([(250, 224, 90), (238, 120, 150), WHITE]))
    elif extra == "autumn":
        for _ in range(34):
            x, y = p.rng.random(), p.rng.uniform(0.45, 0.98)
            p.disc(x, y, 0.13, p.rng.choice([(206, 92, 40), (232, 160, 50), (168, 60, 40)]), 0.6)
    elif extra == "winter":
        for dy, r in ((-0.35, 0.75), (-1.3, 0.55), (-2.0, 0.4)):
            p.disc(0.52, 0.9 + dy * p.v, r + 0.08, (150, 170, 196))
            p.disc(0.52, 0.9 + dy * p.v, r, (252, 253, 255))
        p.poly([(0.52, 0.9 - 2.0 * p.v), (0.52, 0.9 - 1.88 * p.v), (0.52 + 0.6 * p.u, 0.9 - 1.9 * p.v)], (236, 130, 50))
        _flakes(p, 34)


KINDS["spring"] = partial(_season, top=(150, 206, 236), low=(234, 244, 236), ground=(136, 190, 100), crown=(244, 178, 200), extra="spring")
KINDS["summer"] = partial(_season, top=(70, 164, 228), low=(206, 234, 240), ground=(110, 176, 76), crown=(60, 138, 66), extra="summer")
KINDS["autumn"] = partial(_season, top=(190, 200, 204), low=(244, 226, 196), ground=(176, 146, 84), crown=(220, 118, 44), extra="autumn")
KINDS["winter"] = partial(_season, top=(158, 180, 204), low=(226, 234, 242), ground=(240, 244, 250), crown=None, extra="winter")


def _weather(p: Pen, top: RGB, low: RGB, kind_: str) -> None:
    p.sky(top, low)
    wet = kind_ in ("rain", "storm")
    if kind_ == "sunny":
        sun(p, 0.7, 0.26, 1.3, (255, 210, 76), rays=True)
    else:
        tone: RGB = (92, 98, 116) if kind_ == "storm" else (238, 241, 244) if not wet else (150, 158, 172)
        for x, y, s in ((0.22, 0.2, 1.3), (0.56, 0.14, 1.5), (0.84, 0.24, 1.2)):
            cloud(p, x, y, s, tone)
    p.hill(0.78, 0.04, mix((120, 172, 100), low, 0.35 if kind_ != "snowfall" else 0.95), 1.4)
    p.hill(0.88, 0.03, (242, 246, 250) if kind_ == "snowfall" else mix((84, 144, 84), (60, 66, 80), 0.4 if wet else 0.0), 1.8)
    house(p, 0.22, 0.88, 2.4, (236, 220, 190), (242, 246, 250) if kind_ == "snowfall" else (168, 80, 62))
    tree(p, 0.78, 0.9, 3.8, None if kind_ == "snowfall" else (76, 140, 78))
    if wet:
        for _ in range(70):
            x, y = p.rng.random(), p.rng.uniform(0.26, 0.96)
            p.line([(x, y), (x - 0.15 * p.u, y + 0.55 * p.v)], (206, 222, 240), 0.07)
    if kind_ == "storm":
        z = [(0.5, 0.24), (0.44, 0.44), (0.5, 0.43), (0.43, 0.66), (0.58, 0.38), (0.52, 0.39), (0.57, 0.24)]
        p.poly(z, (255, 226, 92))
    if kind_ == "snowfall":
        _flakes(p, 60)
    if kind_ == "fog":
        for k in range(6):
            x = p.rng.uniform(-0.3, 0.4)
            p.rect(x, 0.44 + 0.09 * k, x + p.rng.uniform(0.5, 0.8), 0.5 + 0.09 * k, (226, 231, 234), 0.4)


KINDS["sunny"] = partial(_weather, top=(72, 160, 226), low=(208, 234, 244), kind_="sunny")
KINDS["rain"] = partial(_weather, top=(104, 120, 142), low=(176, 190, 202), kind_="rain")
KINDS["storm"] = partial(_weather, top=(44, 48, 72), low=(110, 112, 134), kind_="storm")
KINDS["snowfall"] = partial(_weather, top=(156, 174, 196), low=(224, 230, 238), kind_="snowfall")
KINDS["fog"] = partial(_weather, top=(190, 198, 204), low=(226, 228, 228), kind_="fog")
