import torch
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(range(8))


def test_data_loader_runs_worker_processes():
    assert sorted(int(x) for b in DataLoader(Numbers(), batch_size=2, num_workers=1) for x in b) == list(range(8))
    assert torch.tensor([1]).numpy()[0] == 1
