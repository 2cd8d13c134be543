#include "cpu/kernels/mask_kernels.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/vision/box_cells.hpp"

// saccade.BoxMasks by rows of the objects' grids, bit-exact with the reference. Bound: bytes of prototypes / bandwidth.
namespace saccade::cpu {
namespace {

struct Job {
  Attributes attributes;
  Shape prototypes;  // 1, K, h, w
  std::int64_t objects = 0;
};

void box_masks(const Job& job, std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const auto* weights = static_cast<const float*>(inputs[0].data);
  const auto* prototypes = static_cast<const float*>(inputs[1].data);
  const auto* boxes = static_cast<const float*>(inputs[2].data);
  const std::span<const float> geometry(static_cast<const float*>(inputs[4].data), 6);
  auto* logits = static_cast<float*>(outputs[0].data);
  const auto depth = static_cast<std::size_t>(job.prototypes[1]);
  const std::int64_t rows = job.prototypes[2];
  const auto columns = static_cast<std::size_t>(job.prototypes[3]);
  const std::size_t plane = static_cast<std::size_t>(rows) * columns;
  const std::int64_t count =
      std::clamp<std::int64_t>(*static_cast<const std::int32_t*>(inputs[3].data), 0, job.objects);
  const std::int64_t grain = kParallelGrain / (job.prototypes[1] * job.prototypes[3] / 4 + 1) + 1;
  parallel_for(count * rows, grain, [&](std::int64_t begin, std::int64_t end) {
    BoxCells cells;
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t object = line / rows;
      const auto y = static_cast<std::size_t>(line % rows);
      if (line == begin || y == 0) cells = box_cells(job.prototypes, job.attributes, geometry, boxes + 6 * object);
      const auto [across, down] = cells;
      float* const row = logits + static_cast<std::size_t>(line) * columns;
      const bool is_needed = y >= down.begin && y < down.end && across.begin < across.end;
      const std::size_t from = is_needed ? across.begin : columns;
      const std::size_t to = is_needed ? across.end : columns;
      std::fill(row, row + from, 0.0F);
      if (from < to)
        mask_kernels().weigh(prototypes + y * columns + from, plane, weights + object * job.prototypes[1], depth,
                             row + from, to - from);
      std::fill(row + to, row + columns, 0.0F);
    }
  });
}

class BoxMasks : public Tactic {
 public:
  std::string_view name() const override { return "vector.box_masks"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("BoxMasks", "saccade")) return Support::other_operator("not saccade.BoxMasks");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    if (!is_row_major(context.input(1))) return Support::no("its prototypes are channels-last");
    if (!is_row_major(context.output())) return Support::no("its output is channels-last");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Job job{.attributes = context.node.attributes,
                  .prototypes = context.input(1).type.shape,
                  .objects = context.input(0).type.shape[0]};
    return launch_of([job](auto inputs, auto outputs) { box_masks(job, inputs, outputs); });
  }
};

}  // namespace

const Tactic& vector_box_masks() {
  static const BoxMasks tactic;
  return tactic;
}

}  // namespace saccade::cpu
