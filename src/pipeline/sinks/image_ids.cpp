#include "pipeline/sinks/image_ids.hpp"

#include <cstdint>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "media/file_kind.hpp"

namespace saccade {
namespace {

class ImageIds {
 public:
  explicit ImageIds(const std::string& path) : path_(path) {}

  void add(const SourceInfo& source) {
    if (source.files.empty()) return add_numbered(source);
    for (std::size_t i = 0; i < source.files.size(); ++i) {
      const std::int64_t number = number_in_name(source.files[i]);
      add(number >= 0 ? number : static_cast<std::int64_t>(i), source.files[i]);
    }
  }

 private:
  /// Frames of a video have the IDs 0, 1, ...
  void add_numbered(const SourceInfo& source) {
    const std::int64_t end = source.frames < 0 ? std::numeric_limits<std::int64_t>::max() : source.frames;
    if (numbered_ > 0 && end > 0) refuse(0, frame_name(0), fmt::format("frame 0 of {}", source.name));
    for (const auto& [id, file] : files_)
      if (id < end) refuse(id, file, fmt::format("frame {} of {}", id, source.name));
    numbered_ = end;
    video_ = source.name;
  }

  void add(std::int64_t id, const std::string& file) {
    if (id < numbered_) refuse(id, frame_name(id), file);
    const auto [found, is_new] = files_.try_emplace(id, file);
    if (!is_new) refuse(id, found->second, file);
  }

  std::string frame_name(std::int64_t id) const { return fmt::format("frame {} of {}", id, video_); }

  [[noreturn]] void refuse(std::int64_t id, const std::string& one, const std::string& other) const {
    fail(ErrorCode::kConflict,
         "can't write {}: {} and {} would have the same image_id {} (the number at the end of the image's file name, "
         "else the frame's); rename one of them, or run each source separately",
         path_, one, other, id);
  }

  const std::string& path_;
  std::map<std::int64_t, std::string> files_;
  std::int64_t numbered_ = 0;  ///< number of frames of the video
  std::string video_;
};

}  // namespace

void check_image_ids(const std::string& path, std::span<const Source> sources) {
  ImageIds ids(path);
  for (const Source& source : sources) ids.add(source.info());
}

}  // namespace saccade
