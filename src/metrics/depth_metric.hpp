#pragma once

#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// How far depths lie off, of one image or as the mean over several.
struct DepthScores {
  double abs_rel = -1;  ///< mean of |depth - truth| / truth; -1, as all others: no pixel counts
  double rmse = -1;     ///< root of the mean of (depth - truth)^2, in the truth's unit
  double delta1 = -1;   ///< share of the pixels where depth / truth and truth / depth are below 1.25
};

/// Brings depths of no unit to the truth's, image by image, by the scale and shift of the least squares (Ranftl et
/// al., 2020): a relative depth to the truth itself, an inverse one to 1 / truth, where what comes out above zero is
/// turned around, and the rest is as far as the farthest truth. A metric depth stays. FOUND becomes the depth in the
/// truth's unit. Pixels whose truth is not above 0 or not finite do not count, nor do those where FOUND is not
/// finite.
void align_depth(DepthKind kind, std::span<const float> truth, std::span<float> found);

/// The errors of depths in the truth's unit. Pixels as above, but for delta1, which counts all whose truth does: a
/// depth that is not finite, or not above 0, misses it.
DepthScores depth_scores(std::span<const float> truth, std::span<const float> found);

/// The mean of each figure over the images that have it. Image i counts TIMES[i] times; each once where that is
/// empty.
DepthScores mean(std::span<const DepthScores> pictures, std::span<const int> times = {});

}  // namespace saccade
