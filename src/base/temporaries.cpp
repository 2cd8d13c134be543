#include "base/temporaries.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace saccade {
namespace {

enum class State : std::uint8_t { kFree, kBusy, kTaken };

struct TemporaryPlace {
  std::atomic<State> state = State::kFree;
  std::array<char, 512> path{};
};

std::array<TemporaryPlace, 64> places;

bool pass(TemporaryPlace& place, State from, State to) { return place.state.compare_exchange_strong(from, to); }

/// The format of getdents64: readdir() takes locks, which the interrupted thread may hold.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

constexpr int kDeepest = 4;

void remove_one(int folder, const char* name, int depth);

void remove_all_in(int folder, int depth) {
  alignas(DirectoryEntry) std::array<char, 4096> entries;
  while (true) {
    const long bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (bytes <= 0) return;
    for (long at = 0; at < bytes;) {
      const char* entry = entries.data() + at;
      std::uint16_t length = 0;
      std::memcpy(&length, entry + offsetof(DirectoryEntry, length), sizeof length);
      remove_one(folder, entry + offsetof(DirectoryEntry, name), depth + 1);
      at += length;
    }
  }
}

void remove_one(int folder, const char* name, int depth) {
  const bool is_link_up = std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
  if (is_link_up || depth > kDeepest || unlinkat(folder, name, 0) == 0) return;
  const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (below < 0) return;
  remove_all_in(below, depth);
  close(below);
  unlinkat(folder, name, AT_REMOVEDIR);
}

}  // namespace

void note_temporary(const char* path) noexcept {
  const std::size_t bytes = std::strlen(path) + 1;
  for (TemporaryPlace& place : places) {
    if (bytes > place.path.size() || !pass(place, State::kFree, State::kBusy)) continue;
    std::memcpy(place.path.data(), path, bytes);
    place.state = State::kTaken;
    return;
  }
}

void forget_temporary(const char* path) noexcept {
  for (TemporaryPlace& place : places) {
    if (place.state != State::kTaken || std::strcmp(place.path.data(), path) != 0) continue;
    place.state = State::kFree;
    return;
  }
}

void remove_temporaries() noexcept {
  for (TemporaryPlace& place : places)
    if (place.state == State::kTaken) remove_one(AT_FDCWD, place.path.data(), 0);
}

}  // namespace saccade
