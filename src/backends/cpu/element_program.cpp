#include "cpu/element_program.hpp"

#include <algorithm>
#include <utility>

#include "cpu/parallel.hpp"

namespace saccade::cpu {
namespace {

// A tile of the output and of each operand together stay in a 32 KiB first-level cache.
constexpr std::int64_t kTile = 2048;

}  // namespace

int ElementProgram::operand(const TensorView& view, int index) {
  if (operands_.size() + 1 == Loop::kMaxTensors) return -1;
  operands_.push_back(view);
  indices_.push_back(index);
  return static_cast<int>(operands_.size());
}

void ElementProgram::unary(const ElementKernels& kernels, int a, float alpha, float beta) {
  steps_.push_back({.kernels = kernels, .a = a, .alpha = alpha, .beta = beta});
}

void ElementProgram::binary(const ElementKernels& kernels, int a, int b) {
  steps_.push_back({.kernels = kernels, .a = a, .b = b});
}

void ElementProgram::finish() {
  const Shape& shape = output_.shape;
  const Shape strides = output_.strides();
  std::vector<Loop> loops(static_cast<std::size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) {
    Loop& loop = loops[static_cast<std::size_t>(i)];
    loop.size = shape[i];
    loop.strides[0] = strides[i];
    for (std::size_t t = 0; t < operands_.size(); ++t) loop.strides[t + 1] = broadcast_strides(operands_[t], shape)[i];
  }
  loops_ = collapse(std::move(loops));
  rows_ = 1;
  for (std::size_t i = 0; i + 1 < loops_.size(); ++i) rows_ *= loops_[i].size;
  tiles_a_row_ = (loops_.back().size + kTile - 1) / kTile;
}

void ElementProgram::run(float* output, const TensorView* inputs) const {
  Pointers tensors{};
  tensors[0] = output;
  for (std::size_t i = 0; i < operands_.size(); ++i) tensors[i + 1] = static_cast<float*>(inputs[indices_[i]].data);
  const std::int64_t grain = std::max<std::int64_t>(1, kParallelGrain / std::min(kTile, loops_.back().size + 1));
  parallel_for(rows_ * tiles_a_row_, grain,
               [&](std::int64_t begin, std::int64_t end) { run_tiles(tensors, begin, end); });
}

void ElementProgram::run_tiles(const Pointers& tensors, std::int64_t begin, std::int64_t end) const {
  const std::int64_t length = loops_.back().size;
  Walker<Loop::kMaxTensors> walker(loops_.data(), static_cast<int>(loops_.size()) - 1, begin / tiles_a_row_);
  std::int64_t tile = begin % tiles_a_row_;
  for (std::int64_t i = begin; i < end; ++i) {
    Pointers row{};
    for (std::size_t t = 0; t <= operands_.size(); ++t) row[t] = tensors[t] + walker.offsets[t];
    run_tile(row, tile * kTile, std::min(kTile, length - tile * kTile));
    if (++tile == tiles_a_row_) {
      tile = 0;
      walker.next();
    }
  }
}

void ElementProgram::run_tile(const Pointers& row, std::int64_t start, std::int64_t count) const {
  const Loop& inner = loops_.back();
  alignas(64) std::array<float, 2 * kTile> gathered;
  const auto spread = [&](const float* first, std::int64_t stride, std::size_t buffer) {
    float* lanes = gathered.data() + buffer * kTile;
    for (std::int64_t i = 0; i < count; ++i) lanes[i] = first[i * stride];
    return lanes;
  };
  // An operand as a kernel reads it: in place, or gathered into one of two buffers where its elements lie apart.
  const auto fetch = [&](int operand, std::size_t buffer) -> const float* {
    const auto t = static_cast<std::size_t>(operand);
    const std::int64_t stride = inner.strides[t];
    const float* first = row[t] + start * stride;
    if (stride == 1 || stride == 0) return first;
    return spread(first, stride, buffer);
  };
  const auto single = [&](int operand) {
    return operand >= 0 && inner.strides[static_cast<std::size_t>(operand)] == 0;
  };
  float* dst = row[0] + start;
  const auto size = static_cast<std::size_t>(count);
  for (const Step& step : steps_) {
    const float* a = fetch(step.a, 0);
    const float* b = step.b < 0 ? nullptr : fetch(step.b, 1);
    if (step.b >= 0 && single(step.a)) {
      // Two single elements (a later operand has the dimension): one of them becomes a row.
      if (single(step.b)) b = spread(b, 0, 1);
      step.kernels.scalar_a(a, b, dst, size, step.alpha, step.beta);
    } else if (step.b >= 0 && single(step.b)) {
      step.kernels.scalar_b(a, b, dst, size, step.alpha, step.beta);
    } else {
      step.kernels.both(a, b, dst, size, step.alpha, step.beta);
    }
  }
}

TensorView view_of(const Value& value) { return {nullptr, value.type.dtype, value.layout, value.type.shape}; }

}  // namespace saccade::cpu
