#include "serve/system_region.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {
namespace {

/// Objects have no folders. A leading slash is optional, as for shm_open().
std::string path_of(const RegionInfo& info) { return "/dev/shm/" + info.key.substr(info.key.starts_with('/') ? 1 : 0); }

std::string open_failure(int error) {
  switch (error) {
    case ENOENT: return "there is none: create it first";
    case ELOOP: return "it is a symbolic link";
    default: return std::strerror(error);
  }
}

/// Calls COPY(done) until it has copied BYTES; it returns how many it has, or -1. False if the object ends before.
template <typename Copy>
bool copy_all(const RegionInfo& info, std::size_t bytes, const Copy& copy) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t copied = copy(done);
    if (copied == 0) return false;
    if (copied > 0)
      done += static_cast<std::size_t>(copied);
    else if (errno != EINTR)
      fail(ErrorCode::kInvalidArgument, "the shared memory region '{}' can't be used: {}", info.name,
           std::strerror(errno));
  }
  return true;
}

[[noreturn]] void has_shrunk(const RegionInfo& info) {
  fail(ErrorCode::kInvalidArgument,
       "the shared memory object '{}' has shrunk since the region '{}' was registered: unregister the region", info.key,
       info.name);
}

}  // namespace

SystemRegion::SystemRegion(RegionInfo given) : MemoryRegion(std::move(given)) {
  // A FIFO must not make the server wait for its other end.
  descriptor_ = ::open(path_of(info()).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0)
    fail(ErrorCode::kInvalidArgument, "the shared memory object '{}' can't be opened: {}", brief(info().key),
         open_failure(errno));
  try {
    check_object();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SystemRegion::~SystemRegion() { ::close(descriptor_); }

void SystemRegion::check_object() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode))
    fail(ErrorCode::kInvalidArgument, "'{}' is no shared memory object", info().key);
  // What another user has placed there may be an object of a third one, by a hard link.
  if (status.st_uid != ::geteuid() || status.st_nlink != 1)
    fail(ErrorCode::kInvalidArgument, "the shared memory object '{}' is not of the server's user alone", info().key);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (info().offset > size || info().bytes > size - info().offset)
    fail(ErrorCode::kInvalidArgument,
         "the region '{}' has {} bytes at offset {}, and the shared memory object '{}' {} bytes", info().name,
         info().bytes, info().offset, info().key, size);
}

void SystemRegion::check_is_whole() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || status.st_nlink == 0)
    fail(ErrorCode::kInvalidArgument,
         "the shared memory object '{}' was removed since the region '{}' was registered: unregister the region",
         info().key, info().name);
  if (static_cast<std::uint64_t>(status.st_size) < info().offset + info().bytes) has_shrunk(info());
}

void SystemRegion::read(std::uint64_t offset, std::span<std::byte> to) const {
  check_is_whole();
  const std::uint64_t from = info().offset + offset;
  const bool is_whole = copy_all(info(), to.size(), [&](std::size_t done) {
    return ::pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(from + done));
  });
  if (!is_whole) has_shrunk(info());
}

void SystemRegion::write(std::uint64_t offset, std::span<const std::byte> from) const {
  // If the object shrinks from now on, it grows again: up to the registered size, which harms no one.
  check_is_whole();
  const std::uint64_t to = info().offset + offset;
  const bool is_whole = copy_all(info(), from.size(), [&](std::size_t done) {
    return ::pwrite(descriptor_, from.data() + done, from.size() - done, static_cast<off_t>(to + done));
  });
  if (!is_whole) has_shrunk(info());
}

}  // namespace saccade::serve
