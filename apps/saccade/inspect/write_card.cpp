#include "inspect/write_card.hpp"

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

void write_card(const std::string& path, const std::string& text) {
  check_card_output(path);
  OutputFile file(path);
  file.write(text);
  file.close();
}

std::string commented_card(const Card& card) {
  std::string text = fmt::format("# by {}\n", printable(card.origin));
  for (const std::string& assumption : card.assumptions) text += fmt::format("# assumed: {}\n", printable(assumption));
  return text + to_toml(card);
}

}  // namespace saccade::app
