#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/report_text.hpp"
#include "measure/profile/profile.hpp"
#include "measure/report/page.hpp"

namespace saccade {

struct TextOptions {
  std::size_t launches = 15;  ///< the longest ones
  bool is_utf8 = true;        ///< how the histogram is drawn
};

/// PROFILE for a terminal, 80 columns where names allow.
ReportText to_text(const Profile& profile, const TextOptions& options);
/// All of it but the trace; times in milliseconds, launches in the order of the plan.
nlohmann::ordered_json to_json(const Profile& profile);
/// All of it for people, with charts.
Page to_page(const Profile& profile, std::size_t launches);

}  // namespace saccade
