#include "pipeline/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace saccade {

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(path == "-" ? stdout : std::fopen(path.c_str(), "we")) {
  if (file_ == nullptr) fail_now();
}

void OutputFile::fail_now() const {
  const int reason = errno;
  fail(ErrorCode::kIo, "can't write {}: {}", is_standard_output() ? "standard output" : path_, std::strerror(reason));
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail_now();
}

void OutputFile::flush() {
  if (std::fflush(file_.get()) != 0) fail_now();
}

void OutputFile::close() {
  flush();
  std::FILE* file = file_.release();
  if (file != stdout && std::fclose(file) != 0) fail_now();
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorCode::kIo, "can't make the folder {}: {}", folder, error.message());
}

}  // namespace saccade
