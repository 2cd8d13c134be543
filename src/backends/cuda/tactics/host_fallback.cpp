#include "cuda/tactics/host_fallback.hpp"

#include <vector>

#include "cuda/driver/queue.hpp"
#include "runtime/reference_backend.hpp"

namespace saccade::cuda {
namespace {

class BoundFallback : public BoundLaunch {
 public:
  /// ON_HOST: inputs that are on the host already.
  BoundFallback(const Launch& reference, const std::vector<bool>& on_host, const Bindings& bindings)
      : queue_(queue_of(bindings)), stream_(queue_.stream.get()) {
    std::vector<TensorView> inputs(bindings.inputs.begin(), bindings.inputs.end());
    std::vector<TensorView> outputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!on_host[i]) inputs[i] = stage(inputs[i], inputs_);
    for (const TensorView& view : bindings.outputs) outputs.push_back(stage(view, outputs_));
    queue_.calls_host = true;
    scratch_.resize(reference.scratch_bytes());
    launch_ = reference.bind({.inputs = inputs, .outputs = outputs, .scratch = scratch_.data()});
  }

  void run() override {
    const CUstream stream = stream_;
    for (const Staged& each : inputs_)
      SACCADE_CUDA(cuMemcpyDtoHAsync_v2(each.memory.get(), each.device, each.bytes, stream));
    SACCADE_CUDA(cuLaunchHostFunc(stream, call, this));
    for (const Staged& each : outputs_)
      SACCADE_CUDA(cuMemcpyHtoDAsync_v2(each.device, each.memory.get(), each.bytes, stream));
  }

 private:
  struct Staged {
    PinnedMemory memory;
    CUdeviceptr device = 0;
    std::size_t bytes = 0;
  };

  static TensorView stage(TensorView view, std::vector<Staged>& list) {
    if (view.data == nullptr) return view;
    const std::size_t bytes = bytes_of(view.dtype, view.shape);
    list.push_back({make_pinned(bytes), address_of(view.data), bytes});
    view.data = list.back().memory.get();
    return view;
  }

  /// Runs on a driver thread: no exception may leave it.
  static void call(void* self) {
    auto& bound = *static_cast<BoundFallback*>(self);
    try {
      bound.launch_->run();
    } catch (...) {
      if (!bound.queue_.failure) bound.queue_.failure = std::current_exception();
    }
  }

  Queue& queue_;
  CUstream stream_;
  std::vector<Staged> inputs_;
  std::vector<Staged> outputs_;
  std::vector<std::byte> scratch_;
  std::unique_ptr<BoundLaunch> launch_;
};

class FallbackLaunch : public Launch {
 public:
  FallbackLaunch(std::unique_ptr<Launch> reference, std::vector<bool> on_host)
      : reference_(std::move(reference)), on_host_(std::move(on_host)) {}
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundFallback>(*reference_, on_host_, bindings);
  }

 private:
  std::unique_ptr<Launch> reference_;
  std::vector<bool> on_host_;
};

class HostFallback : public Tactic {
 public:
  std::string_view name() const override { return "host"; }
  bool competes() const override { return false; }
  Support supports(const NodeContext& context) const override { return reference_tactic().supports(context); }
  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    std::vector<bool> on_host;
    on_host.reserve(context.node.inputs.size());
    for (int i = 0; i < context.input_count(); ++i)
      on_host.push_back(context.constant(i) != nullptr ||
                        (context.has(i) && context.input(i).type.dtype == DType::kFrame));
    return std::make_unique<FallbackLaunch>(reference_tactic().compile(context), std::move(on_host));
  }
};

}  // namespace

const Tactic& host_fallback() {
  static const HostFallback tactic;
  return tactic;
}

}  // namespace saccade::cuda
