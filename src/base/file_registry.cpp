#include "base/file_registry.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

struct FileId {
  dev_t device;
  ino_t inode;
  auto operator<=>(const FileId&) const = default;
};

/// A name in a folder: what a file that does not exist yet is known by.
using Entry = std::pair<FileId, std::string>;

std::optional<FileId> id_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return FileId{status.st_dev, status.st_ino};
}

std::optional<Entry> entry_of(const fs::path& path) {
  const auto folder = id_of(path.has_parent_path() ? path.parent_path() : ".");
  if (!folder) return {};
  return Entry{*folder, path.filename().string()};
}

/// Any number of outputs may end there.
bool is_null_device(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1 &&
         minor(status.st_rdev) == 3;
}

class Registry {
 public:
  void note_input(const fs::path& path) {
    const auto id = id_of(path);
    if (!id) return;
    const std::scoped_lock lock(mutex_);
    if (const auto written = outputs_.find(*id); written != outputs_.end() && !is_null_device(path))
      refuse_written(path);
    const auto entry = entry_of(path);
    if (entry && output_entries_.contains(*entry)) refuse_written(path);
    inputs_.try_emplace(*id, path.string());
    if (entry) input_entries_.try_emplace(*entry, path.string());
  }

  void check_output(const fs::path& path) {
    const std::scoped_lock lock(mutex_);
    check_is_no_input(path);
  }

  void claim_output(const fs::path& path) {
    if (is_null_device(path)) return;
    const std::scoped_lock lock(mutex_);
    check_is_no_input(path);
    if (const auto id = id_of(path)) {
      if (const auto known = outputs_.find(*id); known != outputs_.end()) refuse_second(path, known->second);
      outputs_.emplace(*id, path.string());
    }
    const auto entry = entry_of(path);
    if (!entry) return;
    if (const auto known = output_entries_.find(*entry); known != output_entries_.end())
      refuse_second(path, known->second);
    for (const Folder& folder : folders_)
      if (folder.id == entry->first && folder.writes(entry->second)) refuse_second(path, "a file of " + folder.path);
    output_entries_.emplace(*entry, path.string());
  }

  void claim_output_folder(const fs::path& path, WritesName writes) {
    const auto id = id_of(path);
    if (!id) return;
    const std::scoped_lock lock(mutex_);
    if (inputs_.contains(*id))
      fail(ErrorCode::kConflict, "the folder {} is read: write into another one", path.string());
    for (const auto& [entry, name] : input_entries_)
      if (entry.first == *id && writes(entry.second))
        fail(ErrorCode::kConflict, "{} is read, and files of such names are written into {}: write into another folder",
             name, path.string());
    for (const auto& [entry, name] : output_entries_)
      if (entry.first == *id && writes(entry.second)) refuse_second(name, "a file of " + path.string());
    folders_.push_back({*id, path.string(), writes});
  }

 private:
  struct Folder {
    FileId id;
    std::string path;
    WritesName writes;
  };

  void check_is_no_input(const fs::path& path) const {
    const auto id = id_of(path);
    const auto found = id ? inputs_.find(*id) : inputs_.end();
    if (found == inputs_.end() || is_null_device(path)) return;
    if (found->second == path.string())
      fail(ErrorCode::kConflict, "{} is read: write the output elsewhere", path.string());
    fail(ErrorCode::kConflict, "{} is the same file as {}, which is read: write the output elsewhere", path.string(),
         found->second);
  }

  [[noreturn]] static void refuse_written(const fs::path& path) {
    fail(ErrorCode::kConflict, "{} is to be read, and written, too: write the output elsewhere", path.string());
  }

  [[noreturn]] static void refuse_second(const fs::path& path, const std::string& first) {
    fail(ErrorCode::kConflict, "two outputs would be written to {} (one as {}): give each a file of its own",
         path.string(), first);
  }

  std::mutex mutex_;
  std::map<FileId, std::string> inputs_;
  std::map<Entry, std::string> input_entries_;
  std::map<FileId, std::string> outputs_;
  std::map<Entry, std::string> output_entries_;
  std::vector<Folder> folders_;
};

std::atomic<bool> is_protecting = false;

/// The registry; null while nothing is protected.
Registry* registry() {
  if (!is_protecting.load(std::memory_order_acquire)) return nullptr;
  static Registry the_registry;
  return &the_registry;
}

}  // namespace

void protect_files() noexcept { is_protecting.store(true, std::memory_order_release); }

void note_input(const fs::path& path) {
  if (Registry* files = registry()) files->note_input(path);
}

void claim_output(const fs::path& path) {
  if (Registry* files = registry()) files->claim_output(path);
}

void check_output(const std::string& path) {
  if (Registry* files = registry()) files->check_output(path);
}

void claim_output_folder(const fs::path& folder, WritesName writes) {
  if (Registry* files = registry()) files->claim_output_folder(folder, writes);
}

}  // namespace saccade
