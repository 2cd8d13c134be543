"""PyTorch's modules in the engine: saccade.from_torch, and the backend of torch.compile.

Longer than other files: both share the networks, the comparisons and the state of PyTorch that each test resets.
"""
import logging
import subprocess
import sys
import threading
import tomllib

import pytest
from conftest import BUILD, ROOT

import saccade

torch = pytest.importorskip("torch", reason="needs ./script/bootstrap --exporters")
pytest.importorskip("onnxscript", reason="needs ./script/bootstrap --exporters")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import saccade.torch  # noqa: E402


@torch.library.custom_op("saccade_test::twist", mutates_args=())
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


# torch.compile

@pytest.mark.parametrize("make, shape", [(Block, (2, 3, 16, 16)), (Transformer, (2, 3, 32, 32))])
def test_a_network_runs_as_a_whole(make, shape):
    module = seeded(make)
    network = compiled(module)
    assert_close(network(images(*shape)), module(images(*shape)))
    report = saccade.torch.explain(network)
    assert [graph.parts for graph in report.graphs] == [1] and not report.fallbacks
    assert report.graphs[0].compiled == report.graphs[0].nodes > 5 and report.graphs[0].shapes == (shape,)
    assert "in Saccade, in 1 part" in str(report)


@pytest.mark.parametrize("name", ["resnet18", "convnext_tiny"])
def test_networks_of_torchvision(name):
    models = pytest.importorskip("torchvision.models", reason="needs torchvision")
    module = seeded(getattr(models, name))
    x = images(1, 3, 64, 64)
    assert_close(compiled(module)(x), module(x))
    assert last().compiled == last().nodes and last().parts == 1


def test_a_detector_runs_in_parts():
    """PyTorch captures it in several graphs, around sizes that depend on the data. Scores are spread, so that rounding does
    not decide the order of boxes."""
    detection = pytest.importorskip("torchvision.models.detection", reason="needs torchvision")
    module = seeded(detection.fasterrcnn_mobilenet_v3_large_320_fpn, weights=None, weights_backbone=None,
                    box_score_thresh=0, min_size=128, max_size=160)
    for layer in (module.roi_heads.box_predictor.cls_score, module.rpn.head.cls_logits):
        nn.init.normal_(layer.weight, 0, 0.3)
    x = [images(3, 100, 120).sigmoid(), images(3, 90, 80, seed=1).sigmoid()]
    network = compiled(module)
    for ours, theirs in zip(network(x), module(x)):
        assert len(theirs["boxes"]) == 100
        assert_close({name: values[:10] for name, values in ours.items()},
                     {name: values[:10] for name, values in theirs.items()})
    report = saccade.torch.explain()
    assert sum(graph.parts for graph in report.graphs) >= 4
    assert any(graph.compiled == graph.nodes > 250 for graph in report.graphs)
    assert any(name == "torchvision::roi_align" for name, _ in report.fallbacks)


def test_what_cannot_be_exported_stays_in_pytorch(caplog):
    module = seeded(Twisted)
    network = compiled(module)
    with caplog.at_level(logging.WARNING, "saccade.torch"):
        assert_close(network(images(1, 3, 12, 12)), module(images(1, 3, 12, 12)))
        assert_close(network(images(1, 3, 12, 12, seed=1)), module(images(1, 3, 12, 12, seed=1)))
    assert last().parts == 2 and last().compiled == last().nodes - 1
    assert last().fallbacks == {("saccade_test::twist", "ONNX has no form of it"): 1}
    assert [record.message for record in caplog.records] == [
        "saccade_test::twist runs in PyTorch: ONNX has no form of it"]


def test_only_failures_count_as_attempts(monkeypatch):
    from saccade import _torch_build
    monkeypatch.setattr(_torch_build, "MOST_ATTEMPTS", 2)
    monkeypatch.setattr(_torch_build, "_unexportable", set())
    module = seeded(Twisted)
    assert_close(compiled(module)(images(1, 3, 12, 12)), module(images(1, 3, 12, 12)))
    assert last().parts == 2


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_fused_encoder_layers_are_split(norm_first, activation):
    module = seeded(nn.TransformerEncoderLayer, 32, 4, 64, activation=activation, batch_first=True, norm_first=norm_first)
    network = compiled(module)
    assert_close(network(images(2, 7, 32)), module(images(2, 7, 32)))
    assert last().compiled == last().nodes and last().parts == 1
    mask = torch.zeros(2, 7, dtype=torch.bool)
    mask[1, 5:] = True
    ours, theirs = (f(images(2, 7, 32), src_key_padding_mask=mask) for f in (network, module))
    assert_close(ours[~mask], theirs[~mask])


