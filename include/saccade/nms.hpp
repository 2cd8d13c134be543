#pragma once

#include <cstdint>
#include <string_view>

namespace saccade {

/// The method of non-maximum suppression, for models without built-in NMS.
enum class Nms : std::uint8_t {
  kGreedy,    ///< drops boxes whose IoU with a better one is above the threshold
  kLinear,    ///< Soft-NMS: reduces their scores by 1 - IoU
  kGaussian,  ///< Soft-NMS: reduces all scores by exp(-IoU^2 / 0.5)
  kNone,      ///< keeps all boxes
};

/// The method of that NAME: "greedy", "linear", "gaussian" or "none". Throws Error (kInvalidArgument).
Nms parse_nms(std::string_view name);
/// "greedy", "linear", "gaussian", "none"
std::string_view to_string(Nms nms) noexcept;

}  // namespace saccade
