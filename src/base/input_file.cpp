#include "base/input_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/error.hpp"
#include "base/file_registry.hpp"

namespace saccade {

namespace fs = std::filesystem;

void check_input(const fs::path& path) {
  if (path.native().find('\0') != std::string::npos)
    fail(ErrorCode::kInvalidArgument, "{}: a file name cannot contain NUL", path.string());
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail(ErrorCode::kNotFound, "{}: no such file", path.string());
  if (error) fail(ErrorCode::kIo, "{} can't be read: {}", path.string(), error.message());
  if (fs::is_directory(status)) fail(ErrorCode::kInvalidFile, "{} is a folder: name a file in it", path.string());
  if (!fs::is_regular_file(status))
    fail(ErrorCode::kInvalidFile, "{} is a device, FIFO or socket: give a regular file", path.string());
}

bool has_entry(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  return type != fs::file_type::not_found && type != fs::file_type::none;
}

fs::path without_waiting(const fs::path& path) {
  std::error_code error;
  const bool is_empty = fs::file_size(path, error) == 0 && !error && ::access(path.c_str(), R_OK) == 0;
  return is_empty ? fs::path("/dev/null") : path;
}

std::ifstream open_input(const fs::path& path) {
  check_input(path);
  note_input(path);
  std::ifstream file(without_waiting(path), std::ios::binary);
  if (!file) fail(ErrorCode::kIo, "{} can't be opened: {}", path.string(), std::strerror(errno));
  return file;
}

std::string read_input(const fs::path& path, std::uintmax_t limit) {
  std::ifstream file = open_input(path);
  const std::uintmax_t size = fs::file_size(path);
  if (size > limit)
    fail(ErrorCode::kInvalidFile, "{} has {} bytes, more than the limit of {}: it seems to be another kind of file",
         path.string(), size, limit);
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (file.bad()) fail(ErrorCode::kIo, "{} can't be read: {}", path.string(), std::strerror(errno));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace saccade
