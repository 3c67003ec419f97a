from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import io
import os
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms, PngImagePlugin

from icgkit.calls.request import Request, address, hashed_url, record_for
from icgkit.cases import images
from icgkit.cases.case import Case, Target
from icgkit.cases.images import MAX_BYTES, check_all, prepare
from icgkit.errors import ImageError


def opened(prepared: Any) -> Image.Image:
    image = Image.open(io.BytesIO(prepared.data))
    image.load()
    return image


def test_bytes_pass_through_when_they_fit(tmp_path: Path) -> None:
    for form, name, media in (
        ("JPEG", "a.jpg", "image/jpeg"),
        ("PNG", "b.png", "image/png"),
        ("WEBP", "c.webp", "image/webp"),
    ):
        Image.new("RGB", (300, 200), "red").save(tmp_path / name, form)
        got = prepare(tmp_path / name)
        assert got.data == (tmp_path / name).read_bytes()
        assert (got.media_type, got.width, got.height) == (media, 300, 200)
        assert got.sha256 == hashlib.sha256(got.data).hexdigest()
        assert got.data_url.startswith(f"data:{media};base64,")


def test_media_type_comes_from_the_bytes(tmp_path: Path) -> None:
    Image.new("RGB", (10, 10)).save(tmp_path / "a.jpg ", "PNG")
    assert prepare(tmp_path / "a.jpg ").media_type == "image/png"
    Image.new("RGB", (10, 10)).save(tmp_path / "b.jpg", "WEBP")
    assert prepare(tmp_path / "b.jpg").media_type == "image/webp"
    Image.new("RGB", (10, 10), "red").save(tmp_path / "c.jpg", "BMP")
    assert prepare(tmp_path / "c.jpg").media_type == "image/png"


def test_large_images_are_scaled_with_their_aspect(tmp_path: Path) -> None:
    Image.new("RGB", (3000, 1500), "red").save(tmp_path / "a.jpg")
    got = prepare(tmp_path / "a.jpg")
    assert (got.width, got.height) == (1024, 512)
    assert opened(got).size == (1024, 512)
    Image.new("RGB", (5000, 3), "red").save(tmp_path / "b.png")
    assert (prepare(tmp_path / "b.png").width, prepare(tmp_path / "b.png").height) == (1024, 1)
    assert prepare(tmp_path / "b.png", max_side=6000).width == 5000


def test_scaling_is_bilinear(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    source = Image.fromarray(rng.integers(0, 255, (200, 2048, 3), dtype=np.uint8))
    source.save(tmp_path / "a.png")
    want = source.resize((1024, 100), Image.Resampling.BILINEAR)
    assert np.array_equal(np.asarray(opened(prepare(tmp_path / "a.png"))), np.asarray(want))


def test_exif_rotation_is_applied(tmp_path: Path) -> None:
    image = Image.new("RGB", (40, 20), "white")
    image.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    image.save(tmp_path / "a.png", exif=exif)
    got = opened(prepare(tmp_path / "a.png"))
    assert got.size == (20, 40)
    assert got.getpixel((19, 0)) == (255, 0, 0)


@pytest.mark.parametrize("mode", ["CMYK", "LA", "1", "I", "F", "I;16", "RGBA", "PA"])
def test_modes_become_rgb(tmp_path: Path, mode: str) -> None:
    if mode == "CMYK":
        Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "a", "JPEG")
    elif mode == "F":
        Image.fromarray(np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)).save(tmp_path / "a", "TIFF")
    elif mode == "I;16":
        Image.fromarray((np.arange(64, dtype=np.uint16) * 1000).reshape(8, 8)).save(tmp_path / "a", "PNG")
    elif mode == "PA":
        Image.new("RGBA", (8, 8), (255, 0, 0, 0)).convert("PA").convert("RGBA").save(tmp_path / "a", "PNG")
    else:
        Image.new(mode, (8, 8)).save(tmp_path / "a", "TIFF" if mode == "I" else "PNG")
    got = opened(prepare(tmp_path / "a"))
    assert got.mode == "RGB"
    if mode in ("LA", "RGBA", "PA"):  # wholly transparent: white
        assert got.getpixel((0, 0)) == (255, 255, 255)
    if mode == "CMYK":
        red, green, blue = got.getpixel((0, 0))  # type: ignore[misc]
        assert red > 200 > 60 > max(green, blue)
    if mode in ("F", "I;16"):
        assert got.getpixel((0, 0))[0] < 5  # type: ignore[index]
        assert got.getpixel((7, 7))[0] > 240  # type: ignore[index]


