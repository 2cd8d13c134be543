#include "pipeline/sinks/skipped_images.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

namespace saccade {

void SkippedImages::note(const Error& error) {
  constexpr std::int64_t kWarnings = 10;
  if (count_++ == 0) first_ = error.what();
  if (count_ <= kWarnings) log(LogLevel::kWarning, "{}", error.what());
  if (count_ == kWarnings) log(LogLevel::kWarning, "further images that can't be written are only counted");
}

void SkippedImages::report() const {
  if (count_ == 1) fail(ErrorCode::kUnsupported, "{}", first_);
  if (count_ > 1) fail(ErrorCode::kUnsupported, "{} images could not be written; the first: {}", count_, first_);
}

}  // namespace saccade