def test_what_the_engine_refuses_stays_in_pytorch():
    def function(x):
        y = torch.fft.fft(functional.avg_pool2d(x, 2).relu() * 2 + 1).abs()
        return functional.max_pool2d(y, 2).exp()

    x = images(1, 3, 16, 16)
    assert_close(compiled(function)(x), function(x))
    assert last().parts >= 1 and any(name == "aten::_fft_r2c" for name, _ in last().fallbacks)


def test_a_culprit_without_a_name_is_searched(monkeypatch):
    """An error that names no node: the part is cut where its beginning starts to fail."""
    from saccade import _torch_engine, _torch_export
    load = _torch_engine.load

    def picky(program, **options):
        if any(node.op_type == "Sin" for node in program.model.graph):
            raise _torch_export.cannot_run("no sines")
        return load(program, **options)

    monkeypatch.setattr(_torch_engine, "load", picky)

    def function(x):
        return functional.avg_pool2d((functional.avg_pool2d(x, 2).relu() * 2 + 1).sin().relu() * 3, 2)

    x = images(1, 3, 16, 16)
    assert_close(compiled(function)(x), function(x))
    assert last().fallbacks == {("aten::sin", "no sines"): 1} and last().parts == 2


def test_shapes_are_built_up_to_a_bound(caplog):
    module = seeded(Block)
    network = compiled(module, max_shapes=3)
    with caplog.at_level(logging.WARNING, "saccade.torch"):
        for size in (8, 10, 12, 14, 16, 8, 12):
            assert_close(network(images(1, 3, size, size)), module(images(1, 3, size, size)))
    graphs = saccade.torch.explain(network).graphs
    assert {graph.shapes[0][-1] for graph in graphs if graph.parts} == {8, 10, 12}
    assert [graph.reason for graph in graphs if graph.reason] == ["it was compiled for 3 shapes already (max_shapes)"] * 2
    assert len([record for record in caplog.records if "3 shapes" in record.message]) == 1


def test_the_bound_counts_static_captures_too():
    module = seeded(Block)
    network = torch.compile(module, backend="saccade", dynamic=False, options=saccade.torch.options(max_shapes=2))
    for size in (8, 10, 12, 14):
        assert_close(network(images(1, 3, size, size)), module(images(1, 3, size, size)))
    assert sum(graph.parts for graph in saccade.torch.explain(network).graphs) == 2


def test_numbers_and_layouts_are_built_up_to_a_bound():
    """Of a graph that PyTorch captures once for all of them."""
    def scaled(x, factor):
        return functional.avg_pool2d(x, 2).relu() * factor

    network = torch.compile(scaled, backend="saccade", dynamic=True, options=saccade.torch.options(max_shapes=2))
    x = images(1, 3, 8, 8)
    for factor in (2, 3, 4, 5, 2, 6):
        assert_close(network(x, factor), scaled(x, factor))
    assert sum(graph.parts for graph in saccade.torch.explain().graphs) == 2
    saccade.torch._reports.forget()
    network = torch.compile(lambda x: scaled(x, 2), backend="saccade", dynamic=True,
                            options=saccade.torch.options(max_shapes=2))
    for width in (9, 10, 11, 12):
        x = images(1, 3, 8, width)[..., :8]
        assert_close(network(x), scaled(x, 2))
    assert [graph.parts for graph in saccade.torch.explain().graphs] == [1, 1, 0]
    assert last().reason == "it was compiled for 2 layouts and numbers already (max_shapes)"


def test_changed_weights_count_at_once():
    module, x = seeded(Block), images(1, 3, 12, 12)
    network = compiled(module)
    network(x)
    other = seeded(Block)
    nn.init.normal_(other.last.weight)
    module.load_state_dict(other.state_dict())
    for _ in range(3):
        assert_close(network(x), other(x))
    assert [graph.parts for graph in saccade.torch.explain(network).graphs] == [1, 1]
    module.first.weight.mul_(2)  # an in-place operator
    module.norm.running_mean.add_(1)
    assert_close(network(x), module(x))
    module.last.weight.data = torch.randn(5, 8)  # other memory
    assert_close(network(x), module(x))
    module.last.bias = nn.Parameter(torch.randn(5))  # another parameter
    assert_close(network(x), module(x))


