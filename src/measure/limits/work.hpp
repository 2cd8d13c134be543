#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.hpp"
#include "measure/limits/operand_type.hpp"
#include "saccade/frame.hpp"

namespace saccade {

/// The minimum work of a node, however it is implemented.
struct Work {
  /// Arithmetic: a multiply-add counts as 2, any other operation as 1, data movement as 0. Products with padding do not
  /// count: they need not be computed.
  double operations = 0;
  double products = 0;  ///< of `operations`: multiply-adds of convolutions and GEMM
  /// Of `products`: those of 3x3 convolutions with a stride of 1, for which Winograd's algorithm has fewer.
  double winograd_products = 0;
  OperandType precision = OperandType::kFloat32;  ///< of the operands; vectors hold more of narrow types
  std::int64_t weight_bytes = 0;                  ///< constants, each once
  std::int64_t read_bytes = 0;                    ///< activations, each once, without elements that nothing depends on
  std::int64_t write_bytes = 0;

  std::int64_t activation_bytes() const { return read_bytes + write_bytes; }
  /// Adds all but the precision.
  Work& operator+=(const Work& other);
};

/// A camera frame; 0 x 0 if unknown.
struct FrameSize {
  PixelFormat format = PixelFormat::kRgb24;
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
};

struct WorkOptions {
  FrameSize frame;  ///< input of Preprocess; 0 x 0 if unknown
  /// Assumed for floating-point tensors (and products); empty: as they are.
  std::optional<OperandType> precision;
};

/// Of an element of DTYPE under OPTIONS.
std::int64_t counted_bits(DType dtype, const WorkOptions& options);

/// The work of a node whose types are inferred. Zero for a view.
Work work_of(const Graph& graph, const Node& node, const WorkOptions& options = {});

/// Multiply-adds of a convolution or GEMM as papers count them, including padding; 0 for others.
std::int64_t macs_of(const Graph& graph, const Node& node);

}  // namespace saccade
