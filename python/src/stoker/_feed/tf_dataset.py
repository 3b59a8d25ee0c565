"""A feed as a `tf.data.Dataset`. Nothing imports TensorFlow before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from stoker._batch.batch import Batch
from stoker._batch.missing import Filling, Missing
from stoker._batch.ragged import Ragged
from stoker._feed.reading import Reading
from stoker._format.fields import Field
from stoker._format.list_types import TEXTS
from stoker.errors import MissingDependencyError

_IMAGES = {"rgb": (None, None, None, 3), "gray": (None, None, None)}


def dataset_of(
    begin: Callable[[], Iterator[Batch]], reading: Reading, signature: Mapping[str, Any], missing: Missing
) -> Any:
    """See `Feed.as_tf_dataset`. `begin` begins the next iteration of the feed."""
    try:
        import tensorflow as tf
    except ImportError as e:
        raise MissingDependencyError("Feed.as_tf_dataset needs TensorFlow: pip install tensorflow-cpu") from e
    reading.info  # noqa: B018 - connects, and so knows the form
    fields = reading.form.fields
    decode = reading.options.decode or {}

    def spec(field: Field) -> Any:
        if field.name in signature:
            return signature[field.name]
        if field.name in decode:
            how = decode[field.name]
            if callable(how):
                raise ValueError(
                    f"decode={{{field.name!r}: …}} is a function: describe its result for a batch, as in "
                    f"as_tf_dataset(signature={{{field.name!r}: tf.TensorSpec((None, 224, 224, 3), tf.uint8)}})"
                )
            return tf.TensorSpec(_IMAGES[how.partition(":")[0]], tf.uint8)
        if field.special is not None or (field.item is not None and not field.is_ragged):
            raise ValueError(
                f"field {field.name!r} has the type {field.type}, which no TensorFlow tensor holds; leave it out with "
                "Feed(columns=[…]), or convert it in a loop over the feed"
            )
        if field.type in TEXTS:
            return tf.TensorSpec((None,), tf.string)
        kind = tf.bfloat16 if field.element == "bfloat16" else tf.as_dtype(field.dtype)
        if field.is_ragged:
            return tf.RaggedTensorSpec((None, None), kind, 1, tf.int64)
        return tf.TensorSpec((None, *(field.shape or ())), kind)

    Filling(missing, fields, "as_tf_dataset", "")

    def columns(batch: Batch) -> dict[str, Any]:
        filling = batch.filling(missing, "as_tf_dataset")
        return {name: _column(tf, batch, field, name in decode, filling) for name, field in fields.items()}

    specs = {name: spec(field) for name, field in fields.items()}
    return tf.data.Dataset.from_generator(lambda: Converted(begin(), columns), output_signature=specs)


class Converted(Iterator[Any]):
    """Converts batches. Not a generator, since an error would end it; here `next` can be called again after one."""

    def __init__(self, batches: Iterator[Batch], convert: Callable[[Batch], Any]) -> None:
        self._batches, self._convert = batches, convert
        self._batch: Batch | None = None
        """Handed out by the feed and not converted."""

    def __next__(self) -> Any:
        while self._batch is None:
            for batch in self._batches:
                self._batch = batch
                break
            else:
                raise StopIteration
        converted = self._convert(self._batch)
        self._batch = None
        return converted


def _column(tf: Any, batch: Batch, field: Field, decoded: bool, filling: Filling) -> Any:
    value = batch[field.name]
    if decoded:
        if isinstance(value, list) and len({np.shape(row) for row in value}) > 1:
            raise ValueError(
                f"field {field.name}: decoded rows have different shapes and cannot form a tensor; crop or resize them"
            )
        return _filled(np.ma.asarray(value), field, filling)
    half = tf.bfloat16.as_numpy_dtype if field.element == "bfloat16" else None
    if isinstance(value, Ragged):
        if not field.is_ragged:
            return _texts(value.tolist(), batch.validity(field.name), field, filling)
        first, last = int(value.offsets[0]), int(value.offsets[-1])
        items = batch.item_validity(field.name)
        flat = value.values if items is None else filling.filled(field, value.values, ~items.values)
        flat = flat[first:last]
        return tf.RaggedTensor.from_row_splits(
            flat if half is None else flat.view(half), value.offsets.astype(np.int64) - first, validate=False
        )
    if isinstance(value, np.ndarray):
        plain = _filled(value, field, filling)
        return plain if half is None else plain.view(half)
    return _texts(value, batch.validity(field.name), field, filling)


def _filled(value: Any, field: Field, filling: Filling) -> Any:
    mask = np.ma.getmaskarray(value)
    plain = value.data if isinstance(value, np.ma.MaskedArray) else value
    return filling.filled(field, plain, mask) if mask.any() else plain


def _texts(rows: list[Any], valid: Any, field: Field, filling: Filling) -> list[Any]:
    """Texts or byte strings, with the given one where there is none."""
    if valid is None or not field.nullable:
        return rows
    absent = filling.value_of(field, int((~valid).sum()), "" if field.type == "utf8" else b"")
    if not isinstance(absent, str if field.type == "utf8" else bytes):
        raise TypeError(f"missing={{{field.name!r}: {absent!r}}}: the field has the type {field.type}")
    return [row if ok else absent for row, ok in zip(rows, valid.tolist(), strict=True)]
