#pragma once

#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Depth errors of one image, or their mean over several.
struct DepthScores {
  double abs_rel = -1;  ///< mean of |depth - truth| / truth; -1, as in all others: no valid pixel
  double rmse = -1;     ///< root mean square error, in the unit of the ground truth
  double delta1 = -1;   ///< share of pixels with max(depth / truth, truth / depth) < 1.25
};

/// Aligns relative depth to the ground truth, per image, with the scale and shift of a least-squares fit (Ranftl et
/// al., 2020): relative depth is fitted to the truth, inverse depth to 1 / truth. Fitted inverse depths are inverted if
/// they are positive; the others get the greatest depth of the truth. Metric depth is not changed. FOUND becomes the
/// depth in the unit of the truth. Pixels are ignored where the truth is not positive or not finite, or FOUND is not
/// finite.
void align_depth(DepthKind kind, std::span<const float> truth, std::span<float> found);

/// Errors of depths in the unit of the truth. Pixels are ignored as above, except in delta1, where every pixel with
/// valid truth counts: a depth that is not finite or not positive is a miss.
DepthScores depth_scores(std::span<const float> truth, std::span<const float> found);

/// The mean of each metric over the images that have it. Image i has weight TIMES[i], or 1 if TIMES is empty.
DepthScores mean(std::span<const DepthScores> images, std::span<const int> times = {});

}  // namespace saccade
