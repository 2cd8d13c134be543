#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vision/cards/card.hpp"

namespace saccade {

/// The class names of a data set that many models are trained on.
struct KnownLabels {
  std::string_view data_set;  ///< what is assumed: "COCO's 80 classes"
  std::vector<std::string> labels;
};

/// The data set that HEAD was probably trained on, by its task and its number of classes; nullopt: none.
std::optional<KnownLabels> known_labels(const Head& head);

// Names separated by '|'.
extern const std::string_view kImageNetLabels;
extern const std::string_view kOpenImagesLabels;

}  // namespace saccade
