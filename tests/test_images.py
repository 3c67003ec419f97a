from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from icgkit.errors import ImageError
from icgkit.graph import Case, Target
from icgkit.images import MAX_BYTES, check_all, prepare


def opened(prepared) -> Image.Image:
    image = Image.open(io.BytesIO(prepared.data))
    image.load()
    return image


def test_bytes_pass_through_when_they_fit(tmp_path) -> None:
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


def test_media_type_comes_from_the_bytes(tmp_path) -> None:
    Image.new("RGB", (10, 10)).save(tmp_path / "a.jpg ", "PNG")
    assert prepare(tmp_path / "a.jpg ").media_type == "image/png"
    Image.new("RGB", (10, 10)).save(tmp_path / "b.jpg", "WEBP")
    assert prepare(tmp_path / "b.jpg").media_type == "image/webp"
    Image.new("RGB", (10, 10), "red").save(tmp_path / "c.jpg", "BMP")
    assert prepare(tmp_path / "c.jpg").media_type == "image/png"


def test_large_images_are_scaled_with_their_aspect(tmp_path) -> None:
    Image.new("RGB", (3000, 1500), "red").save(tmp_path / "a.jpg")
    got = prepare(tmp_path / "a.jpg")
    assert (got.width, got.height) == (1024, 512)
    assert opened(got).size == (1024, 512)
    Image.new("RGB", (5000, 3), "red").save(tmp_path / "b.png")
    assert (prepare(tmp_path / "b.png").width, prepare(tmp_path / "b.png").height) == (1024, 1)
    assert prepare(tmp_path / "b.png", max_side=6000).width == 5000


def test_scaling_is_bilinear(tmp_path) -> None:
    rng = np.random.default_rng(0)
    source = Image.fromarray(rng.integers(0, 255, (200, 2048, 3), dtype=np.uint8))
    source.save(tmp_path / "a.png")
    want = source.resize((1024, 100), Image.Resampling.BILINEAR)
    assert np.array_equal(np.asarray(opened(prepare(tmp_path / "a.png"))), np.asarray(want))


def test_exif_rotation_is_applied(tmp_path) -> None:
    image = Image.new("RGB", (40, 20), "white")
    image.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    image.save(tmp_path / "a.png", exif=exif)
    got = opened(prepare(tmp_path / "a.png"))
    assert got.size == (20, 40)
    assert got.getpixel((19, 0)) == (255, 0, 0)


@pytest.mark.parametrize("mode", ["CMYK", "LA", "1", "I", "F", "I;16", "RGBA", "PA"])
def test_modes_become_rgb(tmp_path, mode: str) -> None:
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
        red, green, blue = got.getpixel((0, 0))
        assert red > 200 > 60 > max(green, blue)
    if mode in ("F", "I;16"):
        assert got.getpixel((0, 0))[0] < 5
        assert got.getpixel((7, 7))[0] > 240


def test_palette_with_transparency_goes_on_white(tmp_path) -> None:
    image = Image.new("P", (8, 8), 0)
    image.putpalette([0, 0, 0, 255, 0, 0])
    image.save(tmp_path / "a.png", transparency=0)
    assert opened(prepare(tmp_path / "a.png")).getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("form", ["GIF", "PNG"])
def test_animated_images_give_their_first_frame_and_one_warning(tmp_path, form: str) -> None:
    first, second = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (8, 8), "blue")
    first.save(tmp_path / "a", form, save_all=True, append_images=[second])
    with pytest.warns(UserWarning, match="animated") as caught:
        got, _ = opened(prepare(tmp_path / "a")), prepare(tmp_path / "a")
    assert len(caught) == 1
    assert got.getpixel((0, 0))[0] > 200


def test_what_is_sent_stays_below_the_limit(tmp_path) -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 255, (1300, 1300, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 4_700_000
    got = prepare(tmp_path / "a.png", max_side=1300)
    assert len(got.data) <= MAX_BYTES
    assert len(got.data_url) < 5_000_000


def test_a_file_is_prepared_once_until_it_changes(tmp_path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGB", (10, 10), "red").save(path)
    first = prepare(path)
    assert prepare(path) is first
    Image.new("RGB", (11, 10), "blue").save(path)
    assert prepare(path).sha256 != first.sha256


def make_case(folder, name: str, number: int) -> Case:
    target = Target(element="a", region="b", action="c")
    return Case(
        id=f"c{number}", image=name, image_size=(9, 9), instruction="x", source="s", target=target
    ).within(folder, "demo")


def test_all_bad_images_are_listed_at_once(tmp_path) -> None:
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
