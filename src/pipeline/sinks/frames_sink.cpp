#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/module.hpp"
#include "base/output_file.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "pipeline/sinks/map_files.hpp"
#include "pipeline/sinks/skipped_images.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

/// 0-000001.jpg, 0-000001.depth.npy, 0-000001.classes-1.png
bool is_frame_name(std::string_view name) {
  const std::size_t digits = name.find_first_not_of("0123456789-");
  const bool is_numbered = digits != std::string_view::npos && digits > 0 && name[digits] == '.' &&
                           name.substr(0, digits).find('-') != std::string_view::npos;
  return is_numbered && (name.ends_with(".jpg") || name.ends_with(".npy") || name.ends_with(".png"));
}

class FramesSink final : public Sink {
 public:
  explicit FramesSink(const std::string& folder) : folder_(folder) {
    make_folder(folder);
    claim_output_folder(folder, is_frame_name);
  }

  void write(const Result& result, const FrameView& frame) override {
    auto found = drawn_.find(result.stream);
    if (found == drawn_.end()) {
      const auto save = [this, stream = result.stream](const DrawnFrame& drawn) {
        const std::string name = fmt::format("{}-{:06}.jpg", stream, drawn.frame());
        skipped_.try_write(drawn.results(), [&] { write_image((folder_ / name).string(), view_of(drawn.view())); });
      };
      found = drawn_.try_emplace(result.stream, draw_, save).first;
    }
    found->second.add(result, frame);
    if (!result.depth.cells.empty())
      skipped_.try_write(
          1, [&] { maps_.save(path_for(result, "depth", "npy"), result.depth, result.width, result.height); });
    if (!result.class_map.cells.empty())
      skipped_.try_write(
          1, [&] { maps_.save(path_for(result, "classes", "png"), result.class_map, result.width, result.height); });
  }

  void close(const Summary& /*summary*/) override {
    for (auto& [stream, drawn] : drawn_) drawn.finish();
    skipped_.report();
  }

  std::int64_t failed() const override { return skipped_.results(); }

 private:
  /// FOLDER/STREAM-FRAME.WHAT.ENDING; from the second model: WHAT-1, WHAT-2, ...
  std::filesystem::path path_for(const Result& result, std::string_view what, std::string_view ending) const {
    const std::string place = result.model_index == 0 ? "" : fmt::format("-{}", result.model_index);
    return folder_ / fmt::format("{}-{:06}.{}{}.{}", result.stream, result.frame, what, place, ending);
  }

  std::filesystem::path folder_;
  const DrawModule& draw_ = module<DrawModule>("draw");
  std::map<int, DrawnFrame> drawn_;
  MapFiles maps_;
  SkippedImages skipped_;
};

}  // namespace

std::unique_ptr<Sink> open_frames(const std::string& folder) { return std::make_unique<FramesSink>(folder); }

}  // namespace saccade
