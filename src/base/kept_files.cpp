#include "base/kept_files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/cache_folder.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestBytes = 32;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{512} << 20;
constexpr int kOftenEnough = 256;  // files written between two checks of the folder's size

/// Removes the least recently written files until the folder has half of its limit.
void trim(const fs::path& folder) {
  struct Entry {
    fs::file_time_type time;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t all = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    const auto bytes = file.file_size(error);
    if (error) continue;
    all += bytes;
    entries.push_back({file.last_write_time(error), bytes, file.path()});
  }
  if (all <= kMostBytes) return;
  std::ranges::sort(entries, {}, &Entry::time);
  for (const Entry& entry : entries) {
    if (all <= kMostBytes / 2) return;
    fs::remove(entry.path, error);
    all -= entry.bytes;
  }
}

}  // namespace

std::optional<std::string> kept_file(const std::string& kind, const std::string& name) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  const fs::path path = folder / kind / name;
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() >= kDigestBytes) {
    const std::string written = bytes.substr(0, kDigestBytes);
    bytes.erase(0, kDigestBytes);
    if (digest(bytes) == written) return bytes;
  }
  log(LogLevel::kWarning, "{} is damaged and is ignored", path.string());
  return {};
}

void keep_file(const std::string& kind, const std::string& name, std::string_view bytes) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return;
  static std::atomic<int> written = 0;
  if (written++ % kOftenEnough == 0) trim(folder / kind);
  const fs::path path = folder / kind / name;
  if (!write_whole(path, digest(bytes) + std::string(bytes)))
    log(LogLevel::kInfo, "{} can't be written: {}", path.string(), std::strerror(errno));
}

}  // namespace saccade
