"""torch.compile(backend="saccade"): structures, layouts, views and types are those of PyTorch."""
import pytest
from torch_networks import Block, Nested, Returns, Twisted, assert_close, compiled, fresh, images, last, seeded, twist  # noqa: F401

import torch
from torch import nn
from torch.nn import functional
from torch.utils import _pytree as pytree

import saccade


def test_structures_and_numbers():
    module = seeded(Nested)
    network = compiled(module)
    x = {"image": images(1, 3, 12, 12)}
    assert_close(network(x, 2), module(x, 2))
    assert_close(network(x, 3.5, power=3, bias=torch.tensor(1.5)), module(x, 3.5, power=3, bias=torch.tensor(1.5)))
    assert_close(network(x, torch.tensor(0.5)), module(x, torch.tensor(0.5)))
    assert network(x, 2)["image"] is x["image"]


def test_inputs_are_mutated():
    def function(x, y):
        x.mul_(2)
        y[:, 0] = x[:, 0]
        return functional.max_pool2d(x, 2).relu() + 1

    ours, theirs = [images(1, 3, 8, 8), images(1, 3, 8, 8, seed=1)], [images(1, 3, 8, 8), images(1, 3, 8, 8, seed=1)]
    assert_close(compiled(function)(*ours), function(*theirs))
    assert_close(ours, theirs)


@pytest.mark.parametrize("form", ["channels_last", "sliced", "transposed", "expanded", "broadcast_batch"])
def test_layouts(form):
    module = seeded(Block)
    x = {
        "channels_last": lambda: images(2, 3, 12, 12).to(memory_format=torch.channels_last),
        "sliced": lambda: images(2, 3, 24, 30)[:, :, ::2, 3:15],
        "transposed": lambda: images(2, 3, 16, 12).transpose(2, 3),
        "expanded": lambda: images(2, 1, 12, 12).expand(-1, 3, -1, -1),
        "broadcast_batch": lambda: images(1, 3, 12, 12).expand(4, -1, -1, -1),
    }[form]()
    assert_close(compiled(module)(x), module(x))
    assert last().parts == 1


def test_the_layout_of_outputs_is_kept():
    module = seeded(nn.Conv2d, 3, 8, 3).to(memory_format=torch.channels_last)
    x = images(1, 3, 8, 8).to(memory_format=torch.channels_last)
    ours, theirs = compiled(module)(x), module(x)
    assert_close(ours, theirs)
    assert ours.stride() == theirs.stride()


def test_an_operator_between_parts_sees_the_layout_it_was_traced_with():
    class Between(Twisted):
        def forward(self, x):
            y = self.first(x).relu().permute(0, 2, 3, 1)
            return functional.softmax(twist(y).view(1, -1, 8), -1).sum(-1) * 3

    module = seeded(Between)
    x = images(1, 3, 12, 12).to(memory_format=torch.channels_last)
    module.to(memory_format=torch.channels_last)
    assert_close(compiled(module)(x), module(x))


def test_returned_views_share_memory():
    def function(x):
        y = functional.avg_pool2d(x, 2).relu() * 2
        return y, y.view(-1)[3:], y.transpose(1, 3).split(2, 1), x[:, 1:], functional.max_pool2d(y.mT, 2)

    x = images(1, 3, 8, 12)
    ours, theirs = compiled(function)(x), function(x)
    assert_close(ours, theirs)
    assert [each.stride() for each in pytree.tree_leaves(ours)] == [each.stride() for each in pytree.tree_leaves(theirs)]
    assert last().parts == 1
    ours[0].zero_()
    assert not ours[1].any() and not ours[2][1].any()
    assert ours[3].data_ptr() == x[:, 1:].data_ptr()


@pytest.mark.parametrize("strided", [
    lambda y: y[:, 1:].as_strided((2, 2), (4, 1), 0),
    lambda y: y[:, :, :, ::2].as_strided((2, 2), (3, 1)),
    lambda y: y[:, :1].as_strided((2, 20), (4, 1)),
    lambda y: y.split(1, 1)[1].as_strided((2, 2), (4, 1), 0),
], ids=["before", "gaps", "behind", "one_of_several"])
def test_what_reads_the_memory_of_views_runs_in_pytorch(strided):
    """It reads numbers that the view does not have."""
    def function(x):
        return functional.softmax(strided(functional.avg_pool2d(x, 2).relu() + 1), -1) * 2

    x = images(1, 3, 8, 8)
    assert_close(compiled(function)(x), function(x))
    assert last().fallbacks["aten::as_strided", "it depends on the layout in memory"] == 1
    assert last().parts == 2

    def of_input(x):
        return functional.softmax(strided(x), -1) * 2

    x = images(3, 3, 8, 8)[1:2]
    assert_close(compiled(of_input)(x), of_input(x))


@pytest.mark.parametrize("dynamic", [False, True])
def test_assertions_are_checked(dynamic):
    def function(x):
        torch._assert(x.sum() < 1000, "too bright")
        return functional.avg_pool2d(x, 2).relu() + 1

    network = torch.compile(function, backend="saccade", dynamic=dynamic)
    assert_close(network(images(1, 3, 8, 8)), function(images(1, 3, 8, 8)))
    assert last().parts == 1
    with pytest.raises(RuntimeError, match="too bright"):
        network(torch.full((1, 3, 8, 8), 100.0))


def test_an_empty_batch_runs_in_pytorch():
    module = seeded(Block)
    network = compiled(module)
    assert network(images(0, 3, 12, 12)).shape == (0, 5)
    assert last().reason == "empty tensors are not supported"
    assert_close(network(images(2, 3, 12, 12)), module(images(2, 3, 12, 12)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.complex64])
def test_types_that_the_engine_lacks_run_in_pytorch(dtype):
    def function(x):
        return (x * 2 + x).reshape(3, -1) @ x.reshape(-1, 3)

    x = images(3, 4).to(dtype)
    assert_close(compiled(function)(x), function(x), rtol=1e-2, atol=1e-2)
    assert last().parts == 0 and any(str(dtype) in why for _, why in last().fallbacks)


@pytest.mark.parametrize("function, dtype", [
    (lambda x: x.sum(), torch.float16),
    (lambda x: x.cumsum(1), torch.float16),
    (lambda x: x.any(), torch.uint8),
], ids=["sum", "cumsum", "any"])
def test_types_are_pytorchs(function, dtype):
    """PyTorch's exporter gives these another type."""
    x = (images(2, 8) * 10).to(dtype)
    assert_close(saccade.from_torch(Returns(function), x, device="cpu")(x), function(x), rtol=1e-2, atol=1e-2)

    def pooled(x):
        return function(functional.max_pool1d(x.float(), 2).to(dtype))

    assert_close(compiled(pooled)(x), pooled(x), rtol=1e-2, atol=1e-2)
    assert last().parts == 1


def test_autocast_is_respected():
    module, x = seeded(Block), images(1, 3, 12, 12)
    network = compiled(module)
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(network(x), module(x), rtol=5e-2, atol=5e-2)
    assert_close(network(x), module(x))


def test_inference_mode():
    module = seeded(Block)
    network = compiled(module)
    with torch.inference_mode():
        x = images(1, 3, 12, 12)
        assert_close(network(x), module(x))
        assert last().parts == 1
