#include "media/source_list.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/input_file.hpp"
#include "base/processors.hpp"
#include "media/image_list.hpp"
#include "media/isolated/isolated_reader.hpp"
#include "media/looping_reader.hpp"
#include "media/network/uri.hpp"
#include "media/paced_reader.hpp"
#include "media/waiting_reader.hpp"
#include "saccade/cameras.hpp"
#include "scene/options.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 19> kVideoEndings = {
    ".mp4", ".m4v", ".mov",   ".mkv",  ".webm", ".avi", ".mpg",  ".mpeg", ".ts",  ".wmv",
    ".flv", ".y4m", ".mjpeg", ".h264", ".264",  ".avc", ".h265", ".265",  ".hevc"};

bool has_video_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(kVideoEndings, ending) != kVideoEndings.end();
}

bool is_there(const std::string& path) {
  std::error_code error;  // a dangling link exists: opening it reports the error
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_image_file(const std::string& path) {
  std::error_code error;
  return has_image_ending(path) && fs::is_regular_file(path, error);
}

bool is_pattern(const std::string& uri) {
  const bool is_uri = is_scene(uri) || is_camera(uri) || uri.find("://") != std::string::npos;
  return !is_uri && uri.find_first_of("*?[") != std::string::npos && !is_there(uri);
}

/// The files that PATTERN matches, sorted by name.
std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  const int status = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + (status == 0 ? found.gl_pathc : 0));
  globfree(&found);
  if (status == GLOB_NOSPACE) throw std::bad_alloc();
  if (paths.empty()) fail(ErrorCode::kNotFound, "the pattern '{}' matches no file", pattern);
  std::ranges::sort(paths);
  return paths;
}

/// READER, paced if OPTIONS say so. Throws Error if they are not for images, and READER reads images.
std::unique_ptr<FrameReader> with_options(std::unique_ptr<FrameReader> reader, const SourceOptions& options) {
  const SourceInfo& info = reader->info();
  if (options.loop && !info.files.empty())
    fail(ErrorCode::kInvalidArgument, "{}: images are read once: only a video or a scene can be looped", info.name);
  if (options.loop && info.live)
    fail(ErrorCode::kInvalidArgument, "{}: {} can't be rewound: only a video file or a scene can be looped", info.name,
         is_network(info.name) ? "a network stream" : "a camera");
  return options.realtime && !info.live ? pace(std::move(reader)) : std::move(reader);
}

/// FILES as one source.
std::unique_ptr<FrameReader> read_images(const std::string& name, std::vector<std::string> files,
                                         const SourceOptions& options) {
  return with_options(options.isolate ? open_isolated({.uri = name, .images = std::move(files), .options = {}})
                                      : open_images(name, std::move(files)),
                      options);
}

std::unique_ptr<FrameReader> read_uri(const std::string& uri, const SourceOptions& options) {
  ReaderOptions reading;
  if (options.model_width > 0) reading.model_width = options.model_width;
  if (options.model_height > 0) reading.model_height = options.model_height;
  if (options.decode_threads > 0) reading.decode_threads = options.decode_threads;
  // The memory of a GPU belongs to its process.
  if (options.isolate && options.decode == Decoding::kCuda)
    fail(ErrorCode::kInvalidArgument,
         "{}: a source in a process of its own is decoded by the CPU: leave SourceOptions::decode automatic",
         is_network(uri) ? network::redact(uri) : uri);
  if (!options.isolate) reading.decode = options.decode;
  reading.wait = options.wait_for_source && is_network(uri);
  return options.isolate ? open_isolated({.uri = uri, .images = {}, .options = reading}) : open_reader(uri, reading);
}

/// A source that is listed and not opened.
struct UnopenedSource {
  std::string place;  ///< in a file of sources; empty: it is in no file
  std::function<std::unique_ptr<FrameReader>(const SourceOptions&)> open;
};

/// Errors of RUN name PLACE, if there is one.
template <typename Run>
void naming_place(const std::string& place, const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    if (place.empty()) throw;
    throw error.in(place);
  }
}

/// Lists sources: patterns and folders by their files, images of one folder that follow each other as one source.
class SourceList {
 public:
  void add(const ListedSource& source) {
    if (!source.place.empty()) end_images();
    place_ = source.place;
    naming_place(place_, [&] { add_uri(source.uri); });
    if (!source.place.empty()) end_images();
  }

