#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// Layout of a decoder's boxes and scores; kernels/candidates.cuh.
struct DecoderFamily {
  std::string_view op;
  std::string_view name;  ///< in kernels/candidates.cuh
  int first_class;        ///< field index of the first class score
  bool anchors_last;      ///< last dimension of the predictions
};
/// Null for operators that decode no detections.
const DecoderFamily* find_decoder_family(const Node& node);

/// Generates the kernels of a decoder: struct Spec of kernels/candidates.cuh and its tables.
class DecoderCode {
 public:
  explicit DecoderCode(const NodeContext& context);

  /// Number of potential candidates: anchors, or class-anchor pairs with multi_label.
  std::int64_t pairs() const { return multi_label ? anchors * classes : anchors; }

  /// A kernel NAME with body CALL, in which `decoder` is defined. MORE declares its further parameters (", ..."), to
  /// which MORE_ARGUMENTS are bound.
  KernelCall kernel(std::string_view name, std::int64_t blocks, std::int64_t threads, const std::string& call,
                    const std::string& more, const std::vector<Argument>& more_arguments, NodeProgram& program);

  std::int64_t anchors = 0;
  std::int64_t classes = 0;
  std::int64_t capacity = 0;
  bool multi_label = false;

 private:
  bool is_separate() const { return family_.name == "kSeparate"; }
  std::int64_t requested_count() const;
  std::span<const std::int64_t> remap() const;
  std::span<const float> thresholds() const;
  std::string spec() const;
  std::string cell() const;

  const NodeContext& context_;
  const DecoderFamily& family_;
  std::optional<std::size_t> remap_table_;  ///< in NodeProgram::packed
  std::optional<std::size_t> threshold_table_;
};

/// Reserves BYTES of a launch's scratch.
Argument add_scratch(NodeProgram& program, std::int64_t bytes);

}  // namespace saccade::cuda
