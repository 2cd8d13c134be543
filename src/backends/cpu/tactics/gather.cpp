#include "ops/core/index.hpp"

#include <cstring>

#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// Gather along one axis of a row-major tensor: contiguous blocks are copied.
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

class Gather : public Tactic {
 public:
  std::string_view name() const override { return "vector.gather"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Gather")) return Support::other_operator("not a Gather");
    const DType dtype = context.input(0).type.dtype;
    if (dtype == DType::kString || bits_of(dtype) % 8 != 0) return Support::no("its elements can't be copied as bytes");
    for (int i = 0; i < 2; ++i)
      if (context.input(i).layout != Layout::kRowMajor) return Support::no("its input is channels-last");
    if (context.output().layout != Layout::kRowMajor) return Support::no("its output is channels-last");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Shape& shape = context.input(0).type.shape;
    const int axis = axis_of(context.node.attributes, shape);
    Blocks blocks{.dim = shape[axis], .bytes = static_cast<std::int64_t>(bits_of(context.input(0).type.dtype) / 8)};
    for (int i = 0; i < axis; ++i) blocks.outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) blocks.bytes *= shape[i];
    const auto run = context.input(1).type.dtype == DType::kInt32 ? gather<std::int32_t> : gather<std::int64_t>;
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
