"""JAX copies to the GPU after the program has let go of the batch, too."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stoker

pytestmark = pytest.mark.full("programs")

ROWS = 64


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_arrays_on_the_gpu_have_what_the_batch_had(tmp_path: Path, pinned: bool, named: bool) -> None:
    generator = np.random.default_rng(2)
    schema = {"image": "uint8(3,100,100)", "label": "int64", "weight": "bfloat16"}
    with stoker.Writer(tmp_path / "data", schema=schema) as writer:
        for number in range(20 * ROWS):
            image = generator.integers(0, 256, (3, 100, 100), np.uint8)
            writer.write({"key": f"{number:06d}", "image": image, "label": number, "weight": 0.5})
    gpu = jax.devices("gpu")[0]
    square = jax.device_put(jnp.ones((4096, 4096)), gpu)
    wanted, got = [], []
    with stoker.Feed(tmp_path / "data", batch_size=ROWS, pin_memory=pinned, buffer_bytes=1 << 20) as feed:
        for batch in feed:
            for _ in range(20):
                square = square @ square / 4096
            wanted.append((int(batch.image.astype(np.int64).sum()), int(batch.label.sum()), 0.5 * ROWS))
            data = batch.to_jax(gpu) if named else batch.to_jax()
            assert all(column.devices() == {gpu} for column in (data.image, data.label, data.weight))
            got.append((data.image.astype(jnp.int32).sum(), data.label.sum(), data.weight.astype(jnp.float32).sum()))
            del batch, data
    assert len(wanted) == 20
    assert [tuple(map(float, each)) for each in got] == wanted
