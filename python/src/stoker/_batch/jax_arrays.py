"""Batches as JAX arrays. Nothing imports JAX before it is asked for."""

from __future__ import annotations

from typing import Any

from stoker._batch.tensors import Converter
from stoker._batch.torch_tensors import is_tensor
from stoker.errors import MissingDependencyError


def converter(device: Any) -> Converter:
    """Returns the conversion of columns to JAX arrays on a device; see `Batch.to_jax`."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as e:
        raise MissingDependencyError("Batch.to_jax needs JAX: pip install jax") from e

    in_place = device is not None or jax.default_backend() == "cpu"

    def array(values: Any, element: str) -> Any:
        if is_tensor(values):
            values = values.detach().cpu().numpy()
        if element == "bfloat16":
            made = jnp.asarray(values.view(jnp.bfloat16))
        elif values.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
            made = jnp.asarray(values, dtype=f"{values.dtype.kind}4")  # else JAX warns, and does the same
        elif in_place:
            made = jnp.from_dlpack(values)
        else:
            made = jnp.asarray(values)
        return made if device is None else jax.device_put(made, device)

    return Converter(array, None)
