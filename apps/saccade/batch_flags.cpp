#include "batch_flags.hpp"

#include <fmt/format.h>

#include "flags/numbers.hpp"

namespace saccade::app {
namespace {

std::size_t parse_batch(const std::string& text) {
  constexpr std::size_t kMost = 256;
  if (text == "auto") return 0;
  const auto frames = read_number<std::size_t>(text);
  if (frames && *frames >= 1 && *frames <= kMost) return *frames;
  throw UsageError("--batch", fmt::format("'{}' is neither auto nor a number from 1 to {}", text, kMost));
}

}  // namespace

void bind_batch(FlagBinder& binder, std::size_t& batch, std::chrono::nanoseconds& wait) {
  binder.bind("--batch", [&batch](const std::string& text) { batch = parse_batch(text); });
  binder.bind("--batch-wait", [&wait](const std::string& text) {
    const std::chrono::duration<double, std::milli> milliseconds(read_number<double>(text).value());
    wait = std::chrono::duration_cast<std::chrono::nanoseconds>(milliseconds);
  });
}

}  // namespace saccade::app
