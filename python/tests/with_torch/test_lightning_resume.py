"""Lightning saves and restores a feed automatically, and takes the number of steps of an epoch from its length."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import torch

from small_datasets import small_dataset
from stoker import Feed

lightning = pytest.importorskip("lightning")
pytestmark = [pytest.mark.full("programs"), pytest.mark.filterwarnings("ignore")]


def fit(root: Path, folder: Path, checkpoint: Path | None = None, **options: Any) -> list[tuple[int, int]]:
    class Model(lightning.LightningModule):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.net, self.seen = torch.nn.Linear(1, 1), list[tuple[int, int]]()

        def training_step(self, batch: Any, _: int) -> Any:
            self.seen.append((batch.epoch, batch.number))
            return self.net(torch.as_tensor(batch["label"], dtype=torch.float32)[:, None]).mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.01)

        def transfer_batch_to_device(self, batch: Any, *_: Any) -> Any:
            return batch

    for name in ("lightning", "lightning.pytorch"):
        logging.getLogger(name).setLevel(logging.ERROR)
    model = Model()
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(accelerator="cpu", default_root_dir=str(folder), **quiet, **options)
    with Feed(root, batch_size=4, lanes=2) as feed:
        trainer.fit(model, feed, ckpt_path=checkpoint and str(checkpoint))
    return model.seen


def test_a_run_that_is_resumed_in_an_epoch_trains_on_all_batches(tmp_path: Path) -> None:
    root = small_dataset(tmp_path / "d").root
    whole = [(epoch, number) for epoch in range(3) for number in range(10)]
    save = lightning.pytorch.callbacks.ModelCheckpoint(
        dirpath=tmp_path, every_n_train_steps=7, save_top_k=-1, filename="{step}"
    )
    assert fit(root, tmp_path, callbacks=[save], max_steps=20) == whole[:20]
    rest = fit(root, tmp_path, tmp_path / "step=14.ckpt", max_epochs=3, enable_checkpointing=False)
    assert rest == whole[14:]
