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
    if (find(outputs_, *id, id_of) != nullptr && !is_null_device(path)) refuse_written(path);
    const auto entry = entry_of(path);
    if (entry && find(output_entries_, *entry, entry_of) != nullptr) refuse_written(path);
    inputs_.insert_or_assign(*id, path.string());
    if (entry) input_entries_.insert_or_assign(*entry, path.string());
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
      if (const std::string* known = find(outputs_, *id, id_of)) refuse_second(path, *known);
      outputs_.insert_or_assign(*id, path.string());
    }
    const auto entry = entry_of(path);
    if (!entry) return;
    if (const std::string* known = find(output_entries_, *entry, entry_of)) refuse_second(path, *known);
    for (const Folder& folder : folders_)
      if (folder.id == entry->first && folder.writes(entry->second)) refuse_second(path, "a file of " + folder.path);
    output_entries_.insert_or_assign(*entry, path.string());
  }

  void claim_output_folder(const fs::path& path, WritesName writes) {
    const auto id = id_of(path);
    if (!id) return;
    const std::scoped_lock lock(mutex_);
    if (find(inputs_, *id, id_of) != nullptr)
      fail(ErrorCode::kConflict, "the folder {} is an input: write into another one", path.string());
    for (const auto& [entry, name] : input_entries_)
      if (entry.first == *id && writes(entry.second) && entry_of(name) == entry)
        fail(ErrorCode::kConflict,
             "{} is an input, and files of such names are written into {}: write into another folder", name,
             path.string());
    for (const auto& [entry, name] : output_entries_)
      if (entry.first == *id && writes(entry.second) && entry_of(name) == entry)
        refuse_second(name, "a file of " + path.string());
    folders_.push_back({*id, path.string(), writes});
  }

 private:
  struct Folder {
    FileId id;
    std::string path;
    WritesName writes;
  };

  /// The path that KEY was recorded with. Null where there is none, or where the path means something else by now: the
  /// system gives inodes of deleted files to new ones.
  template <typename Key>
  static const std::string* find(std::map<Key, std::string>& paths, const Key& key,
                                 std::optional<Key> (*key_of)(const fs::path&)) {
    const auto found = paths.find(key);
    if (found == paths.end()) return nullptr;
    if (key_of(found->second) == key) return &found->second;
    paths.erase(found);
    return nullptr;
  }

  void check_is_no_input(const fs::path& path) {
    const auto id = id_of(path);
    const std::string* input = id ? find(inputs_, *id, id_of) : nullptr;
    if (input == nullptr || is_null_device(path)) return;
    if (*input == path.string())
      fail(ErrorCode::kConflict, "{} is an input: write the output elsewhere", path.string());
    fail(ErrorCode::kConflict, "{} is the same file as {}, which is an input: write the output elsewhere",
         path.string(), *input);
  }

  [[noreturn]] static void refuse_written(const fs::path& path) {
    fail(ErrorCode::kConflict, "{} is both input and output: write the output elsewhere", path.string());
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
