#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::test {

/// Counts the allocations of the whole process, on all threads, between start() and stop(). Link alloc_counter.cpp into
/// an executable: its malloc and related functions replace the C library's.
///
/// An allocation is attributed to the nearest caller outside the C and C++ runtime libraries: to us if that is
/// libsaccade, one of its modules or the executable, else to the library's owner.
class AllocCounter {
 public:
  enum class Owner { kOurs, kFfmpeg, kOneDnn, kOther };
  static constexpr int kOwners = 4;

  static void start();
  static void stop();
  static std::int64_t count(Owner owner);
  static std::string_view name(Owner owner);
  /// Allocating functions of one owner, most frequent first: one "COUNT LIBRARY: FUNCTION" per line.
  static std::string callers(Owner owner);
};

}  // namespace saccade::test
