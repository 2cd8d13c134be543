#include "write_card.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <saccade/error.hpp>
#include <saccade/printable.hpp>

#include "base/output_file.hpp"

namespace saccade::app {

void check_card_output(const std::string& path) {
  std::error_code unknown;  // writing reports the error
  if (std::filesystem::exists(path, unknown))
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} already exists; name another file", path));
}

void write_card(const std::string& path, const Card& card) {
  check_card_output(path);
  OutputFile file(path);
  // A comment ends with its line: names in it are escaped.
  file.write(fmt::format("# by {}\n", printable(card.origin)));
  for (const std::string& assumption : card.assumptions)
    file.write(fmt::format("# assumed: {}\n", printable(assumption)));
  file.write(to_toml(card));
  file.close();
}

}  // namespace saccade::app
