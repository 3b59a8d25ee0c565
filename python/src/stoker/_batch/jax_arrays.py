"""Batches as JAX arrays. Nothing imports JAX before it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stoker._batch.tensors import Tensors, converted
from stoker.errors import MissingDependencyError

if TYPE_CHECKING:
    from stoker._batch.batch import Batch


def arrays_of(batch: Batch, device: Any) -> Tensors:
    """See `Batch.to_jax`."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as e:
        raise MissingDependencyError("Batch.to_jax needs JAX: pip install jax") from e

    def array(values: Any, element: str) -> Any:
        if element == "bfloat16":
            made = jnp.asarray(values.view(jnp.bfloat16))
        elif values.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
            made = jnp.asarray(values, dtype=f"{values.dtype.kind}4")  # else JAX warns, and does the same
        else:
            made = jnp.from_dlpack(values)
        return made if device is None else jax.device_put(made, device)

    return converted(batch, array, lambda ragged: ragged)
