#include "cuda/codegen/window_code.hpp"

namespace saccade::cuda {
namespace {

/// Input position of tap TAP of output AT along AXIS; the code that follows is guarded by its bounds check.
std::string open_axis(ElementCode& code, Braces& braces, const Window& window, std::size_t axis, const std::string& at,
                      const std::string& tap) {
  const std::int64_t last =
      (window.out[axis] - 1) * window.stride[axis] + (window.kernel[axis] - 1) * window.dilation[axis];
  std::string place = code.let("int32", fmt::format("{} * {} - {} + {} * {}", wrapped(at), window.stride[axis],
                                                    window.pad_begin[axis], tap, window.dilation[axis]));
  if (window.pad_begin[axis] > 0 || last >= window.in[axis])
    braces.when(fmt::format("{0} >= 0 && {0} < {1}", place, window.in[axis]));
  return place;
}

std::string open_transposed_axis(ElementCode& code, Braces& braces, const Window& window, std::size_t axis,
                                 const std::string& at, const std::string& tap) {
  const std::string reach = code.let(
      "int32", fmt::format("{} + {} - {} * {}", wrapped(at), window.pad_begin[axis], tap, window.dilation[axis]));
  braces.when(
      fmt::format("{0} >= 0 && {0} % {1} == 0 && {0} / {1} < {2}", reach, window.stride[axis], window.in[axis]));
  return code.let("int32", fmt::format("{} / {}", reach, window.stride[axis]));
}

}  // namespace

Tap open_taps(ElementCode& code, Braces& braces, const Window& window, const Index& at, bool transposed) {
  Tap tap;
  for (int i = 0; i < window.rank; ++i) {
    const int number = Window::kAxes - window.rank + i;
    const auto axis = static_cast<std::size_t>(number);
    const std::string& output = at[static_cast<std::size_t>(i) + 2];
    tap.kernel.push_back(braces.loop(window.kernel[axis]));
    tap.input.push_back(transposed ? open_transposed_axis(code, braces, window, axis, output, tap.kernel.back())
                                   : open_axis(code, braces, window, axis, output, tap.kernel.back()));
  }
  return tap;
}

Index place_of(const std::string& image, const std::string& channel, const Index& spatial) {
  Index place{image, channel};
  place.insert(place.end(), spatial.begin(), spatial.end());
  return place;
}

}  // namespace saccade::cuda
