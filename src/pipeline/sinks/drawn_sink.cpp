#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/module.hpp"
#include "media/network/uri.hpp"
#include "pipeline/sinks/video_track.hpp"
#include "saccade/sinks.hpp"
#include "scene/options.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// The host and the path of a network stream with its NAME, as a file name.
std::string stream_folder(std::string_view name) {
  std::string folder;
  name.remove_prefix(name.find("://") + 3);
  name = name.substr(0, name.find('?'));
  name.remove_prefix(name.rfind('@') + 1);
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (folder.empty() && (!is_plain || c == '.')) continue;
    folder.push_back(is_plain ? c : '-');
  }
  constexpr std::size_t kLongest = 100;
  return folder.empty() ? "stream" : folder.substr(0, kLongest);
}

/// The name of SOURCE's folder: its file or folder without the extension.
std::string folder_name(const SourceInfo& source) {
  if (is_scene(source.name)) return "synthetic";
  if (is_network(source.name)) return stream_folder(source.name);
  const bool is_list = source.files.size() > 1;
  fs::path path = fs::absolute(is_list ? source.files.front() : source.name).lexically_normal();
  if (is_list || !path.has_filename()) path = path.parent_path();
  const std::string name = (is_list ? path.filename() : path.stem()).string();
  return name.empty() ? "images" : name;
}

/// ROOT/NAME, or ROOT/NAME-2, ...: the first that does not exist and is not among TAKEN.
std::string free_folder(const fs::path& root, const std::string& name, const std::vector<std::string>& taken) {
  for (int i = 1;; ++i) {
    std::string folder = (root / (i == 1 ? name : fmt::format("{}-{}", name, i))).string();
    std::error_code unknown;  // creating the folder reports it
    if (std::ranges::find(taken, folder) == taken.end() && !fs::exists(folder, unknown)) return folder;
  }
}

/// Throws Error (kIo); false if FOLDER exists.
bool create_new_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  const bool is_new = !error && fs::create_directory(folder, error);
  if (error && error != std::errc::file_exists)
    fail(ErrorCode::kIo, "can't create the folder {} for drawn frames: {}; run in another folder, or pass --no-save",
         folder, error.message());
  return is_new;
}

/// The images of one source, under their own names.
class DrawnImages {
 public:
  DrawnImages(const DrawModule& draw, std::string folder)
      : folder_(std::move(folder)), drawn_(draw, [this](const DrawnFrame& drawn) {
          skipped_.try_write(drawn.results(), [&] { write_image(path_, view_of(drawn.view())); });
        }) {
    claim_output_folder(folder_, [](std::string_view name) { return name.ends_with(".jpg"); });
  }

  void add(const Result& result, const FrameView& frame) {
    if (result.frame != frame_) {
      drawn_.finish();
      frame_ = result.frame;
      path_ = path_for(result);
    }
    drawn_.add(result, frame);
  }

  void close() {
    drawn_.finish();
    skipped_.report();
  }

  std::int64_t failed() const { return skipped_.results(); }

 private:
  /// If images differ only in their extension, the later one keeps it, and so on.
  std::string path_for(const Result& result) {
    const fs::path image(result.name);
    const std::string stem = image.stem().string();
    std::string name = taken_.contains(stem) ? image.filename().string() : stem;
    const std::string whole = name;
    for (int i = 2; taken_.contains(name); ++i) name = fmt::format("{}-{}", whole, i);
    taken_.insert(name);
    return (fs::path(folder_) / (name + ".jpg")).string();
  }

  std::string folder_;
  std::string path_;
  std::int64_t frame_ = -1;
  std::set<std::string> taken_;
  SkippedImages skipped_;
  DrawnFrame drawn_;
};

class DrawnSink final : public FolderSink {
 public:
  DrawnSink(const std::string& root, std::span<const Source> sources, bool endless)
      : root_(root), sources_(sources.begin(), sources.end()), tracks_(sources.size()), endless_(endless) {}

  const std::vector<std::string>& folders() const override { return folders_; }

  void write(const Result& result, const FrameView& frame) override {
    const auto stream = static_cast<std::size_t>(result.stream);
    const SourceInfo& source = sources_[stream].info();
    const bool never_ends = source.live || source.endless;
    if (never_ends && !endless_) return;
    Track& track = tracks_[stream];
    if (!track.is_open()) open(stream, source);
    if (track.images)
      track.images->add(result, frame);
    else
      track.video->add(result, frame);
    count_failed();
  }

  void close(const Summary& /*summary*/) override {
    std::optional<Error> first;
    for (Track& track : tracks_) {
      try {
        if (track.images) track.images->close();
        if (track.video) track.video->close();
      } catch (const Error& error) {
        if (!first) first = error;
      }
    }
    count_failed();
    if (first) throw *first;
  }

  std::int64_t failed() const override { return failed_; }

 private:
  /// Of one source; both are null until its first frame.
  struct Track {
    std::unique_ptr<DrawnImages> images;
    std::unique_ptr<VideoTrack> video;
    bool has_folder = false;
    bool is_open() const { return images || video; }
    std::int64_t failed() const { return images ? images->failed() : video ? video->failed() : 0; }
  };

  /// Other threads must not look at the tracks, which are opened later.
  void count_failed() {
    failed_ = std::accumulate(tracks_.begin(), tracks_.end(), std::int64_t{0},
                              [](std::int64_t sum, const Track& track) { return sum + track.failed(); });
  }

  /// Names the folders of all sources before the first is made: which source is NAME-2 does not depend on whose frame
  /// is first.
  void choose_folders() {
    for (const Source& source : sources_) chosen_.push_back(free_folder(root_, folder_name(source.info()), chosen_));
  }

  void open(std::size_t stream, const SourceInfo& source) {
    if (chosen_.empty()) choose_folders();
    const std::string name = folder_name(source);
    // Another process may have made it since.
    Track& track = tracks_[stream];
    // One that was made before opening failed is taken again.
    while (!track.has_folder && !(track.has_folder = create_new_folder(chosen_[stream])))
      chosen_[stream] = free_folder(root_, name, chosen_);
    if (!source.files.empty())
      track.images = std::make_unique<DrawnImages>(draw_, chosen_[stream]);
    else
      track.video = std::make_unique<VideoTrack>((fs::path(chosen_[stream]) / (name + ".mp4")).string(), source);
    list_folders();
  }

  void list_folders() {
    folders_.clear();
    for (std::size_t i = 0; i < tracks_.size(); ++i)
      if (tracks_[i].is_open()) folders_.push_back(chosen_[i]);
  }

  std::string root_;
  const DrawModule& draw_ = module<DrawModule>("draw");
  std::vector<Source> sources_;
  std::vector<Track> tracks_;
  std::vector<std::string> chosen_;   ///< by source
  std::vector<std::string> folders_;  ///< those that were made, in the order of the sources
  bool endless_;
  std::atomic<std::int64_t> failed_ = 0;
};

}  // namespace

std::unique_ptr<FolderSink> open_drawn(const std::string& root, std::span<const Source> sources, bool endless) {
  return std::make_unique<DrawnSink>(root, sources, endless);
}

}  // namespace saccade
