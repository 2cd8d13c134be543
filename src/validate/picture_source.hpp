#pragma once

#include <memory>
#include <vector>

#include "media/source.hpp"
#include "validate/condition.hpp"
#include "validate/data/picture.hpp"

namespace saccade {

/// PICTURES as frames in their order, each made worse by CONDITION where there is one. One that can't be read, or
/// made worse, or whose size is not what the data set says, ends the source (kLost) naming it: figures over the others
/// would be another set's. NAME is the data set's; all outlive the source.
std::unique_ptr<Source> open_pictures(const std::string& name, std::vector<DataPicture> pictures,
                                      const Condition* condition);

}  // namespace saccade
