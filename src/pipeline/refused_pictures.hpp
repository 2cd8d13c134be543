#pragma once

#include <cstdint>
#include <string>

#include "saccade/error.hpp"

namespace saccade {

/// The images that a sink's format can't hold (too large, of another size than a video's first). Each is skipped:
/// it is told at once, and how many there were at the end. Whatever else is wrong with writing ends the run.
class RefusedPictures {
 public:
  /// Calls WRITE; of its Errors, those of kUnsupported are taken for refused images.
  template <typename Write>
  void unless(const Write& write) {
    try {
      write();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      note(error);
    }
  }

  /// Throws Error (kUnsupported) where there were any.
  void report() const;

 private:
  void note(const Error& error);

  std::int64_t count_ = 0;
  std::string first_;
};

}  // namespace saccade
