#include "cpu/loops/element_program.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/sample_kernels.hpp"
#include "cpu/team/parallel.hpp"
#include "tensor/half.hpp"

namespace saccade::cpu {
namespace {

// A tile of the output and of each operand fit into 32 KiB of L1d together.
constexpr std::int64_t kTile = 2048;
// Rows below this cost more than their elements.
constexpr std::int64_t kShortRow = 32;
// A tensor's stride in a row whose offsets are in a table.
constexpr std::int64_t kNoStride = -1;

/// The offsets in one tensor of the elements of nested LOOPS, the last one innermost.
std::vector<std::int32_t> offsets_of(std::span<const Loop> loops, std::size_t tensor) {
  std::vector<std::int32_t> offsets{0};
  for (const Loop& loop : loops) {
    std::vector<std::int32_t> inner;
    for (const std::int32_t first : offsets)
      for (std::int64_t i = 0; i < loop.size; ++i)
        inner.push_back(static_cast<std::int32_t>(first + i * loop.strides[tensor]));
    offsets = std::move(inner);
  }
  return offsets;
}

/// The distance between neighbours, if it is 0 or 1 for all of them.
std::optional<std::int64_t> stride_of(const std::vector<std::int32_t>& offsets) {
  for (const std::int64_t stride : {0, 1}) {
    std::size_t i = 0;
    while (i < offsets.size() && offsets[i] == static_cast<std::int64_t>(i) * stride) ++i;
    if (i == offsets.size()) return stride;
  }
  return std::nullopt;
}

/// The largest divisor of SIZE that is at most MOST, which is at least 1.
std::int64_t largest_divisor(std::int64_t size, std::int64_t most) {
  std::int64_t divisor = std::min(size, most);
  while (size % divisor != 0) --divisor;
  return divisor;
}

}  // namespace

int ElementProgram::operand(const TensorView& view, int index, ByteScale scale) {
  if (operands_.size() + 1 == Loop::kMaxTensors) return -1;
  operands_.push_back(view);
  scales_[operands_.size()] = scale;
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
  merge_short_rows();
  reads_output_ = !steps_.empty() && (steps_.front().a == kOutput || steps_.front().b == kOutput);
  rows_ = 1;
  for (std::size_t i = 0; i + 1 < loops_.size(); ++i) rows_ *= loops_[i].size;
  tiles_a_row_ = (loops_.back().size + kTile - 1) / kTile;
}

/// Makes one row, of at most a tile, of short ones that are neighbours in the output. Operands that broadcast within it
/// get a table.
void ElementProgram::merge_short_rows() {
  std::size_t first = loops_.size() - 1;
  std::int64_t size = loops_.back().size;
  if (size == 0 || size >= kShortRow || loops_.back().strides[0] != 1) return;
  while (first > 0 && loops_[first - 1].strides[0] == size && size * loops_[first - 1].size <= kTile) {
    --first;
    size *= loops_[first].size;
  }
  const bool continues = first > 0 && loops_[first - 1].strides[0] == size;
  if (const std::int64_t part = continues ? largest_divisor(loops_[first - 1].size, kTile / size) : 1; part > 1) {
    Loop& outer = loops_[first - 1];
    Loop inner = outer;
    inner.size = part;
    outer.size /= inner.size;
    for (std::int64_t& stride : outer.strides) stride *= inner.size;
    size *= inner.size;
    loops_.insert(loops_.begin() + static_cast<std::ptrdiff_t>(first), inner);
  }
  if (first + 1 == loops_.size()) return;
  const std::span<const Loop> merged(loops_.begin() + static_cast<std::ptrdiff_t>(first), loops_.end());
  for (const Loop& loop : merged)
    if (std::ranges::max(loop.strides) * loop.size > std::numeric_limits<std::int32_t>::max() / std::ssize(merged))
      return;
  Loop row{.size = size};
  for (std::size_t tensor = 0; tensor <= operands_.size(); ++tensor) {
    std::vector<std::int32_t> offsets = offsets_of(merged, tensor);
    const auto stride = stride_of(offsets);
    row.strides[tensor] = stride.value_or(kNoStride);
    if (!stride) row_offsets_[tensor] = std::move(offsets);
  }
  loops_.resize(first);
  loops_.push_back(row);
}

void ElementProgram::Place::read(std::int64_t first, float* real, std::size_t count) const {
  if (dtype == DType::kBFloat16)
    half_kernels().widen({reinterpret_cast<const std::uint16_t*>(at(first)), 0}, {real, 0}, 1, count);
  else if (dtype == DType::kUInt8)
    sample_kernels().dequantize_u8(reinterpret_cast<const std::uint8_t*>(at(first)), scale, zero_point, real, count);
  else
    sample_kernels().dequantize_s8(reinterpret_cast<const std::int8_t*>(at(first)), scale, zero_point, real, count);
}

void ElementProgram::Place::write(std::int64_t first, const float* real, std::size_t count) const {
  if (dtype == DType::kBFloat16)
    half_kernels().narrow_results({real, 0}, {reinterpret_cast<std::uint16_t*>(at(first)), 0}, 1, count);
  else if (dtype == DType::kUInt8)
    sample_kernels().quantize_u8(real, scale, zero_point, reinterpret_cast<std::uint8_t*>(at(first)), count);
  else
    sample_kernels().quantize_s8(real, scale, zero_point, reinterpret_cast<std::int8_t*>(at(first)), count);
}

ElementProgram::Place ElementProgram::place(std::size_t tensor, const TensorView& view, void* data,
                                            const TensorView* inputs) const {
  Place place{.data = static_cast<std::byte*>(data), .dtype = view.dtype};
  const auto [scale, zero_point] = scales_[tensor];
  if (scale >= 0) place.scale = *static_cast<const float*>(inputs[scale].data);
  if (zero_point < 0 || inputs[zero_point].data == nullptr) return place;
  const void* zero = inputs[zero_point].data;
  place.zero_point = view.dtype == DType::kUInt8 ? static_cast<float>(*static_cast<const std::uint8_t*>(zero))
                                                 : static_cast<float>(*static_cast<const std::int8_t*>(zero));
  return place;
}

void ElementProgram::run(void* output, const TensorView* inputs) const {
  Places tensors{};
  tensors[0] = place(0, output_, output, inputs);
  for (std::size_t i = 0; i < operands_.size(); ++i)
    tensors[i + 1] = place(i + 1, operands_[i], inputs[indices_[i]].data, inputs);
  const std::int64_t grain = std::max<std::int64_t>(1, kParallelGrain / std::min(kTile, loops_.back().size + 1));
  parallel_for(rows_ * tiles_a_row_, grain,
               [&](std::int64_t begin, std::int64_t end) { run_tiles(tensors, begin, end); });
}

void ElementProgram::run_tiles(const Places& tensors, std::int64_t begin, std::int64_t end) const {
  const std::int64_t length = loops_.back().size;
  LoopIterator<Loop::kMaxTensors> iterator(loops_.data(), static_cast<int>(loops_.size()) - 1, begin / tiles_a_row_);
  std::int64_t tile = begin % tiles_a_row_;
  for (std::int64_t i = begin; i < end; ++i) {
    Places row = tensors;
    for (std::size_t t = 0; t <= operands_.size(); ++t) row[t].data = tensors[t].at(iterator.offsets[t]);
    run_tile(row, tile * kTile, std::min(kTile, length - tile * kTile));
    if (++tile == tiles_a_row_) {
      tile = 0;
      iterator.next();
    }
  }
}

/// COUNT elements of a row from START on: operands and output in the form that kernels access.
class ElementProgram::Tile {
 public:
  Tile(const ElementProgram& program, const Places& row, std::int64_t start, std::int64_t count)
      : program_(program), row_(row), inner_(program.loops_.back()), start_(start), count_(count) {
    real_ = row[0].dtype == DType::kFloat32 ? reinterpret_cast<float*>(row[0].at(start)) : buffer(2);
    if (program.reads_output_ && row[0].dtype != DType::kFloat32)
      row[0].read(start, real_, static_cast<std::size_t>(count));
  }

