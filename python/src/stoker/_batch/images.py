"""The decoders `"rgb"` and `"gray"`: images as arrays of 8-bit values, upright, or a reason why there is none."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stoker._format.fields import Field
from stoker.errors import MissingDependencyError

STORED: Final = ":stored"
MODES: Final = ("rgb", "gray", "rgb" + STORED, "gray" + STORED)
"""What an image becomes. The last two leave it turned as it is stored."""
_ORIENTATION: Final = 0x0112
_TURNS: Final = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""Pillow's names of what makes an image upright, by the orientation in its EXIF data."""
_SIXTEEN_BITS: Final = ("PNG", "PPM")
"""Formats whose whole numbers have at most 16 bits, also where Pillow has 32."""


class UnsupportedImageError(ValueError):
    """An image has no defined form with 8 bits; the message says what to do."""


def require_bytes(field: Field, mode: str) -> None:
    """Raises `ValueError` for a field that holds no encoded images."""
    if field.type not in ("binary", "uint8[]"):
        what = "a class" if field.type == "categorical" else f"of type {field.type}"
        raise ValueError(f"decode={{{field.name!r}: {mode!r}}}: field {field.name!r} is {what}, and has no images")


def image_decoder(mode: str, field: str) -> Callable[[Any], npt.NDArray[np.uint8]]:
    """Returns the decoder of one of `MODES`. Raises `MissingDependencyError` without Pillow."""
    try:
        from PIL import Image
    except ImportError as e:
        raise MissingDependencyError(
            f"decode={{{field!r}: {mode!r}}} needs Pillow: pip install Pillow, or give a function instead"
        ) from e
    kind, _, stored = mode.partition(":")
    pillow_mode = {"rgb": "RGB", "gray": "L"}[kind]

    def decode(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            made: Any = Image.fromarray(_scaled(image)) if image.mode[0] in "IF" else image
            made = made if made.mode == pillow_mode else made.convert(pillow_mode)
            turn = None if stored else _TURNS.get(_orientation(image))
            return np.array(made.transpose(Image.Transpose[turn]) if turn else made)

    return decode


def _scaled(image: Any) -> npt.NDArray[np.uint8]:
    """An image of one channel with more than 8 bits, as one with 8 bits."""
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format in _SIXTEEN_BITS):
        values = np.asarray(image).astype(np.uint32)
        return ((values * 255 + 32_767) // 65_535).astype(np.uint8)
    what = "floating-point numbers" if image.mode == "F" else "32-bit numbers"
    raise UnsupportedImageError(
        f"the pixels are {what} (Pillow's mode {image.mode}), whose range is not defined; scale them with "
        "decode={…: function}"
    )


def _orientation(image: Any) -> int:
    """The orientation that the camera recorded; 1, upright, if there is none or it cannot be read."""
    try:
        found: int = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # damaged EXIF data, which viewers ignore
        return 1
    return found
