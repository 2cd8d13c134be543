#include <fmt/format.h>

#include "measure/report/terminal_text.hpp"
#include "validate/data/data_set.hpp"
#include "validate/report.hpp"
#include "validate/report_tables.hpp"
#include "vision/cards/card.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostClasses = 100;

std::string settings_text(const Evaluation& model) {
  const PostprocessOptions& options = model.options.post;
  std::string text = fmt::format("confidence {:g} and above, at most {} boxes per image, NMS at an IoU of {:g}",
                                 options.confidence.value_or(kUsualConfidence), options.max_detections,
                                 options.iou.value_or(kUsualIou));
  if (options.agnostic) text += ", class-agnostic";
  if (options.tracker) text += fmt::format(", tracked by {}", to_string(options.tracker->kind));
  if (options.multi_label) text += *options.multi_label ? ", one detection per class" : ", best class only";
  return text;
}

bool has_boxes(const Evaluation& model) {
  for (const Score& score : model.scores)
    if (score.name == "box" || score.name == "tracks") return true;
  return false;
}

ReportText head(const Validation& validation) {
  ReportText text;
  for (const Evaluation& model : validation.models) {
    text += wrap(&model == &validation.models.front() ? "model" : "against",
                 fmt::format("{} ({}), precision {}", model.file, model.task, to_string(model.precision)));
    if (has_boxes(model)) text += wrap("", settings_text(model));
  }
  const double seconds = std::chrono::duration<double>(validation.elapsed).count();
  std::string data = fmt::format("{}: {} images, {}", validation.data, validation.all_images, validation.contents);
  if (validation.images < validation.all_images || validation.is_interrupted)
    data += fmt::format("; {} of them evaluated{}", validation.images,
                        validation.is_interrupted                    ? ", then interrupted"
                        : find_data_kind(validation.data).is_tracked ? ", the first ones"
                                                                     : ", spread evenly");
  text += wrap("data", data);
  text += wrap("machine", validation.device);
  text += wrap("time", fmt::format("{:.1f} s, {:.1f} images per second", seconds,
                                   seconds > 0 ? static_cast<double>(validation.images) / seconds : 0));
  for (const Evaluation& model : validation.models)
    for (const std::string& note : model.notes) text += wrap("note", note);
  return text;
}

ReportText share_line(std::string_view label, const Agreement::Share& share, std::string_view what) {
  if (share.whole == 0) return {};
  return wrap(label, fmt::format("{} % of {} {}", points_text(share.value()), share.whole, what));
}

ReportText agreement_text(const Agreement& agreement) {
  ReportText text;
  if (agreement.matched90.whole > 0)
    text += wrap("matched", fmt::format("{} % of the reference's {} boxes of confidence {} and above are matched by a "
                                        "box of the same class with an IoU of at least 0.9, {} % with at least 0.5",
                                        points_text(agreement.matched90.value()), agreement.matched90.whole,
                                        Agreement::kSure, points_text(agreement.matched50.value())));
  if (agreement.confirmed90.whole > 0)
    text += wrap("", fmt::format("{} % of the model's own {} are matched by the reference's, {} % with at least 0.5",
                                 points_text(agreement.confirmed90.value()), agreement.confirmed90.whole,
                                 points_text(agreement.confirmed50.value())));
  text += share_line("same class", agreement.same_class, "images have the same top class");
  text += share_line("same pixels", agreement.same_pixels, "pixels have the same class");
  text += share_line("near pixels", agreement.near_pixels, "pixels differ by at most 5 % of the reference's range");
  text += share_line("same second", agreement.same_second_class,
                     "matched objects have the same top class by the second models");
  text += share_line("same texts", agreement.same_texts, "texts are equal");
  if (agreement.character_errors.whole > 0)
    text += wrap("characters", fmt::format("character error rate (CER) {} %: an edit distance of {} in the reference's "
                                           "{} characters",
                                           points_text(agreement.character_errors.value()),
                                           agreement.character_errors.part, agreement.character_errors.whole));
  return text;
}

std::string sets_text(const Resampled& sets) {
  if (!sets.interval) return fmt::format("{} resamples are too few for a confidence interval", sets.resamples);
  return fmt::format("95 % interval of {} resamples: {} to {}", sets.resamples, signed_text(sets.interval->low),
                     signed_text(sets.interval->high));
}

ReportText verdict_text(const Validation& validation) {
  const Against& against = *validation.against;
  ReportText text;
  for (const Difference& each : against.differences)
    text += wrap("difference", fmt::format("{} {}: {} points relative to the reference; {}", each.score, each.figure,
                                           signed_text(each.points), sets_text(each.sets)));
  for (const std::string& note : against.notes) text += wrap("note", note);
  text += agreement_text(against.agreement);
  if (against.differences.empty())
    return text + wrap("verdict", fmt::format("FAILS: {} and {} have nothing to compare", validation.models[0].name,
                                              validation.models[1].name));
  std::string verdict = fmt::format(
      "{}: {} is {} by more than {:g} points than {}", against.holds() ? "holds" : "FAILS", validation.models[0].name,
      against.holds() ? "not worse" : "worse", against.tolerance, validation.models[1].name);
  for (const Difference& each : against.differences)
    if (each.holds && each.sets.interval && each.sets.interval->low < -against.tolerance) {
      verdict += "; inconclusive: the interval extends below the tolerance";
      break;
    }
  return text + wrap("verdict", verdict);
}

}  // namespace

ReportText to_text(const Validation& validation) {
  ReportText text = head(validation);
  const std::vector<Score>& scores = validation.models[0].scores;
  for (std::size_t i = 0; i < scores.size(); ++i) text += "\n" + to_text(figures_table(validation, i));
  if (!validation.conditions.empty()) text += "\n" + to_text(conditions_table(validation));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool is_shown = scores[i].name != "class" || validation.models.size() == 2;
    if (is_shown && !scores[i].classes.empty() && scores[i].classes.size() <= kMostClasses)
      text += "\n" + to_text(classes_table(validation, i));
  }
  if (validation.against) text += "\n" + verdict_text(validation);
  return text;
}

}  // namespace saccade
