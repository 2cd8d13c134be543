#include "media/file_window.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace saccade {

FileWindow::FileWindow(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (file_ >= 0 && ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size;
}

FileWindow::~FileWindow() {
  if (file_ >= 0) ::close(file_);
}

std::string_view FileWindow::at(std::int64_t offset, std::size_t count) {
  if (offset < 0 || offset >= size_) return {};
  count = static_cast<std::size_t>(std::min<std::int64_t>(static_cast<std::int64_t>(count), size_ - offset));
  if (offset < start_ || offset + static_cast<std::int64_t>(count) > start_ + static_cast<std::int64_t>(filled_)) {
    const auto got = ::pread(file_, bytes_.data(), bytes_.size(), offset);
    start_ = offset;
    filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  const auto from = static_cast<std::size_t>(offset - start_);
  return std::string_view(bytes_.data(), filled_).substr(std::min(from, filled_), count);
}

std::uint64_t FileWindow::big(std::int64_t offset, int count) {
  const std::string_view bytes = at(offset, static_cast<std::size_t>(count));
  std::uint64_t number = 0;
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(i);
    number = number << 8U | (place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0U);
  }
  return number;
}

std::uint64_t FileWindow::little(std::int64_t offset, int count) {
  const std::uint64_t number = big(offset, count);
  std::uint64_t turned = 0;
  for (int i = 0; i < count; ++i)
    turned |= (number >> 8U * static_cast<unsigned>(i) & 0xFFU) << 8U * static_cast<unsigned>(count - 1 - i);
  return turned;
}

}  // namespace saccade
