#include "base/cache_folder.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

namespace saccade {

std::filesystem::path cache_folder() {
  if (const char* own = std::getenv("SACCADE_CACHE"); own != nullptr) return own;
  // The XDG specification ignores relative paths.
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base != nullptr && *base == '/')
    return std::filesystem::path(base) / "saccade";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "saccade";
  return {};
}

bool write_whole(const std::filesystem::path& path, std::string_view bytes) noexcept try {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  // A unique name: several processes may write the same file at once.
  static std::atomic<int> number = 0;
  const std::string part = path.string() + "." + std::to_string(getpid()) + "-" + std::to_string(number++) + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    const int why = errno;
    std::filesystem::remove(part, error);
    errno = why;
    return false;
  }
  std::filesystem::rename(part, path, error);
  if (!error) return true;
  const int why = error.value();
  std::filesystem::remove(part, error);
  errno = why;
  return false;
} catch (...) {
  errno = ENOMEM;
  return false;
}

}  // namespace saccade