def test_palette_with_transparency_goes_on_white(tmp_path: Path) -> None:
    image = Image.new("P", (8, 8), 0)
    image.putpalette([0, 0, 0, 255, 0, 0])
    image.save(tmp_path / "a.png", transparency=0)
    assert opened(prepare(tmp_path / "a.png")).getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("form", ["GIF", "PNG"])
def test_animated_images_give_their_first_frame_and_one_warning(tmp_path: Path, form: str) -> None:
    first, second = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (8, 8), "blue")
    first.save(tmp_path / "a", form, save_all=True, append_images=[second])
    with pytest.warns(UserWarning, match="animated") as caught:
        got, _ = opened(prepare(tmp_path / "a")), prepare(tmp_path / "a")
    assert len(caught) == 1
    assert got.getpixel((0, 0))[0] > 200  # type: ignore[index]


def test_what_is_sent_stays_below_the_limit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 255, (1300, 1300, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 4_700_000
    got = prepare(tmp_path / "a.png", max_side=1300)
    assert len(got.data) <= MAX_BYTES
    assert len(got.data_url) < 5_000_000


def test_a_file_is_prepared_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGB", (10, 10), "red").save(path)
    first = prepare(path)
    assert prepare(path) is first
    Image.new("RGB", (11, 10), "blue").save(path)
    assert prepare(path).sha256 != first.sha256


def make_case(folder: Any, name: str, number: int) -> Case:
    target = Target(element="a", region="b", action="c")
    return Case(
        id=f"c{number}", image=name, image_size=(9, 9), instruction="x", source="s", target=target
    ).within(folder, "demo")


def test_all_bad_images_are_listed_at_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 255, (200, 200, 3), dtype=np.uint8))
    noise.save(tmp_path / "good.jpg")
    noise.save(tmp_path / "half.jpg")
    data = (tmp_path / "half.jpg").read_bytes()
    (tmp_path / "half.jpg").write_bytes(data[: len(data) // 2])
    (tmp_path / "zero.jpg").write_bytes(b"")
    (tmp_path / "page.jpg").write_text("<html></html>", encoding="utf-8")
    names = ["good.jpg", "half.jpg", "zero.jpg", "page.jpg", "gone.jpg", "half.jpg"]
    cases = [make_case(tmp_path, name, i) for i, name in enumerate(names)]
    assert check_all(cases[:1]) == 1
    with pytest.raises(ImageError, match="4 of 5 images") as caught:
        check_all(cases)
    text = str(caught.value)
    assert all(f"c{i} ({names[i]})" in text for i in (1, 2, 3, 4, 5))
    assert "c0" not in text
    for name in ("zero.jpg", "page.jpg", "gone.jpg"):
        with pytest.raises(ImageError):
            prepare(tmp_path / name)


def test_tiny_pictures_are_checked(tmp_path: Path) -> None:
    for number, size in enumerate([(5, 5), (300, 5), (1, 700)]):
        Image.new("RGB", size).save(tmp_path / f"{number}.jpg")
    assert check_all(make_case(tmp_path, f"{n}.jpg", n) for n in range(3)) == 3


def test_pixels_are_counted_before_they_are_decoded(tmp_path: Path) -> None:
    """A PNG of 377 kB held 178 million pixels and took 4.6 GB."""
    head = Image.new("I;16", (64, 64))
    head.save(tmp_path / "a.png")
    data = bytearray((tmp_path / "a.png").read_bytes())
    data[16:24] = (13_300).to_bytes(4, "big") + (13_400).to_bytes(4, "big")
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    (tmp_path / "a.png").write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with pytest.raises(ImageError, match="too large; got '178,220,000 pixels'"):
            prepare(tmp_path / "a.png")
        with pytest.raises(ImageError, match="too large"):
            check_all([make_case(tmp_path, "a.png", 1)])


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L", "I;16", "F"])
def test_large_images_come_out_alike_with_less_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    rng = np.random.default_rng(0)
    smooth = Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8)).resize((1333, 777), 3)
    if mode == "I;16":
        smooth = Image.fromarray(np.asarray(smooth.convert("L")).astype(np.uint16) * 257)
    elif mode == "RGBA":
        smooth.putalpha(Image.new("L", smooth.size, 128))
    else:
        smooth = smooth.convert(mode)
    exif = Image.Exif()
    exif[0x0112] = 6
    smooth.save(tmp_path / "a", "TIFF" if mode == "F" else "PNG", exif=exif)
    usual = opened(prepare(tmp_path / "a", 200))
    monkeypatch.setattr(images, "_LARGE", 1000)
    monkeypatch.setattr(images, "_BAND", 9000)
    monkeypatch.setattr(images, "_PREPARED", images.Kept(0))
    scaled = opened(prepare(tmp_path / "a", 200))
    assert scaled.size == usual.size == (117, 200)
    apart = np.abs(np.asarray(scaled, dtype=float) - np.asarray(usual))
    assert apart.mean() < (6 if mode == "P" else 2)


