#pragma once

#include <CLI/CLI.hpp>
#include <saccade/error.hpp>
#include <saccade/log.hpp>
#include <saccade/model.hpp>
#include <string>
#include <vector>

namespace saccade::app {

/// The flags that mean the same in every verb.
struct CommonFlags {
  ModelOptions model;
  bool json = false;

  /// ARE_ANSWERS: the verb looks for boxes and classes, so that the flags about them and cards make sense too.
  /// PRECISIONS: where --precision takes a list, it goes there.
  void add_to(CLI::App& app, bool are_answers, std::vector<std::string>* precisions = nullptr);

 private:
  void add_precision_to(CLI::App& app, std::vector<std::string>* precisions);
  void add_answers_to(CLI::App& app);
};

/// PARSE, with its Error as one of the command line's about FLAG.
template <typename Parse>
auto parsed(const std::string& flag, const Parse& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw CLI::ValidationError(flag, error.what());
  }
}

/// Refuses what is not NAME=VALUE.
CLI::Validator assignment();
/// "NAME=VALUE", as assignment() let it through, in two; NAME may hold '=' itself.
std::pair<std::string, std::string> split_assignment(const std::string& text);

}  // namespace saccade::app