@pytest.mark.parametrize("change", [
    lambda module: [parameter.data.mul_(0.5) for parameter in module.parameters()],
    lambda module: module.last.weight.data.copy_(torch.zeros(5, 8)),
    lambda module: torch.optim.AdamW(module.parameters(), lr=0.1, fused=True).step(),
], ids=["data", "data_of_one", "fused_optimizer"])
def test_writes_that_no_version_counts(change):
    module, x = seeded(Block), images(1, 3, 12, 12)
    network = compiled(module)
    network(x)
    with torch.enable_grad():
        module(x).sum().backward()
    versions = [parameter._version for parameter in module.parameters()]
    change(module)
    assert versions == [parameter._version for parameter in module.parameters()]
    for _ in range(3):
        assert_close(network(x), module(x))


def test_weights_that_change_at_every_call_are_not_built_again():
    module, x = seeded(Block), images(1, 3, 12, 12)
    network = compiled(module)
    for _ in range(4):
        module.last.weight.mul_(1.1)
        assert_close(network(x), module(x))
    assert len(saccade.torch.explain(network).graphs) == 1


def test_builds_for_other_weights_are_bounded():
    """A function that takes its weights has one graph for all of them."""
    first, x = nn.Conv2d(3, 4, 3), images(1, 3, 8, 8)

    def function(x, module):
        return module(x).relu()

    network = compiled(function)
    for module in [first, *(nn.Conv2d(3, 4, 3) for _ in range(6)), first]:
        for _ in range(3):
            assert_close(network(x, module), function(x, module))


def test_modules_of_one_class_have_their_own_weights():
    modules = [seeded(Block), Block().eval()]
    networks = [compiled(module) for module in modules]
    for _ in range(3):
        for network, module in zip(networks, modules):
            assert_close(network(images(1, 3, 12, 12)), module(images(1, 3, 12, 12)))


def test_gradients_are_pytorchs():
    module = seeded(Block)
    network = compiled(module)
    with torch.enable_grad():
        network(images(1, 3, 12, 12)).sum().backward()
        ours = [parameter.grad.clone() for parameter in module.parameters()]
        module.zero_grad()
        module(images(1, 3, 12, 12)).sum().backward()
    assert_close(ours, [parameter.grad for parameter in module.parameters()])
    assert "gradients" in last().reason
    network(images(1, 3, 12, 12))  # without gradients it is compiled
    assert last().parts == 1
    x = images(1, 3, 12, 12).requires_grad_()
    with torch.enable_grad():
        assert network(x).requires_grad and "gradients" in saccade.torch.explain(network).graphs[0].reason


def test_gradients_of_the_input_alone():
    def function(x):
        return (functional.avg_pool2d(x, 2).relu() * 3).sum()

    x = images(1, 3, 8, 8).requires_grad_()
    with torch.enable_grad():
        compiled(function)(x).backward()
        ours, x.grad = x.grad, None
        function(x).backward()
    assert_close(ours, x.grad)


def test_training_draws_and_updates_as_pytorch_does():
    ours, theirs = seeded(Block).train(), seeded(Block).train()
    network = compiled(ours)
    for seed in range(3):
        torch.manual_seed(seed)
        a = network(images(4, 3, 8, 8))
        torch.manual_seed(seed)
        assert_close(a, theirs(images(4, 3, 8, 8)))
    assert_close(ours.norm.running_mean, theirs.norm.running_mean)
    assert ours.norm.num_batches_tracked == 3
    ours.eval()
    assert_close(network(images(4, 3, 8, 8)), theirs.eval()(images(4, 3, 8, 8)))


def test_dropout_stays_random():
    def function(x):
        return functional.dropout(functional.avg_pool2d(x, 2).relu() + 1, 0.5, True) * 2

    network = compiled(function)
    x = images(1, 3, 32, 32)
    assert not torch.equal(network(x), network(x))
    assert ("aten::native_dropout", "it draws random numbers") in last().fallbacks or any(
        why == "it draws random numbers" for _, why in last().fallbacks)


