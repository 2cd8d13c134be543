#pragma once

#include <string_view>
#include <vector>

namespace saccade {

/// One NAME=VALUE of a URI.
struct UriOption {
  std::string_view name;
  std::string_view value;
};

/// The options of "NAME=VALUE&NAME=VALUE", in their order; empty: none. Throws Error (kInvalidArgument), which begins
/// with SOURCE and ends with HELP, if one is not NAME=VALUE or given twice.
std::vector<UriOption> split_uri_options(std::string_view text, std::string_view source, std::string_view help);

}  // namespace saccade
