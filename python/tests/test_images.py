"""`decode="rgb"` and `"gray"`: every kind of image becomes what a viewer shows, or is refused by name."""

from __future__ import annotations

import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from stoker import Feed, Writer, errors
from stoker._batch.images import MODES, image_decoder
from stoker._batch.ragged import Ragged
from stoker._batch.unequal_rows import UnequalRows

RAMP = np.linspace(0, 65535, 96).reshape(8, 12)
EIGHT = np.rint(RAMP / 257).astype(np.uint8)
SIXTEEN = RAMP.astype(np.uint16)


def encoded(image: Any, form: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def decoded(data: bytes, mode: str) -> Any:
    return image_decoder(mode, "image")(np.frombuffer(data, np.uint8))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["PNG", "TIFF", "PPM", "JPEG2000"])
def test_images_of_16_bits_are_scaled(form: str, mode: str) -> None:
    found = decoded(encoded(Image.fromarray(SIXTEEN), form), mode)
    assert found.shape == ((8, 12, 3) if mode.startswith("rgb") else (8, 12))
    plane = found[..., 0] if found.ndim == 3 else found
    assert abs(plane.astype(int) - EIGHT.astype(int)).max() <= 1
    assert found.flags.writeable


@pytest.mark.parametrize(
    ("pixels", "says"),
    [
        ((RAMP / 65535).astype(np.float32), r"floating-point numbers \(Pillow's mode F\)"),
        (SIXTEEN.astype(np.int32) << 12, r"32-bit numbers \(Pillow's mode I\)"),
    ],
)
def test_images_without_a_range_are_refused(tmp_path: Path, pixels: np.ndarray, says: str) -> None:
    with Writer(tmp_path / "d", {"image": "binary"}) as w:
        w.write({"key": "scan.tif", "image": encoded(Image.fromarray(pixels), "TIFF")})
    with (
        Feed(tmp_path / "d", batch_size=1, lanes=1, decode={"image": "gray"}) as feed,
        pytest.raises(errors.DecodeError, match=f"key 'scan.tif': field image .* the pixels are {says}.*: function"),
    ):
        next(iter(feed))


def turned(orientation: int, form: str) -> tuple[bytes, np.ndarray]:
    """A file with an orientation, and what viewers show of it."""
    from PIL import ImageOps

    shown = np.zeros((12, 8, 3), np.uint8)
    shown[:6, :4], shown[6:, 4:] = (200, 0, 0), (0, 200, 0)
    exif = Image.Exif()
    exif[0x112] = orientation
    stored = Image.fromarray(np.arange(12 * 8 * 3, dtype=np.uint8).reshape(8, 12, 3))
    data = encoded(stored, form, exif=exif, **({"lossless": True} if form == "WEBP" else {}))
    with Image.open(io.BytesIO(data)) as image:
        return data, np.array(ImageOps.exif_transpose(image).convert("RGB"))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_images_are_upright_as_in_a_viewer(form: str, orientation: int) -> None:
    data, shown = turned(orientation, form)
    assert (decoded(data, "rgb") == shown).all()
    assert decoded(data, "rgb").shape == ((12, 8, 3) if orientation > 4 else (8, 12, 3))
    with Image.open(io.BytesIO(data)) as image:
        stored = np.array(image.convert("RGB"))
    assert (decoded(data, "rgb:stored") == stored).all()


@pytest.mark.parametrize("kind", ["1", "L", "P", "LA", "PA", "RGBA", "CMYK", "YCbCr"])
def test_images_of_other_modes_are_as_pillow_converts_them(kind: str) -> None:
    form = {"CMYK": "JPEG", "YCbCr": "JPEG", "PA": "TIFF"}.get(kind, "PNG")
    data = encoded(Image.fromarray(EIGHT).convert("RGB").convert(kind), form)
    with Image.open(io.BytesIO(data)) as image:
        assert (decoded(data, "rgb") == np.array(image.convert("RGB"))).all()


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_a_damaged_orientation_is_ignored() -> None:
    data = encoded(Image.fromarray(EIGHT), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff garbage")
    assert decoded(data, "gray").shape == (8, 12)


def test_a_sample_that_cannot_be_decoded_says_how_to_leave_it_out(tmp_path: Path) -> None:
    whole = encoded(Image.fromarray(EIGHT), "PNG")
    with Writer(tmp_path / "d", {"image": "binary", "label": "categorical"}) as w:
        w.write({"key": "cat/1.jpg", "image": whole[: len(whole) // 2], "label": "cat"})
    advice = re.escape(
        f"stoker delete {tmp_path / 'd'} --keys-from FILE (docs/python.md, Samples that cannot be decoded)"
    )
    for decode in ("rgb", lambda row: 1 // 0):
        with (
            Feed(tmp_path / "d", batch_size=1, lanes=1, decode={"image": decode}) as feed,
            pytest.raises(errors.DecodeError, match=f"key 'cat/1.jpg': field image cannot be decoded: .*{advice}"),
        ):
            next(iter(feed))
    with pytest.raises(ValueError, match=r"decode=\{'label': 'rgb'\}: field 'label' is a class, and has no images"):
        Feed(tmp_path / "d", decode={"label": "rgb"})


def test_rows_of_different_shapes_say_what_to_do(tmp_path: Path) -> None:
    with Writer(tmp_path / "d", {"image": "binary"}) as w:
        for n in range(4):
            w.write({"key": f"{n}", "image": encoded(Image.fromarray(EIGHT[: n + 2]), "PNG")})
    with Feed(tmp_path / "d", batch_size=4, lanes=1, decode={"image": "rgb"}) as feed:
        images = next(iter(feed))["image"]
    assert isinstance(images, list)
    says = r"the rows of field 'image' have shapes such as \(2, 12, 3\), \(3, 12, 3\), so they are a list: .* a resize"
    for same in (images, pickle.loads(pickle.dumps(images))):
        with pytest.raises(AttributeError, match=f"there is no 'shape': {says}"):
            _ = same.shape
        with pytest.raises(ValueError, match=says):
            np.asarray(same)
        with pytest.raises(AttributeError, match="object has no attribute 'other'"):
            _ = same.other
    assert np.asarray(images, dtype=object).shape == (4,)
    mixed = UnequalRows([np.zeros(1), None], "x")
    with pytest.raises(AttributeError, match="have different types, or some have no value"):
        _ = mixed.shape


def test_rows_of_different_lengths_say_what_to_do() -> None:
    ragged = Ragged(np.arange(6, dtype=np.int16), np.array([0, 2, 2, 6], np.int32))
    says = r"decode bytes with Feed\(decode=\{field: 'rgb'\}\) or a function, or take \.padded\(\)"
    for name in ("shape", "dtype", "to"):
        with pytest.raises(AttributeError, match=f"a Ragged has no '{name}', .*{says}"):
            getattr(ragged, name)
        assert not hasattr(ragged, name)
    for call in (np.asarray, np.from_dlpack):
        with pytest.raises(ValueError, match=f"the rows have different lengths and form no array: {says}"):
            call(ragged)
    rows = np.asarray(ragged, dtype=object)
    assert [row.tolist() for row in rows] == [[0, 1], [], [2, 3, 4, 5]]
    equal = Ragged(np.arange(6, dtype=np.int16), np.array([0, 2, 4, 6], np.int32))
    assert np.asarray(equal).tolist() == np.from_dlpack(equal).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert np.asarray(equal, np.float32).dtype == np.float32
    assert [row.tolist() for row in pickle.loads(pickle.dumps(ragged))] == [[0, 1], [], [2, 3, 4, 5]]
