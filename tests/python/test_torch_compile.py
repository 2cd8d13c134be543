"""torch.compile(backend="saccade"): parts, shapes, weights, gradients and threads."""
import logging
import threading

import pytest
from torch_networks import Block, Transformer, Twisted, assert_close, compiled, fresh, images, last, seeded  # noqa: F401

import torch
from torch import nn
from torch.nn import functional

import saccade
import saccade.torch
from saccade import _torch_backend


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


def test_builds_for_other_weights_are_bounded(monkeypatch):
    """A function that takes its weights has one graph for all of them."""
    made = []

    class Noted(_torch_backend.Compiled):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(_torch_backend, "Compiled", Noted)
    first, x = nn.Conv2d(3, 4, 3), images(1, 3, 8, 8)

    def function(x, module):
        return module(x).relu()

    network = compiled(function)
    for module in [first, *(nn.Conv2d(3, 4, 3) for _ in range(6)), first]:
        for _ in range(3):
            assert_close(network(x, module), function(x, module))
    assert max(len(each._builds) for each in made) == _torch_backend.MOST_WEIGHTS


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


@pytest.mark.parametrize("name, more", [("efficient", (None, False)), ("flash", ()), ("cudnn", (None, False))])
def test_attention_of_gpus_is_exported(name, more):
    """They have no kernel on the CPU, so that only the graph is looked at."""
    from saccade._torch_decompositions import unfuse_attention
    target = getattr(torch.ops.aten, f"_scaled_dot_product_{name}_attention").default
    graph = torch.fx.symbolic_trace(lambda q, k, v: target(q, k, v, *more, 0.0, True, scale=0.5)[0]).graph
    unfuse_attention(graph)
    q, k, v = (images(1, 2, 5, 8, seed=seed) for seed in range(3))
    expected = functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5)
    assert_close(torch.fx.GraphModule({}, graph)(q, k, v), expected)
