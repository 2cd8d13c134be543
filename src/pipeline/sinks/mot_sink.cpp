#include <algorithm>
#include <deque>

#include "base/error.hpp"
#include "base/record_file.hpp"
#include "pipeline/sinks/json_text.hpp"
#include "pipeline/sinks/numbered_path.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

class MotSink final : public Sink {
 public:
  MotSink(const std::string& path, std::size_t sources, int model) : model_(model) {
    for (std::size_t i = 0; i < sources; ++i) files_.emplace_back(numbered_path(path, i));
  }

  bool reads_pixels() const override { return false; }

  void write(const Result& result, const FrameView& /*frame*/) override {
    if (result.model_index != model_) return;
    lines_.clear();
    for (const Detection& each : result.detections)
      if (each.track_id > 0)
        append(lines_, "{},{},{:.2f},{:.2f},{:.2f},{:.2f},{:.4f},-1,-1,-1\n", result.frame + 1, each.track_id,
               each.box[0], each.box[1], each.box[2] - each.box[0], each.box[3] - each.box[1], each.confidence);
    files_[static_cast<std::size_t>(result.stream)].append({lines_.data(), lines_.size()});
  }

  void close(const Summary& /*summary*/) override {
    for (RecordFile& file : files_) file.close();
  }

 private:
  std::deque<RecordFile> files_;  ///< by source
  int model_;                     ///< the index of the one that tracks
  JsonBuffer lines_;
};

}  // namespace

std::unique_ptr<Sink> open_mot(const std::string& path, std::span<const Model> models,
                               std::span<const Source> sources) {
  const auto tracked = std::ranges::count_if(models, &Model::tracks);
  if (tracked != 1)
    fail(ErrorCode::kInvalidArgument,
         "can't write {}: {}; a file in MOTChallenge's format has the tracks of one model; --jsonl has all", path,
         tracked == 0 ? "no model tracks objects: pass --track" : fmt::format("{} models track objects", tracked));
  const auto model = std::ranges::find_if(models, &Model::tracks) - models.begin();
  return std::make_unique<MotSink>(path, sources.size(), static_cast<int>(model));
}

}  // namespace saccade
