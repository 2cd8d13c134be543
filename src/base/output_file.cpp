#include "base/output_file.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/temporaries.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_output(const std::string& path, int reason) {
  fail(ErrorCode::kIo, "can't write {}: {}", path, std::strerror(reason));
}

/// The status of PATH; nothing if it does not exist. Throws Error (kIo) if the system cannot tell.
std::optional<struct stat> status_of(const std::string& path, const std::string& given) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT) refuse_output(given, errno);
  return {};
}

/// An unused name beside TARGET. It does not contain TARGET's own name, which may have the maximum length.
std::string temporary_beside(const std::string& target) {
  static std::atomic<unsigned> number = 0;
  const std::string name = fmt::format(".saccade-{}-{}.part", getpid(), number++);
  return (fs::path(target).parent_path() / name).string();
}

/// Creates a temporary file that will replace REPLACED. Returns its name.
std::string create_temporary(const std::string& target, const std::optional<struct stat>& replaced,
                             const std::string& given) {
  constexpr mode_t kAnyone = 0666;
  while (true) {
    std::string name = temporary_beside(target);
    note_temporary(name.c_str());  // first: a signal may arrive as soon as the file exists
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kAnyone);
    const int reason = errno;
    if (file < 0) forget_temporary(name.c_str());
    if (file < 0 && reason == EEXIST) continue;  // left by a process with the same id
    if (file < 0) refuse_output(given, reason);
    if (replaced) {
      // Failure is accepted: only root may change the owner. The mode matters.
      [[maybe_unused]] const int owned = fchown(file, replaced->st_uid, replaced->st_gid);
      [[maybe_unused]] const int moded = fchmod(file, replaced->st_mode & 07777U);
    }
    ::close(file);
    return name;
  }
}

}  // namespace

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorCode::kIo, "can't create the folder {}: {}", folder, error.message());
}

bool is_stream_path(const std::string& path) {
  const std::string target = behind_links(path).string();
  if (path == "-" || is_open_descriptor(target)) return true;
  const auto status = status_of(target, path);
  return status && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode);
}

OutputPath::OutputPath(const std::string& path, Claim claim) : path_(path), target_(behind_links(path).string()) {
  is_stream_ = is_open_descriptor(target_);
  const auto status = is_stream_ ? std::nullopt : status_of(target_, path_);
  if (status && S_ISDIR(status->st_mode)) refuse_output(path_, EISDIR);
  is_stream_ = is_stream_ || (status && !S_ISREG(status->st_mode));
  try {
    claim == Claim::kRecorded ? claim_output(target_) : check_output(target_);
  } catch (const Error& error) {
    if (target_ == path_) throw;
    throw error.in(path_);
  }
  if (is_stream_) {
    temporary_ = target_;
    is_committed_ = true;
    return;
  }
  // Replacing a file needs no permission to write it; a read-only file is to be kept.
  if (status && access(target_.c_str(), W_OK) != 0) refuse_output(path_, errno);
  if (fs::path(target_).filename().empty()) refuse_output(path_, EISDIR);
  temporary_ = create_temporary(target_, status, path_);
}

OutputPath::OutputPath(OutputPath&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      is_stream_(other.is_stream_),
      is_committed_(std::exchange(other.is_committed_, true)) {}

OutputPath::~OutputPath() {
  if (is_committed_) return;
  unlink(temporary_.c_str());
  forget_temporary(temporary_.c_str());
}

void OutputPath::commit() {
  if (is_committed_) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) refuse_output(path_, errno);
  forget_temporary(temporary_.c_str());
  is_committed_ = true;
}

OutputFile::OutputFile(const std::string& path, Appears appears, OutputPath::Claim claim)
    : path_(path), appears_(appears) {
  if (is_standard_output()) {
    claim_output("/proc/self/fd/1");
    file_.reset(stdout);
    return;
  }
  place_ = std::make_unique<OutputPath>(path, claim);
  if (!place_->is_stream()) open();
}

void OutputFile::open() {
  if (file_ != nullptr) return;
  file_.reset(std::fopen(place_->temporary().c_str(), place_->is_stream() ? "ae" : "we"));
  if (file_ == nullptr) fail_now();
}

void OutputFile::fail_now() {
  const int reason = errno;
  if (file_ != nullptr && !is_stream() && appears_ == Appears::kAtOnce) {
    // A reader would take a truncated line for the file's last one. Buffered text is dropped first.
    __fpurge(file_.get());
    const int file = fileno(file_.get());
    [[maybe_unused]] const int cut = ftruncate(file, flushed_);
    [[maybe_unused]] const ssize_t ended = pwrite(file, end_.data(), end_.size(), flushed_);
    std::clearerr(file_.get());
    [[maybe_unused]] const int sought = std::fseek(file_.get(), flushed_, SEEK_SET);
    [[maybe_unused]] const std::size_t begun = std::fwrite(header_.data(), 1, header_.size(), file_.get());
  }
  refuse_output(is_standard_output() ? "standard output" : path_, reason);
}

void OutputFile::write(std::string_view text) {
  open();
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail_now();
}

void OutputFile::write_header(std::string_view text) {
  write(text);
  header_ = text;
}

void OutputFile::flush() {
  open();
  if (std::fflush(file_.get()) != 0) fail_now();
  header_.clear();
  if (place_ == nullptr || appears_ != Appears::kAtOnce) return;
  if (!is_stream()) flushed_ = std::ftell(file_.get());
  end_.clear();
  place_->commit();
}

void OutputFile::write_end(std::string_view text) {
  if (is_stream()) return flush();
  write(text);
  flush();
  if (std::fseek(file_.get(), -static_cast<long>(text.size()), SEEK_CUR) != 0) fail_now();
  flushed_ -= static_cast<long>(text.size());
  end_ = text;
}

void OutputFile::close() {
  flush();
  std::FILE* file = file_.release();
  if (file != stdout && std::fclose(file) != 0) fail_now();
  if (place_ != nullptr) place_->commit();
}

}  // namespace saccade
