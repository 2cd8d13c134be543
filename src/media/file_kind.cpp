#include "media/file_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "media/network/uri.hpp"

namespace saccade {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

struct Magic {
  FileKind kind;
  std::size_t offset;
  std::string_view bytes;
};

using namespace std::string_view_literals;
constexpr Magic kMagics[] = {
    {FileKind::kJpeg, 0, "\xFF\xD8\xFF"sv},  {FileKind::kPng, 0, "\x89PNG\r\n\x1A\n"sv},
    {FileKind::kOtherImage, 8, "WEBPVP8"sv}, {FileKind::kOtherImage, 0, "II*\0"sv},
    {FileKind::kOtherImage, 0, "MM\0*"sv},   {FileKind::kOtherImage, 0, "P5\n"sv},
    {FileKind::kOtherImage, 0, "P6\n"sv},
};

/// "BM" alone would match any text that starts so: the header's reserved fields are zero and its own size is known.
bool is_bmp(std::string_view head) {
  return head.size() >= 18 && head.starts_with("BM") && head.substr(6, 4) == "\0\0\0\0"sv && head[14] >= 12 &&
         head.substr(15, 3) == "\0\0\0"sv;
}

}  // namespace

FileKind file_kind(std::span<const std::uint8_t> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Magic& magic : kMagics)
    if (text.size() > magic.offset && text.substr(magic.offset).starts_with(magic.bytes)) return magic.kind;
  return is_bmp(text) ? FileKind::kOtherImage : FileKind::kOther;
}

FileKind file_kind(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error &&
      status.type() != std::filesystem::file_type::not_found)  // a loop of links, or a folder without permission
    fail(ErrorCode::kIo, "'{}' can't be opened: {}", path, error.message());
  if (!std::filesystem::exists(status))
    fail(ErrorCode::kNotFound, "there is no file or folder '{}'", network::redact(path));
  if (!std::filesystem::is_regular_file(status)) fail(ErrorCode::kInvalidArgument, "'{}' is not a file", path);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(without_waiting(path).c_str(), "rb"));
  if (file == nullptr) fail(ErrorCode::kIo, "'{}' can't be opened: {}", path, std::strerror(errno));
  std::array<std::uint8_t, 32> head;
  const std::size_t count = std::fread(head.data(), 1, head.size(), file.get());
  if (count == 0) fail(ErrorCode::kInvalidFile, "'{}' is empty (0 bytes)", path);
  return file_kind(std::span(head).first(count));
}

std::int64_t number_in_name(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto first = std::find_if_not(stem.rbegin(), stem.rend(), digit).base();
  std::int64_t number = -1;
  const char* end = stem.data() + stem.size();
  const auto [stop, error] = std::from_chars(stem.data() + (first - stem.begin()), end, number);
  return error == std::errc() && stop == end ? number : -1;
}

}  // namespace saccade
