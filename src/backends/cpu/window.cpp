#include "cpu/window.hpp"

namespace saccade::cpu {

Window window_of(const Attributes& attributes, std::vector<std::int64_t> kernel, const Shape& src, const Shape& dst) {
  const std::size_t rank = kernel.size();
  Window window{
      .kernel = std::move(kernel),
      .strides = attributes.integers("strides", std::vector<std::int64_t>(rank, 1)),
      .dilations = attributes.integers("dilations", std::vector<std::int64_t>(rank, 1)),
      .pads_begin = std::vector<std::int64_t>(rank, 0),
      .pads_end = std::vector<std::int64_t>(rank, 0),
  };
  const auto pads = attributes.integers("pads", std::vector<std::int64_t>(2 * rank, 0));
  const std::string automatic = attributes.text("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < rank; ++i) {
    const int axis = static_cast<int>(i) + 2;
    const std::int64_t covered = (dst[axis] - 1) * window.strides[i] + (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t total = covered - src[axis];
    if (automatic == "NOTSET" || automatic.empty()) {
      window.pads_begin[i] = pads[i];
    } else if (automatic != "VALID" && total > 0) {
      window.pads_begin[i] = automatic == "SAME_LOWER" ? (total + 1) / 2 : total / 2;
    }
    window.pads_end[i] = total - window.pads_begin[i];
  }
  return window;
}

}  // namespace saccade::cpu
