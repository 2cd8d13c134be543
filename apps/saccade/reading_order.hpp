#pragma once

#include <saccade/results.hpp>
#include <string_view>
#include <vector>

namespace saccade::app {

/// The texts of the objects in RESULT, row by row from the top of the page, each row from the left. The page may be
/// rotated by up to 45 degrees. Objects without text are skipped. Valid as long as RESULT.
std::vector<std::string_view> texts_in_reading_order(const Result& result);

}  // namespace saccade::app
