#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"
#include "validate/data/data_set.hpp"
#include "validate/data/heads.hpp"
#include "validate/data/mot_evaluator.hpp"
#include "vision/thresholds.hpp"

namespace saccade {
namespace {

// The classes of MOT16, MOT17 and MOT20 whose predictions are ignored: person on vehicle, static person, distractor,
// reflection; in MOT20 also vehicles without a motor. As in TrackEval.
constexpr int kPedestrian = 1;
constexpr std::array kDistractors = {2, 7, 8, 12};
constexpr int kVehicleWithoutMotor = 6;

class MotData final : public DataSet {
 public:
  explicit MotData(const std::filesystem::path& folder) : files_(read_mot(folder)), path_(folder.string()) {
    for (std::size_t i = 0; i < files_.sequences.size(); ++i) {
      const MotSequence& sequence = files_.sequences[i];
      for (std::size_t frame = 0; frame < sequence.images.size(); ++frame)
        images_.push_back({.file = sequence.images[frame].string(),
                           .id = static_cast<std::int64_t>(images_.size()),
                           .said_by = {},
                           .sequence = static_cast<int>(i),
                           .frame_rate = sequence.frame_rate > 0 ? sequence.frame_rate : kUsualRate});
      if (sequence.frame_rate == 0) unknown_rates_.push_back(sequence.name);
    }
  }

  std::span<const DataImage> images() const override { return images_; }

  std::string contents() const override {
    std::size_t objects = 0;
    for (const MotSequence& sequence : files_.sequences)
      for (const auto& frame : sequence.frames)
        objects += static_cast<std::size_t>(std::ranges::count(frame, true, &MotObject::counts));
    return fmt::format("{} objects in {} sequence{}", objects, files_.sequences.size(),
                       files_.sequences.size() == 1 ? "" : "s");
  }

  std::unique_ptr<Evaluator> make_evaluator(const Model& model, CocoResults* /*results*/) const override {
    if (!model.tracks())
      fail(ErrorCode::kInvalidArgument, "{} finds no objects to track (its task is {}), but mot: evaluates tracks",
           model.name(), to_string(model.task()));
    std::vector<MotClass> evaluated = classes_for(model);
    CocoAnnotations categories;
    categories.path = path_;
    for (const MotClass& each : evaluated) categories.categories.push_back({each.number, each.name});
    ClassMatch match = match_classes(model, categories, "mot:");
    std::vector<std::string> notes = unmatched(match, model, path_, objects_of(evaluated));
    if (!unknown_rates_.empty())
      notes.push_back(fmt::format("assumed for lack of a seqinfo.ini: {} frames per second ({})", kUsualRate,
                                  fmt::join(unknown_rates_, ", ")));
    return std::make_unique<MotEvaluator>(files_, std::move(evaluated), std::move(match), std::move(notes));
  }

 private:
  static constexpr double kUsualRate = 30;

  /// The number of objects that count, by class.
  std::vector<std::int64_t> objects_of(std::span<const MotClass> classes) const {
    std::vector<std::int64_t> counts(classes.size());
    for (const MotSequence& sequence : files_.sequences)
      for (const auto& frame : sequence.frames)
        for (const MotObject& object : frame)
          for (std::size_t i = 0; i < classes.size(); ++i)
            if (object.counts && object.class_number == classes[i].number) ++counts[i];
    return counts;
  }

  /// Without labels.txt, those of MOTChallenge: pedestrians, whom most models call persons.
  std::vector<MotClass> classes_for(const Model& model) const {
    std::vector<MotClass> classes;
    for (std::size_t i = 0; i < files_.labels.size(); ++i)
      classes.push_back({.name = files_.labels[i], .number = static_cast<int>(i) + 1, .ignores_uncounted = true});
    if (!classes.empty()) return classes;
    const Head* head = find_objects_head(impl_of(model).card());
    const bool has_person = std::ranges::find(head->labels, "person") != head->labels.end();
    MotClass& pedestrian = classes.emplace_back(MotClass{.name = has_person ? "person" : "pedestrian"});
    pedestrian.number = kPedestrian;
    pedestrian.distractors.assign(kDistractors.begin(), kDistractors.end());
    if (files_.sequences.front().name.starts_with("MOT20")) pedestrian.distractors.push_back(kVehicleWithoutMotor);
    return classes;
  }

  MotFiles files_;
  std::string path_;
  std::vector<DataImage> images_;
  std::vector<std::string> unknown_rates_;
};

}  // namespace

std::unique_ptr<DataSet> open_mot_data(const std::filesystem::path& folder) {
  return std::make_unique<MotData>(folder);
}

}  // namespace saccade
