#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// How the boxes and scores of an operator lie; kernels/candidates.cuh.
struct DecoderFamily {
  std::string_view op;
  std::string_view name;  ///< in kernels/candidates.cuh
  int first_class;        ///< place of the first class's number
  bool anchors_last;      ///< of the predictions' dimensions
};
/// Null for operators that decode no detections.
const DecoderFamily* find_decoder_family(const Node& node);

/// What the kernels of a decoder are made of: the struct Spec of kernels/candidates.cuh, and its tables.
class DecoderCode {
 public:
  explicit DecoderCode(const NodeContext& context);

  /// What may become a candidate: anchors, or with multi_label each pair of a class and an anchor.
  std::int64_t pairs() const { return multi_label ? anchors * classes : anchors; }

  /// A kernel NAME whose body is CALL, which has a DECODER, and parameters of its own: as MORE declares them (", ..."),
  /// for MORE_ARGUMENTS.
  KernelCall kernel(std::string_view name, std::int64_t blocks, std::int64_t threads, const std::string& call,
                    const std::string& more, const std::vector<Argument>& more_arguments, NodeProgram& program);

  std::int64_t anchors = 0;
  std::int64_t classes = 0;
  std::int64_t capacity = 0;
  bool multi_label = false;

 private:
  bool apart() const { return family_.name == "kApart"; }
  std::int64_t asked_count() const;
  std::span<const std::int64_t> remap() const;
  std::span<const float> thresholds() const;
  std::string spec() const;
  std::string cell() const;

  const NodeContext& context_;
  const DecoderFamily& family_;
  std::optional<std::size_t> remap_table_;  ///< in NodeProgram::packed
  std::optional<std::size_t> threshold_table_;
};

/// Room of so many BYTES in a launch's scratch.
Argument add_scratch(NodeProgram& program, std::int64_t bytes);

}  // namespace saccade::cuda
