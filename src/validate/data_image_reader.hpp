#pragma once

#include <memory>
#include <vector>

#include "media/frame_reader.hpp"
#include "validate/condition.hpp"
#include "validate/data/data_image.hpp"

namespace saccade {

/// IMAGES as frames in order, degraded by CONDITION if there is one. An image that cannot be read or degraded, or
/// that has another size than declared, ends the reader (kLost) with its name, because metrics over the others would
/// belong to another data set. Frames of a video have its timestamps. NAME is the data set's. All arguments outlive the
/// reader.
std::unique_ptr<FrameReader> open_data_images(const std::string& name, std::vector<DataImage> images,
                                              const Condition* condition);

}  // namespace saccade