def test_only_named_formats_are_decoded(tmp_path: Path) -> None:
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n"
    (tmp_path / "a.png").write_bytes(eps)
    Image.new("RGB", (9, 9)).save(tmp_path / "b.png", "DDS")
    for name in ("a.png", "b.png"):
        with pytest.raises(ImageError, match="no image of a known format"):
            prepare(tmp_path / name)


@pytest.mark.parametrize("place", ["before", "after"])
def test_long_text_in_a_picture_is_left_out(tmp_path: Path, place: str) -> None:
    Image.new("RGB", (30, 20), "red").save(tmp_path / "a.png")
    data = (tmp_path / "a.png").read_bytes()
    cut = 33 if place == "before" else data.index(b"IEND") - 4
    body = b"zTXtworkflow\0\0" + zlib.compress(b"x" * 60_000_000)
    chunk = (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    (tmp_path / "b.png").write_bytes(data[:cut] + chunk + data[cut:])
    assert prepare(tmp_path / "b.png").data == data
    check_all([make_case(tmp_path, "b.png", 1)])
    info = PngImagePlugin.PngInfo()
    info.add_text("note", "short", zip=True)
    Image.new("RGB", (30, 20), "red").save(tmp_path / "c.png", pnginfo=info)
    assert prepare(tmp_path / "c.png").data == (tmp_path / "c.png").read_bytes()


def test_a_profile_goes_with_the_pixels_it_is_for(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for mode, form, kept in (("CMYK", "TIFF", None), ("L", "PNG", None), ("RGB", "PNG", profile)):
        Image.new(mode, (1500, 9)).save(tmp_path / mode, form, icc_profile=profile)
        assert opened(prepare(tmp_path / mode)).info.get("icc_profile") == kept


def test_damaged_pictures_raise_one_error_only(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    source = Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8))
    for form in images.FORMATS:
        source.save(tmp_path / "good", form)
        data = (tmp_path / "good").read_bytes()
        for number in range(60):
            spoilt = bytearray(data)
            for at in rng.integers(0, min(len(data), 400), 4):
                spoilt[at] = rng.integers(0, 256)
            (tmp_path / f"{form}{number}").write_bytes(spoilt)
            with warnings.catch_warnings(), contextlib.suppress(ImageError):
                warnings.simplefilter("ignore")
                prepare(tmp_path / f"{form}{number}", 16)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero", "a\0b", "n" * 400, "."):
        with pytest.raises(ImageError):
            prepare(f"{tmp_path}/{name}")


def test_what_is_kept_is_counted_in_bytes() -> None:
    kept: images.Kept[str] = images.Kept(100)
    for key in "abc":
        kept.put(key, key, 40)
    assert [kept.get(key) for key in "abc"] == [None, "b", "c"]
    kept.put("b", "B", 70)
    assert [kept.get(key) for key in "abc"] == [None, "B", None]
    kept.put("d", "d", 101)
    assert kept.get("d") is None
    assert kept.get("b") == "B"


def test_a_plain_data_url_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"some bytes of a picture"
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    asked = address(
        Request("m", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])
    )
    assert asked.images == (url,)
    assert asked.images[0].sha256 == hashlib.sha256(data).hexdigest()  # type: ignore[attr-defined]
    for odd in (url + '"', url[:-1] + "!", "https://example.org/a.png", "data:image/png,abc"):
        assert hashed_url(odd) is odd
    monkeypatch.setattr(binascii, "a2b_base64", None)
    assert record_for(asked, text="x").image_sha256 == asked.images[0].sha256  # type: ignore[attr-defined]
