#include "cpu/loops/lines.hpp"

namespace saccade::cpu {
namespace {

class BoundWork : public BoundLaunch {
 public:
  BoundWork(const ViewWork& work, const Bindings& bindings)
      : work_(work),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        outputs_(bindings.outputs.begin(), bindings.outputs.end()) {}

  void run() override { work_(inputs_, outputs_); }

 private:
  const ViewWork& work_;
  std::vector<TensorView> inputs_;
  std::vector<TensorView> outputs_;
};

class WorkLaunch : public Launch {
 public:
  explicit WorkLaunch(ViewWork work) : work_(std::move(work)) {}
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundWork>(work_, bindings);
  }

 private:
  ViewWork work_;
};

}  // namespace

std::optional<Lines> lines_along(const TensorView& tensor, const std::vector<bool>& axes) {
  const int rank = tensor.shape.rank();
  std::vector<int> order;  // dimensions in memory order, outermost first
  const bool channels_last = tensor.layout == Layout::kChannelsLast && rank >= 3;
  for (int i = 0; i < rank; ++i)
    if (!channels_last || i != 1) order.push_back(i);
  if (channels_last) order.push_back(1);
  Lines lines;
  enum { kOuter, kCount, kInner } part = kOuter;
  for (const int axis : order) {
    const std::int64_t size = tensor.shape[axis];
    if (size == 1) continue;
    if (axes[static_cast<std::size_t>(axis)]) {
      if (part == kInner) return std::nullopt;
      part = kCount;
      lines.count *= size;
    } else if (part == kOuter) {
      lines.outer *= size;
    } else {
      part = kInner;
      lines.inner *= size;
    }
  }
  return lines;
}

std::unique_ptr<Launch> launch_of(ViewWork run) { return std::make_unique<WorkLaunch>(std::move(run)); }

}  // namespace saccade::cpu
