"""saccade.from_torch: a module of PyTorch as a function of the engine."""
import threading

import pytest
from torch_networks import Block, Nested, Returns, Transformer, assert_close, fresh, images, seeded, twist  # noqa: F401

import torch
from torch.nn import functional

import saccade


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


@pytest.mark.parametrize("make, inputs, shapes, message", [
    (Block, images(1, 3, 8, 8), {"y": {0: 1}}, "names 'y', which is not one of x"),
    (Block, images(1, 3, 8, 8), [{0: 1}, {0: 1}], "has 2 entries for the arguments x"),
    (Nested, ({"image": images(1, 3, 8, 8)}, 2), {"inputs": {"photo": {0: 1}}}, "names 'photo', which is not one of image"),
])
def test_surplus_dynamic_shapes_are_refused(make, inputs, shapes, message):
    with pytest.raises(ValueError, match=f"dynamic_shapes {message}"):
        saccade.from_torch(seeded(make), inputs, dynamic_shapes=shapes)


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