  float* output() { return real_; }
  bool single(int operand) const { return operand > 0 && inner_.strides[static_cast<std::size_t>(operand)] == 0; }

  /// An operand in place, or converted in BUFFER (0 or 1) if it has bfloat16, 8-bit or strided elements.
  const float* fetch(int operand, std::size_t at) {
    if (operand == kOutput) return real_;
    const auto t = static_cast<std::size_t>(operand);
    const std::int64_t stride = inner_.strides[t];
    if (stride == kNoStride) return gather(t, at);
    const std::int64_t first = start_ * stride;
    if (stride != 1 && stride != 0) return collect(row_[t], at, [=](std::int64_t i) { return first + i * stride; });
    if (row_[t].dtype == DType::kFloat32) return reinterpret_cast<const float*>(row_[t].at(first));
    row_[t].read(first, buffer(at), stride == 0 ? 1 : static_cast<std::size_t>(count_));
    return buffer(at);
  }

  const float* gather(std::size_t tensor, std::size_t at) {
    const std::int32_t* offsets = program_.row_offsets_[tensor].data() + start_;
    return collect(row_[tensor], at, [=](std::int64_t i) { return offsets[i]; });
  }

  /// The elements at OFFSET_OF(i), which are not neighbours.
  template <typename OffsetOf>
  const float* collect(const Place& from, std::size_t at, const OffsetOf& offset_of) {
    float* lanes = buffer(at);
    if (from.dtype == DType::kFloat32) {
      const auto* elements = reinterpret_cast<const float*>(from.data);
      for (std::int64_t i = 0; i < count_; ++i) lanes[i] = elements[offset_of(i)];
    } else if (from.dtype == DType::kBFloat16) {
      const auto* elements = reinterpret_cast<const BFloat16*>(from.data);
      for (std::int64_t i = 0; i < count_; ++i) lanes[i] = elements[offset_of(i)];
    } else {
      for (std::int64_t i = 0; i < count_; ++i) from.read(offset_of(i), lanes + i, 1);
    }
    return lanes;
  }

