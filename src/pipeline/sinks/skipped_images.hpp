#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "saccade/error.hpp"

namespace saccade {

/// The images that a sink's format can't hold (too large, of another size than a video's first). Each is skipped
/// and reported at once; their number is reported at the end. Other errors are the sink's.
class SkippedImages {
 public:
  /// Calls WRITE with an image of so many RESULTS; an Error of kUnsupported counts as a skipped image.
  template <typename Write>
  void try_write(std::int64_t results, const Write& write) {
    try {
      write();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      note(error);
      results_ += results;
    }
  }

  /// Results of skipped images. Any thread.
  std::int64_t results() const { return results_; }

  /// Throws Error (kUnsupported) if there were any.
  void report() const;

 private:
  void note(const Error& error);

  std::int64_t count_ = 0;
  std::atomic<std::int64_t> results_ = 0;
  std::string first_;
};

}  // namespace saccade
