#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::test {

/// Counts what the whole process allocates, on all threads, between start() and stop(). Link alloc_counter.cpp into an
/// executable: its malloc and the like take the C library's place.
///
/// An allocation belongs to the nearest caller that is no C or C++ runtime library: to us where that is libsaccade, a
/// module of ours or the executable, else to the library's owner.
class AllocCounter {
 public:
  enum class Owner { kOurs, kFfmpeg, kOneDnn, kOther };
  static constexpr int kOwners = 4;

  static void start();
  static void stop();
  static std::int64_t count(Owner owner);
  static std::string_view name(Owner owner);
  /// Who allocated, most often first: one "COUNT LIBRARY: FUNCTION" a line, of one owner.
  static std::string callers(Owner owner);
};

}  // namespace saccade::test
