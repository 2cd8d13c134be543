#include "base/file_registry.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
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

/// Folder and name: the identity of a file that does not exist yet.
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

/// The null device may be the target of any number of outputs.
bool is_null_device(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1 &&
         minor(status.st_rdev) == 3;
}

class Registry {
 public:
  /// Records the regular files that standard output and standard error are redirected to.
  void note_streams() noexcept {
    for (Stream& stream : streams_) {
      struct stat status {};
      if (fstat(stream.descriptor, &status) == 0 && S_ISREG(status.st_mode))
        stream.id = FileId{status.st_dev, status.st_ino};
    }
  }

  void note_input(const fs::path& path) {
    const auto id = id_of(path);
    if (!id) return;
    if (const Stream* stream = find_stream(*id))
      fail(ErrorCode::kConflict, "{} is an input, and {} is redirected to it: redirect it elsewhere", path.string(),
           stream->name);
    const std::scoped_lock lock(mutex_);
    if (find(outputs_, *id, id_of) != nullptr && !is_null_device(path)) refuse_written(path);
    const auto entry = entry_of(path);
    if (entry && find(output_entries_, *entry, entry_of) != nullptr) refuse_written(path);
    inputs_.insert_or_assign(*id, path.string());
    if (entry) input_entries_.insert_or_assign(*entry, path.string());
  }

  void check_output(const fs::path& path) {
    check_is_no_stream(path);
    const std::scoped_lock lock(mutex_);
    check_is_no_input(path);
  }

  void claim_output(const fs::path& path) {
    if (is_null_device(path)) return;
    check_is_no_stream(path);
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
    check_entries(path, writes);
    folders_.push_back({*id, path.string(), writes});
  }

 private:
  struct Stream {
    int descriptor;
    std::string_view name;
    std::optional<FileId> id = {};
  };

  struct Folder {
    FileId id;
    std::string path;
    WritesName writes;
  };

  /// The path that KEY was recorded with. Null if there is none, or if the path leads elsewhere by now: the system
  /// reuses inodes of deleted files.
  template <typename Key>
  static const std::string* find(std::map<Key, std::string>& paths, const Key& key,
                                 std::optional<Key> (*key_of)(const fs::path&)) {
    const auto found = paths.find(key);
    if (found == paths.end()) return nullptr;
    if (key_of(found->second) == key) return &found->second;
    paths.erase(found);
    return nullptr;
  }

  const Stream* find_stream(const FileId& id) const {
    for (const Stream& stream : streams_)
      if (stream.id == id) return &stream;
    return nullptr;
  }

  /// A sink may write to standard output by its own names, never to the file that it is redirected to.
  void check_is_no_stream(const fs::path& path) const {
    const auto id = id_of(path);
    const Stream* stream = id ? find_stream(*id) : nullptr;
    if (stream != nullptr && !is_open_descriptor(behind_links(path))) refuse_second(path, std::string(stream->name));
  }

  /// Refuses FOLDER if a file whose name matches WRITES is a link to an input or to another output.
  void check_entries(const fs::path& folder, WritesName writes) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (!writes(entry->path().filename().string())) continue;
      check_is_no_stream(entry->path());
      check_is_no_input(entry->path());
      const auto id = id_of(entry->path());
      const std::string* known = id ? find(outputs_, *id, id_of) : nullptr;
      if (known != nullptr && !is_null_device(entry->path())) refuse_second(entry->path(), *known);
    }
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

  std::array<Stream, 2> streams_ = {Stream{STDOUT_FILENO, "standard output"}, Stream{STDERR_FILENO, "standard error"}};
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

bool is_open_descriptor(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::canonical(path.parent_path(), error);
  return !error && folder.filename() == "fd" && folder.string().starts_with("/proc/");
}

fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  for (int i = 0; i < kMostLinks && !is_open_descriptor(path); ++i) {
    std::error_code error;
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

void protect_files() noexcept {
  if (is_protecting.exchange(true)) return;
  registry()->note_streams();
}

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
