"""What adapters of torch loaders share."""

from __future__ import annotations

import os
from typing import Any


def identity(batch: Any) -> Any:
    """Collates a batch as the list of its samples."""
    return batch


def join_ranks() -> None:
    """Joins torch's process group, as training programs do, if there are several ranks."""
    import torch.distributed as dist

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not dist.is_initialized():
        dist.init_process_group("gloo")
