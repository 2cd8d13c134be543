#pragma once

#include <cstdint>
#include <string>

#include "saccade/error.hpp"

namespace saccade {

/// The images that a sink's format can't hold (too large, of another size than a video's first). Each is skipped
/// and reported at once; their number is reported at the end. Other errors are the sink's.
class SkippedImages {
 public:
  /// Calls WRITE; its Errors of kUnsupported count as skipped images.
  template <typename Write>
  void try_write(const Write& write) {
    try {
      write();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      note(error);
    }
  }

  /// Throws Error (kUnsupported) if there were any.
  void report() const;

 private:
  void note(const Error& error);

  std::int64_t count_ = 0;
  std::string first_;
};

}  // namespace saccade
