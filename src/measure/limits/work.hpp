#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.hpp"
#include "measure/limits/precision.hpp"
#include "saccade/frame.hpp"

namespace saccade {

/// What a node can't do without, however it is implemented.
struct Work {
  /// Arithmetic: a multiply-add counts 2, everything else that makes one number of others 1, moving data 0. Products
  /// with padding don't count: they need not be computed.
  double operations = 0;
  double products = 0;                        ///< of `operations`, the multiply-adds of convolutions and GEMM
  Precision precision = Precision::kFloat32;  ///< of the numbers worked on; vectors hold more of narrow ones
  std::int64_t weight_bytes = 0;              ///< constants, each once
  std::int64_t read_bytes = 0;                ///< activations, each once, elements that nothing depends on left out
  std::int64_t write_bytes = 0;

  std::int64_t activation_bytes() const { return read_bytes + write_bytes; }
  /// Sums; the precision stays.
  Work& operator+=(const Work& other);
};

/// A camera frame; 0 x 0 where nothing is known about it.
struct FrameSize {
  PixelFormat format = PixelFormat::kRgb24;
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
};

struct WorkOptions {
  FrameSize frame;  ///< what Preprocess reads; nothing where it is not known
  /// Count as if floating-point tensors had this precision (and products too); as they are where it is empty.
  std::optional<Precision> precision;
};

/// The work of a node whose types are inferred. Nothing for a view, which costs nothing.
Work work_of(const Graph& graph, const Node& node, const WorkOptions& options = {});

/// Multiply-adds of a convolution or GEMM as papers count them, those with padding included; 0 for others.
std::int64_t macs_of(const Graph& graph, const Node& node);

}  // namespace saccade
