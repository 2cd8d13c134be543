#pragma once

#include <CLI/CLI.hpp>
#include <saccade/error.hpp>
#include <saccade/log.hpp>
#include <saccade/model.hpp>
#include <string>
#include <vector>

namespace saccade::app {

/// The flags that several commands share.
struct CommonFlags {
  ModelOptions model;
  bool json = false;

  /// ARE_ANSWERS: the command decodes predictions, so add the flags of cards and post-processing.
  /// PRECISIONS: receives the values of --precision if it accepts a list.
  void add_to(CLI::App& app, bool are_answers, std::vector<std::string>* precisions = nullptr);

 private:
  void add_precision_to(CLI::App& app, std::vector<std::string>* precisions);
  void add_answers_to(CLI::App& app);
};

/// Calls PARSE and converts its Error into a command-line error about FLAG.
template <typename Parse>
auto parsed(const std::string& flag, const Parse& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw CLI::ValidationError(flag, error.what());
  }
}

/// Accepts NAME=VALUE only.
CLI::Validator assignment();
/// Splits "NAME=VALUE", validated by assignment(); NAME may contain '='.
std::pair<std::string, std::string> split_assignment(const std::string& text);

}  // namespace saccade::app
