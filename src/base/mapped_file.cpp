#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/input_file.hpp"

namespace saccade {

MappedFile::MappedFile(const std::filesystem::path& path) {
  check_input(path);
  note_input(path);
  const auto refuse = [&](int file) {
    const int reason = errno;
    if (file >= 0) ::close(file);
    fail(ErrorCode::kIo, "{}: it can't be read: {}", path.string(), std::strerror(reason));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) refuse(file);
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {
    memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory_ == MAP_FAILED) refuse(file);
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(memory_, size_);
}

void MappedFile::release_pages() const {
  // A failure costs memory only.
  if (size_ > 0) ::madvise(memory_, size_, MADV_DONTNEED);
}

}  // namespace saccade