def test_threads_share_a_compiled_network():
    module = seeded(Block)
    network = compiled(module)
    inputs = [images(1, 3, 24, 24, seed=seed) for seed in range(4)]
    network(inputs[0])
    right = []

    def work(x):
        with torch.no_grad():
            expected = module(x)
            for _ in range(20):
                right.append(torch.allclose(network(x), expected, rtol=1e-3, atol=1e-4))

    threads = [threading.Thread(target=work, args=(x,)) for x in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 80


def test_threads_export_and_compile_at_once():
    """PyTorch itself can trace in one thread only."""
    modules = [seeded(Block) for _ in range(6)]
    x = images(1, 3, 12, 12)
    results = {}

    def work(at, module):
        with torch.no_grad():
            run = compiled(module) if at % 3 == 0 else saccade.from_torch(module, x, device="cpu")
            results[at] = run(x)

    threads = [threading.Thread(target=work, args=each) for each in enumerate(modules)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(6))
    for at, module in enumerate(modules):
        assert_close(results[at], module(x))


class Nested(nn.Module):
    """Structures in and out, with numbers and nothing among them."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3)

    def forward(self, inputs, scale, *, power=2, bias=None):
        y = self.convolution(inputs["image"]).relu() * scale
        y = y if bias is None else y + bias
        return {"maps": [y, y**power], "sum": (y.sum(), power, None), "image": inputs["image"]}


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


def test_wrong_options_are_refused():
    with pytest.raises(Exception, match="no option 'max_shape'"):
        compiled(seeded(Block), max_shape=3)(images(1, 3, 8, 8))
    with pytest.raises(TypeError, match="'threads' is int"):
        saccade.torch.options(threads="2")
    with pytest.raises(ValueError, match="at least 1"):
        saccade.torch.options(max_shapes=0)
    with pytest.raises(Exception, match="no mode"):
        torch.compile(seeded(Block), backend="saccade", mode="max-autotune")(images(1, 3, 8, 8))
    with pytest.raises(saccade.InvalidArgumentError, match="tpu"):
        compiled(seeded(Block), device="tpu")(images(1, 3, 8, 8))
    with pytest.raises(TypeError, match="not int"):
        saccade.torch.explain(3)
    with pytest.raises(ValueError, match="no weights"):
        saccade.torch.explain(nn.ReLU())


def test_tensors_elsewhere_run_in_pytorch():
    module = seeded(Block).to("meta")
    assert compiled(module)(torch.empty(1, 3, 8, 8, device="meta")).shape == (1, 5)
    assert "device meta" in last().reason


def test_a_gpu_is_a_reason():
    from saccade import _torch_tensors
    from torch._subclasses import FakeTensorMode
    with FakeTensorMode():
        assert _torch_tensors.refusal(torch.empty(2, device="cuda")) == "tensors on a GPU are not supported yet"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_tensors_on_a_gpu_run_in_pytorch():
    module, x = seeded(Block).cuda(), images(1, 3, 8, 8).cuda()
    assert_close(compiled(module)(x), module(x))
    assert last().reason == "tensors on a GPU are not supported yet"


def test_pytorch_is_not_imported_before_it_is_used():
    program = ("import sys, saccade; assert 'torch' not in sys.modules; "
               "assert 'saccade' in saccade.torch._reports.__name__ and 'torch' in sys.modules; import torch; "
               "assert 'saccade' in torch._dynamo.list_backends()")
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(BUILD / "python")}, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pytorch_finds_an_installed_package(tmp_path):
    """By the entry point that pyproject.toml declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (group, points), = project["entry-points"].items()
    folder = tmp_path / "saccade-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: saccade\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in points.items()))
    program = ("import torch; f = torch.compile(lambda x: x @ x, backend='saccade'); print(f(torch.ones(1, 1)).item()); "
               "import saccade.torch; print(len(saccade.torch.explain().graphs), 'saccade' in torch._dynamo.list_backends())")
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True,
                          env={"PYTHONPATH": f"{BUILD / 'python'}:{tmp_path}"})
    assert (done.stdout.split(), done.stderr) == (["1.0", "1", "True"], "")


def test_the_process_ends_in_silence():
    """Compiled code lives until the end."""
    program = ("import torch, saccade.torch; f = torch.compile(lambda x: x @ x, backend='saccade');"
               "print(f(torch.ones(1, 1)).item(), saccade.torch.explain().graphs[0].parts)")
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(BUILD / "python")}, check=False,
                          capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("1.0 1", "")


# from_torch

@pytest.mark.parametrize("make, shape", [(Block, (2, 3, 16, 16)), (Transformer, (2, 3, 32, 32))])
def test_a_module_becomes_a_function(make, shape):
    module = seeded(make)
    run = saccade.from_torch(module, (images(*shape),), device="cpu")
    assert_close(run(images(*shape, seed=1)), module(images(*shape, seed=1)))
    x = images(*shape).to(memory_format=torch.channels_last)
    assert_close(run(x), module(x))


def test_weights_of_a_function_are_copies():
    module, x = seeded(Block), images(1, 3, 12, 12)
    before = module(x)
    run = saccade.from_torch(module, x, device="cpu")
    module.last.weight.zero_()
    assert_close(run(x), before)


