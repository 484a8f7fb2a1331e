# SPDX-License-Identifier: Apache-2.0
"""The PyTorch models behind testdata/models: each function gives a Sample with fixed random weights and one batch.

`tools/dev/make_testdata.py` exports them. Dropout probabilities are 0 except in `dropout`.
"""

import dataclasses
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F


def cross_entropy(output, target):
    """Mean over the valid labels; classes on axis 1 for images, else on the last."""
    if output.dim() == 4:
        return F.cross_entropy(output, target)
    return F.cross_entropy(output.reshape(-1, output.size(-1)), target.reshape(-1))


@dataclasses.dataclass
class Sample:
    module: nn.Module
    inputs: tuple
    target: torch.Tensor | None = None
    loss: Callable = cross_entropy


class Pick(nn.Module):
    """Returns one field of what a transformers model gives; its parameters get the prefix `m.`."""

    def __init__(self, m, key="logits"):
        super().__init__()
        self.m, self.key = m, key

    def forward(self, *a):
        return getattr(self.m(*a), self.key)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 32), nn.Tanh(),
                                 nn.Linear(32, 5))

    def forward(self, x):
        return self.net(x)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1, groups=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.classifier = nn.Linear(256, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class DigitsCnn(nn.Module):
    """A classifier for 8x8 pictures of handwritten digits, of the size that a laptop trains in seconds."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Linear(256, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class BertMasked(nn.Module):
    """Labels each token; padding is masked out, token types tell two sentences apart."""

    def __init__(self):
        super().__init__()
        from transformers import BertConfig, BertForTokenClassification
        self.bert = BertForTokenClassification(BertConfig(**BERT, num_labels=5))

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits


class SelfLoss(nn.Module):
    """A regression whose only output is its own loss: squared error plus a penalty on the first layer's weights."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(16, 32), nn.Linear(32, 4)

    def forward(self, x, y):
        error = self.out(torch.tanh(self.hidden(x))) - y
        return error.pow(2).mean() + 0.01 * self.hidden.weight.pow(2).mean()


BERT = dict(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            attn_implementation="sdpa")


def mlp():
    return Sample(Mlp(), (torch.randn(8, 16),), torch.randint(0, 5, (8,)))


def cnn():
    return Sample(Cnn(), (torch.randn(4, 3, 16, 16),), torch.randint(0, 10, (4,)))


def resnet():
    from torchvision.models.resnet import BasicBlock, ResNet
    m = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=10)
    m.inplanes, m.conv1, m.bn1 = 8, nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8)
    for i, channels in enumerate((8, 16, 32, 64)):
        setattr(m, f"layer{i + 1}", m._make_layer(BasicBlock, channels, 1, stride=1 if i == 0 else 2))
    m.fc = nn.Linear(64, 10)
    return Sample(m, (torch.randn(4, 3, 64, 64),), torch.randint(0, 10, (4,)))


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(vocab_size=96, n_positions=32, n_embd=32, n_layer=2, n_head=4, use_cache=False, resid_pdrop=0.0,
                        embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="sdpa")
    m = Pick(GPT2LMHeadModel(config))
    target = torch.randint(0, 96, (2, 16))
    return Sample(m, (torch.randint(0, 96, (2, 16)),), target)


def bert():
    from transformers import BertConfig, BertForSequenceClassification
    m = Pick(BertForSequenceClassification(BertConfig(**BERT)))
    target = torch.randint(0, 2, (4,))
    return Sample(m, (torch.randint(0, 96, (4, 16)),), target)


def digits_cnn():
    from sklearn.datasets import load_digits
    digits = load_digits()
    x = torch.tensor(digits.images[:8, None] / 16, dtype=torch.float32)
    return Sample(DigitsCnn(), (x,), torch.tensor(digits.target[:8], dtype=torch.int64))


def bert_masked():
    m = BertMasked()
    ids, lengths = torch.randint(1, 96, (4, 16)), torch.tensor([16, 11, 7, 14])
    position = torch.arange(16).expand(4, 16)
    mask = (position < lengths[:, None]).long()
    types = ((position >= lengths[:, None] // 2) & (mask == 1)).long()
    labels = torch.randint(0, 5, (4, 16)).masked_fill((mask == 0) | (torch.rand(4, 16) < 0.2), -100)
    return Sample(m, (ids * mask, mask, types), labels)


def self_loss():
    return Sample(SelfLoss(), (torch.randn(8, 16), torch.randn(8, 4)), None, lambda output, _: output)


def dropout():
    m = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 4))
    return Sample(m, (torch.randn(32, 16),), torch.randint(0, 4, (32,)))
