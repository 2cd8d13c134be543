#include <algorithm>
#include <cstring>

#include "ops/core/op.hpp"
#include "ops/vision/faults.hpp"
#include "ops/vision/mask_place.hpp"

// saccade.TraceMasks: the pixels of objects on the frame, as runs along its rows (MaskTracer).
//
// Inputs: grids float32 [N, h, w]; the objects' count int32 [1]; detections float32 [N or more, 6] (source pixels, as
// SelectBoxes gives them; left out where masks may be anywhere); saccade.Preprocess's geometry.
// Attributes: within ("image", "boxes" or "regions": MaskWithin); of saccade.Preprocess's those that say where a
// frame lies in the model's input image: width, height, resize, resize_to, roi.
// Outputs: 0 runs int32 [R, 3] (y, x1, x2: MaskRun), by objects and then by y and x; 1 int32 [N, 2]: number of runs and
// pixels per object; 2 int32 [1]: number of rows of 0; 3 int32 [1]: number of objects whose grids the reader must
// trace: 0, or all if the runs exceed R (a device may need more for rows of 65536 pixels and up), in which case 0 is
// empty and 1 is unspecified; 4 int32 [1]: bits of Faults, 0 if the runs exceed R. Rows past the counts are
// unspecified. R lies far above what objects need: the size of the frame is only known at run time.
namespace saccade {
namespace {

/// The capacity in runs: two per row of N objects of a thousand rows, within bounds.
std::int64_t run_capacity(std::int64_t objects) {
  return std::clamp<std::int64_t>(objects * 2048, std::int64_t{1} << 19, std::int64_t{1} << 20);
}

void infer_trace_masks(InferContext& context) {
  const Shape& grids = context.shape(0);
  if (context.dtype(0) != DType::kFloat32 || grids.rank() != 3)
    fail(ErrorCode::kInvalidFile, "the grids are {} {}, not float32 objectsxrowsxcolumns", to_string(context.dtype(0)),
         grids.to_string());
  if (context.dtype(1) != DType::kInt32 || context.shape(1) != Shape{1} || context.dtype(3) != DType::kFloat32 ||
      context.shape(3) != Shape{6})
    fail(ErrorCode::kInvalidFile, "count and geometry are {} {} and {} {}, not int32 1 and float32 6",
         to_string(context.dtype(1)), context.shape(1).to_string(), to_string(context.dtype(3)),
         context.shape(3).to_string());
  preprocess_spec(context.attributes());
  if (mask_within(context.attributes()) != MaskWithin::kImage) {
    const Shape& rows = context.shape(2);
    if (context.dtype(2) != DType::kFloat32 || rows.rank() != 2 || rows[0] < grids[0] || rows[1] != 6)
      fail(ErrorCode::kInvalidFile, "the detections are {} {}, not float32 {}x6", to_string(context.dtype(2)),
           rows.to_string(), grids[0]);
  }
  context.require_outputs(5);
  context.output(0, DType::kInt32, {run_capacity(grids[0]), 3});
  context.output(1, DType::kInt32, {grids[0], 2});
  context.output(2, DType::kInt32, {1});
  context.output(3, DType::kInt32, {1});
  context.output(4, DType::kInt32, {1});
}

void reference_trace_masks(const KernelContext& context) {
  // A mask has many runs: the memory is reused.
  static thread_local MaskTracer tracer;
  static thread_local std::vector<MaskRun> runs;
  const Shape& shape = context.input(0).shape;
  const std::span<const float> geometry = context.in<float>(3);
  const PreprocessSpec spec = preprocess_spec(context.attributes());
  const MaskWithin within = mask_within(context.attributes());
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(context.in<std::int32_t>(1)[0], 0, shape[0]));
  const auto plane = static_cast<std::size_t>(shape[1] * shape[2]);
  const auto capacity = static_cast<std::size_t>(context.output(0).shape[0]);
  const std::span<std::int32_t> rows = context.out<std::int32_t>(0);
  const std::span<std::int32_t> objects = context.out<std::int32_t>(1);
  std::size_t used = 0;
  context.out<std::int32_t>(2)[0] = context.out<std::int32_t>(3)[0] = context.out<std::int32_t>(4)[0] = 0;
  Faults faults;
  if (count == 0) return;
  runs.reserve(capacity);
  const Placement placement = place(spec, static_cast<int>(geometry[4]), static_cast<int>(geometry[5]));
  const GridPlace whole = grid_place(spec, placement, shape[2], shape[1]);
  for (std::size_t i = 0; i < count; ++i) {
    std::array<float, 4> box{};
    if (within != MaskWithin::kImage) std::copy_n(&context.in<float>(2)[6 * i], 4, box.begin());
    const MaskLook look = mask_look(within, whole, box);
    runs.clear();
    const std::int64_t area =
        tracer.trace(look.place, context.in<float>(0).subspan(i * plane, plane), look.within, look.threshold, runs);
    if (tracer.has_fault()) faults.add(Fault::kNotFiniteMask);
    if (runs.size() > capacity - used) {
      context.out<std::int32_t>(3)[0] = static_cast<std::int32_t>(count);
      return;
    }
    if (!runs.empty()) std::memcpy(&rows[3 * used], runs.data(), runs.size() * sizeof(MaskRun));
    used += runs.size();
    objects[2 * i] = static_cast<std::int32_t>(runs.size());
    objects[2 * i + 1] = static_cast<std::int32_t>(area);
  }
  context.out<std::int32_t>(2)[0] = static_cast<std::int32_t>(used);
  context.out<std::int32_t>(4)[0] = to_output(faults);
}

constexpr OpTraits kTraceMasksTraits{.arity = {4, 4},
                                     .cost = {.per = CostPer::kNothing},
                                     .reads = Reads::kCounted,
                                     .rows = {{{RowCount::By::kOutput, 2}, {RowCount::By::kInput, 1}}}};
constexpr Op kTraceMasksOps[] = {
    {"saccade", "TraceMasks", infer_trace_masks, reference_trace_masks, kTraceMasksTraits}};

static_assert(sizeof(MaskRun) == 3 * sizeof(std::int32_t));

}  // namespace

std::span<const Op> trace_masks_ops() { return kTraceMasksOps; }

}  // namespace saccade
