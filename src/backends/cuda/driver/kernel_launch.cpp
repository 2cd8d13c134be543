#include "cuda/driver/kernel_launch.hpp"

#include <map>

#include "base/error.hpp"
#include "cuda/driver/launch.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/driver/transfer.hpp"
#include "cuda/driver/weights.hpp"

namespace saccade::cuda {
namespace {

struct Compiled {
  const Kernel* kernel = nullptr;
  Grid grid;
  std::vector<Argument> arguments;
};

class BoundKernels : public BoundLaunch {
 public:
  struct Call {
    CUfunction function = nullptr;
    Grid grid;
    std::vector<CUdeviceptr> addresses;
    std::vector<void*> arguments;  // pointers to the addresses, as cuLaunchKernelEx takes them
  };

  BoundKernels(std::vector<Call> calls, CUstream stream) : calls_(std::move(calls)), stream_(stream) {
    for (Call& call : calls_)
      for (CUdeviceptr& address : call.addresses) call.arguments.push_back(&address);
  }

  void run() override {
    for (Call& call : calls_) launch(call.function, call.grid, call.arguments.data(), stream_);
  }

 private:
  std::vector<Call> calls_;
  CUstream stream_;
};

class KernelLaunch : public Launch {
 public:
  KernelLaunch(Device& device, const NodeContext& context, NodeProgram program)
      : device_(device),
        scratch_bytes_(program.scratch_bytes),
        detail_(std::move(program.detail)),
        node_(fmt::format("node '{}' ({})", context.node.name, context.node.op)),
        indexed_(std::move(program.indexed)) {
    for (KernelCall& call : program.calls) {
      const Kernel& kernel = device.kernel(call.source, call.name);
      if (call.grid.shared_bytes > 0) {
        device.make_current();
        SACCADE_CUDA(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(call.grid.shared_bytes)));
      }
      calls_.push_back({&kernel, call.grid, std::move(call.arguments)});
    }
    device.make_current();
    for (const auto& bytes : program.packed) packed_.push_back(upload_weights(device, bytes));
    for (const Compiled& call : calls_)
      for (const Argument& argument : call.arguments)
        if (argument.kind == Argument::Kind::kInput) upload_constant(context, argument.index);
  }
  KernelLaunch(const KernelLaunch&) = delete;
  KernelLaunch& operator=(const KernelLaunch&) = delete;
  ~KernelLaunch() override { static_cast<void>(driver().cuCtxSetCurrent(device_.context())); }

  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string detail() const override { return detail_; }
  void collect_images(KernelImages& images) const override {
    collect_transfer_image(device_, images);
    for (const Compiled& call : calls_) images.try_emplace(call.kernel->key, *call.kernel->image);
  }

  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    std::vector<BoundKernels::Call> bound;
    const CUdeviceptr reports = indexed_.empty() ? 0 : queue_of(bindings).index_reports.add(node_, indexed_);
    for (const Compiled& call : calls_) {
      BoundKernels::Call& made = bound.emplace_back();
      made.function = call.kernel->function;
      made.grid = call.grid;
      for (const Argument& argument : call.arguments) made.addresses.push_back(address(argument, bindings, reports));
    }
    return std::make_unique<BoundKernels>(std::move(bound), queue_of(bindings).stream.get());
  }

 private:
  void upload_constant(const NodeContext& context, std::size_t input) {
    const Tensor* constant = context.constant(static_cast<int>(input));
    if (constant == nullptr || constants_.contains(input)) return;
    if (context.budget != nullptr) context.budget->check(constant->bytes());
    constants_.emplace(input, upload_weights(device_, {constant->raw(), constant->bytes()}));
  }

  CUdeviceptr address(const Argument& argument, const Bindings& bindings, CUdeviceptr reports) const {
    switch (argument.kind) {
      case Argument::Kind::kInput: {
        const auto constant = constants_.find(argument.index);
        return constant != constants_.end() ? constant->second->address()
                                            : address_of(bindings.inputs[argument.index].data);
      }
      case Argument::Kind::kOutput: return address_of(bindings.outputs[argument.index].data);
      case Argument::Kind::kPacked: return packed_[argument.index]->address();
      case Argument::Kind::kScratch: return address_of(bindings.scratch + argument.index);
      case Argument::Kind::kIndexReports: return reports + argument.index * sizeof(std::int64_t);
    }
    return 0;
  }

  Device& device_;
  std::vector<Compiled> calls_;
  std::vector<Weights> packed_;
  std::map<std::size_t, Weights> constants_;  // by input
  std::size_t scratch_bytes_;
  std::string detail_;
  std::string node_;  // for error messages
  std::vector<std::int64_t> indexed_;
};

}  // namespace

std::unique_ptr<Launch> make_launch(Device& device, const NodeContext& context, NodeProgram program) {
  return std::make_unique<KernelLaunch>(device, context, std::move(program));
}

}  // namespace saccade::cuda