  std::vector<UnopenedSource> take() {
    end_images();
    return std::move(sources_);
  }

 private:
  void add_uri(const std::string& uri) {
    if (is_pattern(uri)) {
      for (const std::string& path : matches_of(uri)) add_path(path);
      return;
    }
    add_path(uri);
  }

  void add_path(const std::string& path) {
    if (is_image_file(path)) {
      if (!images_.empty() && fs::path(images_.back()).parent_path() != fs::path(path).parent_path()) end_images();
      images_.push_back(path);
      return;
    }
    end_images();
    if (!is_scene(path) && is_folder(path))
      add_folder(path);
    else
      add_source(path);
  }

  void add_folder(const std::string& path) {
    std::vector<std::string> videos;
    bool has_images = false;
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code unknown;  // of a link in circles: opening it reports the error
      if (entry->is_directory(unknown)) continue;
      has_images = has_images || has_image_ending(entry->path());
      if (has_video_ending(entry->path())) videos.push_back(entry->path().string());
    }
    if (!error && !has_images && videos.empty())
      fail(ErrorCode::kInvalidFile, "the folder '{}' has no image and no video (by the extensions of its files)", path);
    // It reports a folder that can't be read.
    if (has_images || error)
      push([path](const SourceOptions& options) { return with_options(read_uri(path, options), options); });
    note_input(path);
    std::ranges::sort(videos);
    for (const std::string& video : videos) add_source(video);
  }

  void end_images() {
    if (images_.size() == 1) add_source(images_.front());
    if (images_.size() > 1)
      push([images = images_](const SourceOptions& options) {
        return read_images(fmt::format("{} and {} more", images.front(), images.size() - 1), images, options);
      });
    images_.clear();
  }

  void add_source(const std::string& uri) {
    push([uri](const SourceOptions& options) { return open_source(uri, options); });
  }

  template <typename Open>
  void push(Open open) {
    if (sources_.size() == kMostSources)
      fail(ErrorCode::kInvalidArgument, "there are more than {} sources: give them to several runs", kMostSources);
    sources_.push_back({place_, std::move(open)});
  }

  std::string place_;
  std::vector<UnopenedSource> sources_;
  std::vector<std::string> images_;  ///< of one folder, to be one source
};

}  // namespace

std::unique_ptr<FrameReader> open_source(const std::string& uri, const SourceOptions& options) {
  const OpenReader open = [uri, options] {
    const OpenReader once = [uri, options] { return read_uri(uri, options); };
    return options.loop ? open_looping(once) : once();
  };
  return with_options(options.wait_for_source && is_camera(uri) ? open_or_wait(uri, open) : open(), options);
}

std::vector<std::unique_ptr<FrameReader>> open_listed(std::span<const ListedSource> sources,
                                                      const SourceOptions& options) {
  SourceList list;
  for (const ListedSource& source : sources) list.add(source);
  const std::vector<UnopenedSource> unopened = list.take();
  SourceOptions each = options;
  // More threads than processors would only take turns.
  if (each.decode_threads == 0 && unopened.size() > static_cast<std::size_t>(available_processors()))
    each.decode_threads = 1;
  std::vector<std::unique_ptr<FrameReader>> readers;
  for (const UnopenedSource& source : unopened)
    naming_place(source.place, [&] { readers.push_back(source.open(each)); });
  return readers;
}

std::vector<std::unique_ptr<FrameReader>> open_readers(std::span<const std::string> uris,
                                                       const SourceOptions& options) {
  std::vector<ListedSource> sources;
  for (const std::string& uri : uris) sources.push_back({uri, {}});
  return open_listed(sources, options);
}

std::vector<ListedSource> list_sources(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = 1 << 20;
  constexpr std::string_view kBlank = " \t\r";
  const std::string text = read_input(path, kMostBytes);
  std::vector<ListedSource> sources;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++number;
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    line = line.substr(0, line.find_last_not_of(kBlank) + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.find('\0') != std::string_view::npos)
      fail(ErrorCode::kInvalidFile, "{}:{}: a line has a NUL: give a text file with a URI a line", path, number);
    sources.push_back({std::string(line), fmt::format("{}:{}", path, number)});
  }
  if (sources.empty()) fail(ErrorCode::kInvalidFile, "{} names no source: write a URI a line", path);
  return sources;
}

}  // namespace saccade