  /// A row of the element at FIRST.
  const float* spread(const float* first, std::size_t at) {
    std::fill_n(buffer(at), count_, *first);
    return buffer(at);
  }

  void finish() {
    if (row_[0].dtype != DType::kFloat32) row_[0].write(start_, real_, static_cast<std::size_t>(count_));
  }

 private:
  float* buffer(std::size_t at) { return buffers_.data() + at * kTile; }

  const ElementProgram& program_;
  const Places& row_;
  const Loop& inner_;
  std::int64_t start_;
  std::int64_t count_;
  float* real_;
  alignas(64) std::array<float, 3 * kTile> buffers_;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
};

void ElementProgram::run_tile(const Places& row, std::int64_t start, std::int64_t count) const {
  Tile tile(*this, row, start, count);
  float* dst = tile.output();
  const auto size = static_cast<std::size_t>(count);
  for (const Step& step : steps_) {
    const float* a = tile.fetch(step.a, 0);
    const float* b = step.b < 0 ? nullptr : tile.fetch(step.b, 1);
    if (step.b >= 0 && tile.single(step.a)) {
      // Two scalars (a later operand has the dimension): one of them is expanded to a row.
      if (tile.single(step.b)) b = tile.spread(b, 1);
      step.kernels.scalar_a(a, b, dst, size, step.alpha, step.beta);
    } else if (step.b >= 0 && tile.single(step.b)) {
      step.kernels.scalar_b(a, b, dst, size, step.alpha, step.beta);
    } else {
      step.kernels.both(a, b, dst, size, step.alpha, step.beta);
    }
  }
  tile.finish();
}

TensorView view_of(const Value& value) { return {nullptr, value.type.dtype, value.layout, value.type.shape}; }

}  // namespace saccade::cpu
