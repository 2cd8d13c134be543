#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace saccade {

/// A table of a TOML file. Keys that were not read by the end are unknown. The file's name and table outlive it. A
/// component that includes it links tomlplusplus_headers.
class TomlSection {
 public:
  TomlSection(const std::string& file, std::string name, const toml::table& table)
      : file_(file), name_(std::move(name)), table_(table) {}

  [[noreturn]] void bad(const toml::source_region& at, std::string_view key, const std::string& wanted) const {
    fail(ErrorCode::kInvalidFile, "{}:{}: '{}' {}", file_, at.begin.line, full(key), wanted);
  }
  const toml::node* find(std::string_view key) {
    known_.emplace_back(key);
    return table_.get(key);
  }
  std::optional<std::string> text(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    auto value = node->value_exact<std::string>();
    if (!value) bad(node->source(), key, "must be a string");
    return value;
  }
  /// A number from LEAST to MOST. WHAT describes it in errors: "a time in seconds".
  std::optional<double> number(std::string_view key, std::string_view what, double least, double most) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    const std::optional<double> value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !(*value >= least && *value <= most))
      bad(node->source(), key, fmt::format("must be {} from {} to {}", what, least, most));
    return value;
  }
  std::optional<int> count(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    const std::int64_t value = node->value_exact<std::int64_t>().value_or(0);
    if (value < 1 || value > 4096) bad(node->source(), key, "must be an integer from 1 to 4096");
    return static_cast<int>(value);
  }
  std::optional<bool> flag(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<bool>();
    if (!value) bad(node->source(), key, "must be true or false");
    return value;
  }
  std::optional<TomlSection> section(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_table()) bad(node->source(), key, "must be a table");
    return TomlSection(file_, full(key), *node->as_table());
  }
  /// The tables of [[KEY]].
  std::vector<TomlSection> sections(std::string_view key) {
    std::vector<TomlSection> found;
    const toml::node* node = find(key);
    if (node == nullptr) return found;
    if (!node->is_array_of_tables()) bad(node->source(), key, fmt::format("must be tables: [[{}]]", key));
    for (const toml::node& entry : *node->as_array()) found.emplace_back(file_, std::string(key), *entry.as_table());
    return found;
  }
  /// The tables of [KEY.NAME], by NAME.
  std::vector<std::pair<std::string, TomlSection>> named_sections(std::string_view key) {
    std::vector<std::pair<std::string, TomlSection>> found;
    const std::optional<TomlSection> all = section(key);
    if (!all) return found;
    for (const auto& [name, node] : all->table_) {
      if (!node.is_table()) all->bad(name.source(), name.str(), "must be a table");
      found.emplace_back(name.str(), TomlSection(file_, all->full(name.str()), *node.as_table()));
    }
    return found;
  }
  const toml::source_region& source() const { return table_.source(); }
  /// Rejects unknown keys.
  void end() const {
    for (const auto& [key, node] : table_)
      if (std::ranges::find(known_, key.str()) == known_.end())
        bad(key.source(), key.str(), fmt::format("is not known; the keys are {}", fmt::join(known_, ", ")));
  }

 private:
  std::string full(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  }

  const std::string& file_;
  std::string name_;
  const toml::table& table_;
  std::vector<std::string> known_;
};

/// The contents of the TOML file at PATH, a WHAT ("device file") of at most a megabyte. Throws Error naming the line.
inline toml::table read_toml(const std::string& path, std::string_view what) {
  try {
    return toml::parse(read_input(path, 1 << 20), path);
  } catch (const toml::parse_error& error) {
    fail(ErrorCode::kInvalidFile, "the {} {}:{} can't be read: {}", what, path, error.source().begin.line,
         error.description());
  }
}

}  // namespace saccade
