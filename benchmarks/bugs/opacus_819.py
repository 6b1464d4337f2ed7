"""meta-pytorch/opacus 571 and 819 (open): the batch size leaks.

Opacus 1.6.0. The gradient is divided by `expected_batch_size` = int(N * sample_rate), which depends
on N, the number of records: if one is added, the noise in the answer has another scale. Claimed:
epsilon = 1.912 at delta = .01 for one step (q = 1/2, noise multiplier 1), by the RDP accountant.
True: it grows with the number of weights, of which there are 100; one weight alone shows little.

Data: a list of vectors of 100 floats. Answer: 100 floats.
"""

from __future__ import annotations

import logging
import warnings
from typing import Any

import torch
from opacus import PrivacyEngine

warnings.simplefilter("ignore")
torch.set_num_threads(1)
logging.disable(logging.WARNING)
WIDTH, BATCH = 100, 2


def train(data: Any) -> Any:
    """Return the weights after one step, and the optimizer."""
    model: Any = torch.nn.Linear(WIDTH, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    records = torch.utils.data.TensorDataset(torch.tensor(data, dtype=torch.float32))
    loader: Any = torch.utils.data.DataLoader(records, batch_size=BATCH)
    model, optimizer, loader = PrivacyEngine(accountant="rdp").make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        data_loader=loader,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    (batch,) = next(iter(loader))
    optimizer.zero_grad()
    (model(batch).mean() if len(batch) else model(torch.zeros(0, WIDTH)).sum()).backward()
    optimizer.step()
    return model._module.weight.detach().ravel(), optimizer  # noqa: SLF001


def release(data: Any) -> Any:
    """Return the weights."""
    return train(data)[0].tolist()


def control(data: Any) -> Any:
    """Undo the division."""
    weights, optimizer = train(data)
    return (weights * optimizer.expected_batch_size).tolist()
