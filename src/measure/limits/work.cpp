#include "measure/limits/work.hpp"

#include <algorithm>
#include <set>

#include "measure/limits/work_rules.hpp"
#include "ops/core/op.hpp"
#include "ops/vision/pixels.hpp"
#include "runtime/storage_alias.hpp"
#include "tensor/frame.hpp"

// A lower bound is only as good as the work it is based on: only work is counted that every correct implementation must
// do, whatever the data. A bilinear resize to a half reads each pixel, one to a tenth reads four taps per output; a
// gather with data-dependent indices may read the same row repeatedly; box suppression may find none. If the work
// depends on the data, the minimum is counted.
namespace saccade {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat64;
}

/// The value whose memory ID uses: its own, or that of which it is a view.
ValueId memory_of(const Graph& graph, ValueId id) {
  for (const Node* maker = graph.producer(id); maker != nullptr && is_free_view(graph, *maker);
       maker = graph.producer(id))
    id = maker->inputs[0];
  return id;
}

/// The most rows of a frame that one row of the tensor needs.
double rows_per_row(Interpolation kind, double source_rows) {
  switch (kind) {
    case Interpolation::kBilinear: return 2;
    case Interpolation::kBicubic: return 4;
    case Interpolation::kNearest: return 1;
    case Interpolation::kBilinearAntialias:
    case Interpolation::kBicubicAntialias:
    case Interpolation::kArea: break;
  }
  return source_rows;
}

/// Bytes of a frame that a Preprocess node reads: the rows of its region that are sampled, with all their columns,
/// since neighbours share cache lines.
std::int64_t frame_bytes_read(const Node& node, const FrameSize& frame) {
  if (frame.width <= 0 || frame.height <= 0) return 0;
  const PreprocessSpec spec = preprocess_spec(node.attributes);
  const Placement placed = place(spec, frame.width, frame.height);
  const Span rows = covered(placed.y, placed.height, spec.height);
  const Span columns = covered(placed.x, placed.width, spec.width);
  const auto shown = [](Span span, std::int64_t scaled) {
    return static_cast<double>(span.end - span.begin) / static_cast<double>(std::max<std::int64_t>(scaled, 1));
  };
  const double shown_rows = placed.source.height * shown(rows, placed.height);
  // The colours of a mosaic's row need the rows above and below.
  const double read_rows = rows_per_row(spec.interpolation, shown_rows) + (is_mosaic(frame.format) ? 2 : 0);
  const double source_rows = std::min(shown_rows, read_rows * (rows.end - rows.begin));
  const double source_columns = placed.source.width * shown(columns, placed.width);
  std::int64_t bytes = 0;
  for (const PlaneSize& plane : plane_sizes(frame.format, frame.width, frame.height))
    bytes += static_cast<std::int64_t>(plane.row_bytes) * plane.rows;
  const double pixels = static_cast<double>(frame.width) * frame.height;
  return static_cast<std::int64_t>(static_cast<double>(bytes) * source_rows * source_columns / pixels);
}

void count_inputs(const Graph& graph, const Node& node, const WorkOptions& options, Work& work) {
  std::set<ValueId> counted;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == ValueId::kNone || !counted.insert(memory_of(graph, id)).second) continue;
    const DType dtype = graph.value(id).type.dtype;
    if (dtype == DType::kFrame) {
      work.read_bytes += frame_bytes_read(node, options.frame);
      continue;
    }
    const Tensor* constant = graph.constant(id);
    // Constant shapes, axes and indices are known when a plan is compiled.
    if (constant != nullptr && dtype == DType::kInt64) continue;
    const std::int64_t bytes = elements_read(graph, node, i) * counted_bits(dtype, options) / 8;
    (constant != nullptr ? work.weight_bytes : work.read_bytes) += bytes;
  }
}

void count_outputs(const Graph& graph, const Node& node, const WorkOptions& options, Work& work) {
  // There may be no valid rows.
  if (traits_of(node).rows[0].by != RowCount::By::kNothing) return;
  for (const ValueId id : node.outputs) {
    if (id == ValueId::kNone) continue;
    const TensorType& type = graph.value(id).type;
    work.write_bytes += type.shape.elements() * counted_bits(type.dtype, options) / 8;
  }
}

OperandType operand_type_of(const Graph& graph, const Node& node, const std::optional<OperandType>& wanted) {
  if (node.inputs.empty() || node.inputs[0] == ValueId::kNone) return OperandType::kFloat32;
  const DType dtype = graph.value(node.inputs[0]).type.dtype;
  if (bits_of(dtype) <= 8) return OperandType::kInt8;
  if (wanted && is_float(dtype)) return *wanted;
  return bits_of(dtype) <= 16 ? OperandType::kBFloat16 : OperandType::kFloat32;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  operations += other.operations;
  products += other.products;
  winograd_products += other.winograd_products;
  weight_bytes += other.weight_bytes;
  read_bytes += other.read_bytes;
  write_bytes += other.write_bytes;
  return *this;
}

std::int64_t counted_bits(DType dtype, const WorkOptions& options) {
  const auto own = static_cast<std::int64_t>(bits_of(dtype));
  return options.precision && is_float(dtype) ? std::min(own, bits_of(*options.precision)) : own;
}

Work work_of(const Graph& graph, const Node& node, const WorkOptions& options) {
  Work work;
  if (is_free_view(graph, node)) return work;
  const Products products = products_of(graph, node);
  work.products = 2.0 * static_cast<double>(products.on_elements);
  work.winograd_products = products.is_winograd ? work.products : 0;
  work.operations = work.products + other_operations(graph, node);
  work.precision = operand_type_of(graph, node, options.precision);
  count_inputs(graph, node, options, work);
  count_outputs(graph, node, options, work);
  return work;
}

std::int64_t macs_of(const Graph& graph, const Node& node) { return products_of(graph, node).with_padding; }

}  // namespace saccade
