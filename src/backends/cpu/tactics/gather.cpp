#include "ops/core/index.hpp"

#include <cstring>

#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// Gather along one axis of a row-major tensor: contiguous blocks are copied. GatherElements, where its indices have the
// data's size but for the axis.
namespace saccade::cpu {
namespace {

struct Blocks {
  std::int64_t outer = 1;  // dimensions before the axis
  std::int64_t dim = 1;
  std::int64_t bytes = 1;  // of the dimensions after it
};

template <typename Index>
void gather(const Blocks& blocks, const TensorView& src, const TensorView& indices, const TensorView& dst) {
  const auto* list = static_cast<const Index*>(indices.data);
  const std::int64_t count = indices.elements();
  // Before any thread starts: an exception must not leave a parallel region.
  for (std::int64_t i = 0; i < count; ++i) checked_index(list[i], blocks.dim);
  parallel_for(blocks.outer * count, 4 * kParallelGrain / (blocks.bytes + 1) + 1, [&](auto begin, auto end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t index = list[unit % count];
      const std::int64_t from = unit / count * blocks.dim + (index < 0 ? index + blocks.dim : index);
      std::memcpy(static_cast<std::byte*>(dst.data) + unit * blocks.bytes,
                  static_cast<const std::byte*>(src.data) + from * blocks.bytes,
                  static_cast<std::size_t>(blocks.bytes));
    }
  });
}

template <typename Index, typename Element>
void gather_elements(const Blocks& blocks, const TensorView& src, const TensorView& indices, const TensorView& dst) {
  const auto* list = static_cast<const Index*>(indices.data);
  const std::int64_t inner = blocks.bytes / static_cast<std::int64_t>(sizeof(Element));
  const std::int64_t total = indices.elements();
  for (std::int64_t i = 0; i < total; ++i) checked_index(list[i], blocks.dim);
  const std::int64_t rows = total / inner;
  const std::int64_t count = rows / blocks.outer;  // of the axis
  parallel_for(rows, kParallelGrain / inner + 1, [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto* from = static_cast<const Element*>(src.data) + row / count * blocks.dim * inner;
      auto* to = static_cast<Element*>(dst.data) + row * inner;
      const Index* at = list + row * inner;
      for (std::int64_t i = 0; i < inner; ++i) to[i] = from[(at[i] < 0 ? at[i] + blocks.dim : at[i]) * inner + i];
    }
  });
}

using GatherWork = void (*)(const Blocks&, const TensorView&, const TensorView&, const TensorView&);

template <typename Index>
GatherWork gather_elements_of(std::int64_t bytes) {
  switch (bytes) {
    case 1: return gather_elements<Index, std::uint8_t>;
    case 2: return gather_elements<Index, std::uint16_t>;
    case 4: return gather_elements<Index, std::uint32_t>;
    default: return gather_elements<Index, std::uint64_t>;
  }
}

bool has_whole_rows(const Shape& data, const Shape& indices, int axis) {
  for (int i = 0; i < data.rank(); ++i)
    if (i != axis && data[i] != indices[i]) return false;
  return indices.elements() > 0;
}

class Gather : public Tactic {
 public:
  std::string_view name() const override { return "vector.gather"; }

  Support supports(const NodeContext& context) const override {
    const bool is_by_element = context.node.is("GatherElements");
    if (!context.node.is("Gather") && !is_by_element) return Support::other_operator("not a Gather");
    const DType dtype = context.input(0).type.dtype;
    if (dtype == DType::kString || bits_of(dtype) % 8 != 0) return Support::no("its elements can't be copied as bytes");
    for (int i = 0; i < 2; ++i)
      if (context.input(i).layout != Layout::kRowMajor) return Support::no("its input is channels-last");
    if (context.output().layout != Layout::kRowMajor) return Support::no("its output is channels-last");
    const Shape& shape = context.input(0).type.shape;
    if (is_by_element && bits_of(dtype) > 64) return Support::no("its elements have more than 64 bits");
    if (is_by_element && !has_whole_rows(shape, context.input(1).type.shape, axis_of(context.node.attributes, shape)))
      return Support::no("its indices are for a part of the data");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Shape& shape = context.input(0).type.shape;
    const int axis = axis_of(context.node.attributes, shape);
    const auto bytes = static_cast<std::int64_t>(bits_of(context.input(0).type.dtype) / 8);
    Blocks blocks{.dim = shape[axis], .bytes = bytes};
    for (int i = 0; i < axis; ++i) blocks.outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) blocks.bytes *= shape[i];
    const bool is_short = context.input(1).type.dtype == DType::kInt32;
    GatherWork run = is_short ? gather<std::int32_t> : gather<std::int64_t>;
    if (context.node.is("GatherElements"))
      run = is_short ? gather_elements_of<std::int32_t>(bytes) : gather_elements_of<std::int64_t>(bytes);
    return with_post_ops(context, launch_of([blocks, run](auto inputs, auto outputs) {
                           run(blocks, inputs[0], inputs[1], outputs[0]);
                         }));
  }
};

}  // namespace

const Tactic& vector_gather() {
  static const Gather tactic;
  return tactic;
}

}  // namespace saccade::cpu
