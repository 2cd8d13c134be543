#include "validate/against.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace saccade {
namespace {

constexpr double kPoints = 100;

std::string why_not_comparable(const Score::Truth& ours, const Score::Truth& theirs, const std::string& model,
                               const std::string& reference) {
  if (ours.file != theirs.file)
    return fmt::format("{} is evaluated with {}, {} with {}", model, ours.file, reference, theirs.file);
  return fmt::format("of the classes in {}, {} has {} and {} has {}, which differ", ours.file, model,
                     ours.classes.size(), reference, theirs.classes.size());
}

}  // namespace

bool Against::holds() const { return !differences.empty() && std::ranges::all_of(differences, &Difference::holds); }

Against compare(const Evaluated& model, const Evaluated& reference, std::size_t images, double tolerance,
                const ResampleOptions& resample,
                const std::function<bool(const std::string& score, double share)>& on_progress) {
  Against against{.tolerance = tolerance, .seed = resample.seed};
  for (std::size_t i = 0; i < reference.scores.size(); ++i) {
    const Score& theirs = reference.scores[i];
    const auto ours = std::ranges::find(model.scores, theirs.name, &Score::name);
    const bool is_there = ours != model.scores.end();
    if (is_there && ours->truth != theirs.truth) {
      const std::string why = why_not_comparable(ours->truth, theirs.truth, model.name, reference.name);
      against.notes.push_back(fmt::format("{}: not compared, because {}", theirs.name, why));
      continue;
    }
    if (theirs.headline() < 0) continue;
    double value = 0;
    Headline headline = [](std::span<const int>) { return 0.0; };
    if (is_there && ours->headline() >= 0) {
      value = ours->headline();
      headline = model.headlines[static_cast<std::size_t>(ours - model.scores.begin())];
    } else {
      against.notes.push_back(fmt::format("{}: {} predicts none, which counts as 0", theirs.name, model.name));
    }
    Resampled sets = paired_difference(headline, reference.headlines[i], images, resample,
                                       [&](double share) { return !on_progress || on_progress(theirs.name, share); });
    if (sets.interval) sets.interval = {kPoints * sets.interval->low, kPoints * sets.interval->high};
    Difference difference{.score = theirs.name,
                          .figure = theirs.figures.front().name,
                          .points = kPoints * (value - theirs.headline()),
                          .sets = sets};
    difference.holds = difference.points >= -tolerance;
    against.differences.push_back(std::move(difference));
  }
  return against;
}

}  // namespace saccade
