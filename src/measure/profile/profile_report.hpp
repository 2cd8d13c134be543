#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/report_text.hpp"
#include "measure/profile/profile.hpp"
#include "measure/report/page.hpp"

namespace saccade {

struct TextOptions {
  std::size_t launches = 15;  ///< number of launches, longest first
  bool is_utf8 = true;        ///< bars of block characters
};

/// PROFILE for a terminal, in 80 columns if names allow.
ReportText to_text(const Profile& profile, const TextOptions& options);
/// All but the trace; times in milliseconds, launches in the order of the plan.
nlohmann::ordered_json to_json(const Profile& profile);
/// The complete report with charts.
Page to_page(const Profile& profile, std::size_t launches);

}  // namespace saccade
