"""PyTorch on a GPU: networks in the caller's stream, weights that change, tensors in and out of sessions and models."""
import time

import pytest
from conftest import SCENE_MODEL
from torch_networks import Block, Transformer, assert_close, compiled, fresh, images, last, seeded  # noqa: F401

import torch

import saccade

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.fixture(autouse=True)
def full_precision():
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cudnn.allow_tf32 = before


@pytest.mark.parametrize("make, shape", [(Block, (2, 3, 16, 16)), (Transformer, (2, 3, 32, 32))])
def test_a_compiled_network_runs_on_the_gpu(make, shape):
    module = seeded(make).cuda()
    run = compiled(module)
    for seed in range(3):
        x = images(*shape, seed=seed).cuda()
        y = run(x)
        assert y.device == x.device
        assert_close(y, module(x))
    assert last().parts == 1 and not last().fallbacks


def test_half_precision():
    module, x = seeded(Block).cuda().half(), images(2, 3, 16, 16).cuda().half()
    y = compiled(module)(x)
    assert y.dtype == torch.float16
    assert_close(y, module(x), rtol=2e-2, atol=2e-2)


def test_calls_follow_the_callers_stream():
    module = seeded(Block).cuda()
    run = compiled(module)
    x = images(8, 3, 64, 64).cuda()
    run(x)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        expected, got = [], []
        for at in range(20):
            torch.cuda._sleep(1_000_000)  # what follows is enqueued before it has run
            x = x * 0 + at / 10
            got.append(run(x))
            expected.append(module(x))
    stream.synchronize()
    for ours, theirs in zip(got, expected):
        assert_close(ours, theirs)


def test_writes_to_weights_are_seen():
    module, x = seeded(Block).cuda(), images(1, 3, 12, 12).cuda()
    run = compiled(module)
    run(x)
    with torch.no_grad():
        module.last.weight.mul_(2)
    assert_close(run(x), module(x))


def test_a_step_of_a_fused_optimizer_is_seen():
    module, x = seeded(Block).cuda(), images(1, 3, 12, 12).cuda()
    run = compiled(module)
    run(x)
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.1, fused=True)
    with torch.enable_grad():
        module(x).sum().backward()
    optimizer.step()
    assert_close(run(x), module(x))


def test_writes_past_the_version_counter_are_seen_within_seconds():
    module, x = seeded(Block).cuda(), images(1, 3, 12, 12).cuda()
    run = compiled(module)
    run(x)
    for parameter in module.parameters():
        parameter.data.mul_(2)
    end = time.monotonic() + 10
    while not torch.allclose(run(x), module(x), rtol=1e-3, atol=1e-3):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_module_becomes_a_function_of_the_gpu():
    module, x = seeded(Block).cuda(), images(2, 3, 16, 16).cuda()
    run = saccade.from_torch(module, x)
    assert_close(run(x), module(x))
    with pytest.raises(ValueError, match="is on cpu, not on cuda:0"):
        run(x.cpu())
    with pytest.raises(ValueError, match="several devices"):
        saccade.from_torch(module, x.cpu())
    with pytest.raises(ValueError, match="can't be cpu"):
        saccade.from_torch(module, x, device="cpu")


def test_tensors_on_the_host_and_the_gpu_in_one_graph():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block = seeded(Block).cuda()

        def forward(self, x, scale):
            return self.block(x * (scale + 1))

    module, x, scale = Scaled().eval(), images(1, 3, 12, 12).cuda(), torch.tensor(2.0)
    assert_close(compiled(module)(x, scale), module(x, scale))


def test_a_capturing_stream_is_refused():
    module, x = seeded(Block).cuda(), images(1, 3, 12, 12).cuda()
    run = saccade.from_torch(module, x)
    run(x)
    with pytest.raises(saccade.UnsupportedError, match="captured"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        run(x)
    assert_close(run(x), module(x))


def test_a_model_on_the_cpu_refuses_a_tensor_of_the_gpu(detector):
    with pytest.raises(saccade.InvalidArgumentError, match="GPU 0, the model on cpu"):
        detector(torch.zeros(48, 64, 3, dtype=torch.uint8, device="cuda"), color="rgb")


def test_sessions_and_models_take_tensors_of_the_gpu():
    model = saccade.Model(SCENE_MODEL, device="cuda")
    session = saccade.Session(model)
    (tensor,) = model.inputs
    x = torch.rand(*tensor.shape)
    outputs = session.run({tensor.name: x.cuda()})
    for name, expected in session.run({tensor.name: x.numpy()}).items():
        assert outputs[name].is_cuda
        assert_close(outputs[name].cpu(), torch.from_numpy(expected))
    image = (torch.rand(480, 640, 3) * 255).to(torch.uint8)
    on_gpu, on_host = model(image.cuda(), color="rgb"), model(image.numpy(), color="rgb")
    assert (on_gpu.boxes == on_host.boxes).all()
    assert on_gpu.plot().shape == (480, 640, 3)


def test_outputs_are_new_tensors():
    module, x = seeded(Block).cuda(), images(1, 3, 12, 12).cuda()
    run = compiled(module)
    first = run(x)
    kept = first.clone()
    second = run(x * 2)
    assert first.data_ptr() != second.data_ptr()
    assert_close(first, kept)
