#include "media/v4l2/camera_options.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/uri_options.hpp"
#include "saccade/cameras.hpp"

namespace saccade {
namespace v4l2 {
namespace {

constexpr std::string_view kVideo = "/dev/video";
constexpr std::string_view kHelp =
    "the options are size=WxH, fps=N, format=NAME, io=auto|mmap|userptr, buffers=N and the camera's controls, which "
    "`saccade cameras` lists";
constexpr int kMostPixels = 1 << 14;  // per side

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_there(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

bool is_video_device(const std::string& path) {
  constexpr unsigned kVideo4Linux = 81;
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == kVideo4Linux;
}

/// The part before the options.
std::string_view path_of(std::string_view uri) { return uri.substr(0, uri.find('?')); }

[[noreturn]] void refuse(const CameraOptions& options, const UriOption& option, std::string_view wanted) {
  fail(ErrorCode::kInvalidArgument, "{}: '{}={}': {} must be {}; {}", options.path, option.name, option.value,
       option.name, wanted, kHelp);
}

/// Reads all of TEXT as a number from LOW to HIGH.
template <typename T>
bool read_number(std::string_view text, T low, T high, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
}

std::string format_names() {
  std::string names;
  for (const CameraFormat& format : camera_formats())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  return names;
}

bool read_io(std::string_view value, CameraIo& io) {
  for (const CameraIo known : {CameraIo::kAuto, CameraIo::kMmap, CameraIo::kUserptr}) {
    if (value != to_string(known)) continue;
    io = known;
    return true;
  }
  return false;
}

bool read_size(std::string_view value, CameraOptions& options) {
  const std::size_t at = value.find('x');
  return at != std::string_view::npos && read_number(value.substr(0, at), 1, kMostPixels, options.width) &&
         read_number(value.substr(at + 1), 1, kMostPixels, options.height);
}

void read_option(const UriOption& option, CameraOptions& options) {
  if (option.name == "size") {
    if (!read_size(option.value, options)) refuse(options, option, "WIDTHxHEIGHT");
  } else if (option.name == "fps") {
    if (!read_number(option.value, 0.01, 10'000.0, options.rate)) refuse(options, option, "a number above 0");
  } else if (option.name == "format") {
    options.format = find_format(option.value);
    if (options.format == nullptr) refuse(options, option, fmt::format("one of {}", format_names()));
  } else if (option.name == "io") {
    if (!read_io(option.value, options.io)) refuse(options, option, "auto, mmap or userptr");
  } else if (option.name == "buffers") {
    if (!read_number(option.value, kFewestBuffers, kMostBuffers, options.buffers))
      refuse(options, option, fmt::format("an integer from {} to {}", kFewestBuffers, kMostBuffers));
  } else if (option.name.empty()) {
    fail(ErrorCode::kInvalidArgument, "{}: '={}' has no name; {}", options.path, option.value, kHelp);
  } else {
    options.controls.push_back({std::string(option.name), std::string(option.value)});
  }
}

}  // namespace

std::string_view to_string(CameraIo io) {
  switch (io) {
    case CameraIo::kAuto: return "auto";
    case CameraIo::kMmap: return "mmap";
    case CameraIo::kUserptr: return "userptr";
  }
  return "unknown";
}

CameraOptions parse_camera(const std::string& uri) {
  CameraOptions options;
  options.uri = uri;
  const std::string_view path = path_of(uri);
  options.path = is_number(path) ? fmt::format("{}{}", kVideo, path) : std::string(path);
  if (path.size() == uri.size()) return options;
  for (const UriOption& option : split_uri_options(std::string_view(uri).substr(path.size() + 1), options.path, kHelp))
    read_option(option, options);
  return options;
}

}  // namespace v4l2

bool is_camera(const std::string& uri) {
  const std::string path(v4l2::path_of(uri));
  const std::string_view rest = std::string_view(uri).substr(path.size());
  if (path.find_first_of("*[") != std::string::npos || (!rest.empty() && v4l2::is_there(uri))) return false;
  // "/dev/video1?" and "1?.png" are patterns.
  if (rest == "?") return false;
  if (path.starts_with(v4l2::kVideo)) return v4l2::is_number(std::string_view(path).substr(v4l2::kVideo.size()));
  if (path.starts_with("/dev/v4l/")) return true;
  if (v4l2::is_number(path)) return (rest.empty() || rest.find('=') != std::string_view::npos) && !v4l2::is_there(path);
  return v4l2::is_video_device(path);
}

}  // namespace saccade