def test_a_function_keeps_structures():
    module = seeded(Nested)
    x = {"image": images(1, 3, 12, 12)}
    run = saccade.from_torch(module, (x, torch.tensor(2.0)), device="cpu")
    assert_close(run(x, torch.tensor(3.0)), module(x, torch.tensor(3.0)))
    assert_close(run(inputs=x, scale=torch.tensor(3.0)), module(x, torch.tensor(3.0)))
    run = saccade.from_torch(module, {"inputs": x, "scale": 2, "power": 3}, device="cpu")
    assert_close(run(x, 2, power=3), module(x, 2, power=3))
    with pytest.raises(ValueError, match="'power' is the constant 3 of the example, not 2"):
        run(x, 2, power=2)


def test_dimensions_may_vary():
    module, x = seeded(Block), images(2, 3, 12, 12)
    batch = torch.export.Dim("batch", min=1, max=4)
    run = saccade.from_torch(module, (x,), dynamic_shapes={"x": {0: batch}}, device="cpu")
    for count in (2, 4, 1, 2):
        assert_close(run(images(count, 3, 12, 12)), module(images(count, 3, 12, 12)))
    with pytest.raises(ValueError, match=r"'x' has the shape \(5, 3, 12, 12\), not \(1..4, 3, 12, 12\)"):
        run(images(5, 3, 12, 12))
    with pytest.raises(saccade.UnsupportedError, match="returns numbers that depend on its inputs"):
        saccade.from_torch(Returns(lambda x: (x * 2, x.shape[0])), (x,), dynamic_shapes={"x": {0: batch}}, device="cpu")
    with pytest.raises(ValueError, match="dynamic_shapes names 'y'"):
        saccade.from_torch(module, (x,), dynamic_shapes={"y": {0: batch}})


@pytest.mark.parametrize("given, kind, message", [
    (lambda x: x.double(), TypeError, "'x' is torch.float64, not torch.float32"),
    (lambda x: x[:, :, 1:], ValueError, r"'x' has the shape \(1, 3, 11, 12\), not \(1, 3, 12, 12\)"),
    (lambda x: x[0], ValueError, r"'x' has the shape \(3, 12, 12\)"),
    (lambda x: x[:0], ValueError, r"'x' has the shape \(0, 3, 12, 12\)"),
    (lambda x: x.to("meta"), ValueError, "'x' is on meta"),
    (lambda x: x.numpy(), TypeError, "'x' is ndarray, not a tensor"),
    (lambda x: [x], TypeError, "another structure"),
])
def test_other_inputs_are_refused(given, kind, message):
    x = images(1, 3, 12, 12)
    run = saccade.from_torch(seeded(Block), (x,), device="cpu")
    with pytest.raises(kind, match=message):
        run(given(x))


class Returns(nn.Module):
    """A module of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize("function, message", [
    (twist, "can't export saccade_test::twist: ONNX has no form of it"),
    (lambda x: torch.fft.fft(x).abs(), "can't run aten::_fft_r2c: .*DFT"),
    (lambda x: x.add_(1), "changes its input"),
    (lambda x: functional.dropout(x, 0.5, True), "random numbers"),
    (lambda x: x if x.sum() > 0 else -x, "torch.export can't trace"),
    (lambda x: (x * 2, x.sum().item()), "returns numbers that depend on its inputs"),
    (lambda x: x.shape, "returns no tensor"),
])
def test_what_cannot_run_as_a_whole_is_refused(function, message):
    with pytest.raises(saccade.UnsupportedError, match=message) as caught:
        saccade.from_torch(Returns(function), (images(4, 4),), device="cpu")
    assert "\n" not in str(caught.value)


def test_what_is_no_module_is_refused():
    with pytest.raises(TypeError, match="torch.nn.Module, not function"):
        saccade.from_torch(lambda x: x, (images(1),))
    with pytest.raises(TypeError, match="not int"):
        saccade.from_torch(seeded(Block), 3)
    with pytest.raises(ValueError, match="device 'tpu'"):
        saccade.from_torch(seeded(Block), images(1, 3, 8, 8), device="tpu")


def test_threads_share_a_function():
    module = seeded(Block)
    inputs = [images(1, 3, 24, 24, seed=seed) for seed in range(4)]
    run = saccade.from_torch(module, (inputs[0],), device="cpu")
    expected = [module(x) for x in inputs]
    results = [[] for _ in inputs]
    threads = [threading.Thread(target=lambda at=at: results[at].extend(run(inputs[at]) for _ in range(20)))
               for at in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ours, theirs in zip(results, expected):
        assert len(ours) == 20
        for each in ours:
            assert_close(each, theirs)
