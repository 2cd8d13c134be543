#include "base/uri_options.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {

std::vector<UriOption> split_uri_options(std::string_view text, std::string_view source, std::string_view help) {
  std::vector<UriOption> options;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t at = item.find('=');
    if (at == std::string_view::npos)
      fail(ErrorCode::kInvalidArgument, "{}: '{}' is not NAME=VALUE; {}", source, item, help);
    const std::string_view name = item.substr(0, at);
    if (std::ranges::find(options, name, &UriOption::name) != options.end())
      fail(ErrorCode::kInvalidArgument, "{}: the option '{}' is given twice", source, name);
    options.push_back({name, item.substr(at + 1)});
  }
  return options;
}

}  // namespace saccade
