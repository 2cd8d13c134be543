"""Networks, comparisons and the state of PyTorch that the tests of PyTorch's modules share."""
import pytest

import saccade

torch = pytest.importorskip("torch", reason="needs ./script/bootstrap --exporters")
pytest.importorskip("onnxscript", reason="needs ./script/bootstrap --exporters")
from torch import library, nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import saccade.torch  # noqa: E402


@library.custom_op("saccade_test::twist", mutates_args=())
def twist(x: torch.Tensor) -> torch.Tensor:
    """An operator that ONNX does not have."""
    return x.flip(-1) + 1


@twist.register_fake
def _(x):
    return torch.empty_like(x)


class Block(nn.Module):
    """A small residual network: (n, 3, h, w) to (n, 5)."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.norm, self.last = nn.BatchNorm2d(8), nn.Linear(8, 5)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = functional.relu(self.norm(self.first(x)), inplace=True)
        y = y + self.second(y)
        return self.last(self.drop(y.mean((2, 3))))


class Twisted(nn.Module):
    """Convolutions around an operator that ONNX does not have."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3)

    def forward(self, x):
        return self.second(twist(self.first(x).relu())).relu()


class Transformer(nn.Module):
    """A vision transformer of two blocks."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, stride=8)
        self.position = nn.Parameter(torch.randn(1, 17, 32))
        self.token = nn.Parameter(torch.randn(1, 1, 32))
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(x), -1, -1), tokens], 1) + self.position
        return self.head(self.encoder(tokens)[:, 0])


class Nested(nn.Module):
    """Structures in and out, with numbers and nothing among them."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3)

    def forward(self, inputs, scale, *, power=2, bias=None):
        y = self.convolution(inputs["image"]).relu() * scale
        y = y if bias is None else y + bias
        return {"maps": [y, y**power], "sum": (y.sum(), power, None), "image": inputs["image"]}


class Returns(nn.Module):
    """A module of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def seeded(make, *args, **kwargs):
    """A module in evaluation mode with random weights, also where they start at zero."""
    torch.manual_seed(3)
    module = make(*args, **kwargs).eval()
    for name, parameter in module.named_parameters():
        if parameter.ndim == 1 or not parameter.any():
            nn.init.normal_(parameter, 1 if name.endswith("weight") else 0, 0.1)
    return module


def images(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def assert_close(ours, theirs, rtol=1e-3, atol=1e-4):
    ours, theirs = pytree.tree_flatten(ours), pytree.tree_flatten(theirs)
    assert ours[1] == theirs[1]
    for a, b in zip(ours[0], theirs[0]):
        if isinstance(b, torch.Tensor):
            torch.testing.assert_close(a, b, rtol=rtol, atol=atol)
        else:
            assert a == b


@pytest.fixture(autouse=True)
def fresh():
    """Each test has PyTorch without compiled code, and an empty report."""
    torch._dynamo.reset()
    saccade.torch._reports.forget()
    with torch.no_grad():
        yield


def compiled(module, **options):
    return torch.compile(module, backend="saccade", options=options or None)


def last():
    return saccade.torch.explain().graphs[-1]
