"""Trains with torch's DistributedDataParallel. You can kill it at any time and start it again.

    torchrun --nproc-per-node 2 examples/python/ddp.py examples/quickstart/target/data --checkpoint checkpoint.pt

The restarted program continues from its checkpoint with exactly the remaining batches, also with another number of
processes. The target is a dataset directory or the name of a running feed. Images are resized to 64 x 64 pixels.
"""

from __future__ import annotations

import argparse
import io
import os
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from PIL import Image
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stoker import Feed


def picture(data: Any) -> Any:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB").resize((64, 64)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains an image classifier on several processes.")
    parser.add_argument("target", help="a dataset of images in classes, or a feed of it")
    parser.add_argument("--checkpoint", default="checkpoint.pt")
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()

    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", rank % torch.cuda.device_count()) if torch.cuda.is_available() else "cpu"

    # The feed reads rank and world size from torch.distributed. All ranks make the same number of steps.
    with Feed(options.target, batch_size=16, decode={"image": picture}, epochs=options.epochs, pin_memory=True) as feed:
        net = nn.Sequential(nn.AvgPool2d(4), nn.Flatten(), nn.LazyLinear(len(feed.classes["label"]))).to(device)
        net(torch.zeros(1, 3, 64, 64, device=device))
        model = DistributedDataParallel(net)
        optimizer = torch.optim.AdamW(model.parameters())
        if os.path.exists(options.checkpoint):
            saved = torch.load(options.checkpoint, map_location=device)
            net.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            feed.load_state_dict(saved["feed"])  # one position for all ranks
        for batch in feed.batches():
            data = batch.to(device, non_blocking=True)
            scores = model(data["image"].permute(0, 3, 1, 2).float() / 255)
            loss = nn.functional.cross_entropy(scores, data["label"].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"rank {rank} epoch {batch.epoch} batch {batch.number} loss {loss.item():.3f}", flush=True)
            if rank == 0:
                state = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "feed": batch.state}
                torch.save(state, options.checkpoint + ".part")
                os.replace(options.checkpoint + ".part", options.checkpoint)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
