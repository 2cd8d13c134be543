#include "plural.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace saccade::app {
namespace {

using Ending = std::pair<std::string_view, std::string_view>;

// The first that ends a name gives its plural. "person" has two, of which detectors use "persons".
constexpr std::array<Ending, 28> kIrregular = {{
    {"human", "humans"},    {"german", "germans"},  {"man", "men"},           {"child", "children"},
    {"tooth", "teeth"},     {"foot", "feet"},       {"goose", "geese"},       {"mouse", "mice"},
    {"sheep", "sheep"},     {"fish", "fish"},       {"deer", "deer"},         {"moose", "moose"},
    {"bison", "bison"},     {"craft", "craft"},     {"broccoli", "broccoli"}, {"furniture", "furniture"},
    {"lens", "lenses"},     {"knife", "knives"},    {"leaf", "leaves"},       {"loaf", "loaves"},
    {"shelf", "shelves"},   {"wolf", "wolves"},     {"calf", "calves"},       {"scarf", "scarves"},
    {"tomato", "tomatoes"}, {"potato", "potatoes"}, {"series", "series"},     {"species", "species"},
}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return text.ends_with(ending); });
}

bool is_number(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string plural_of(std::string_view name) {
  const std::string same(name);
  if (name.size() < 2 || !is_letter(name.back())) return same;
  for (const auto& [one, several] : kIrregular)
    if (name.ends_with(one)) return same.substr(0, name.size() - one.size()).append(several);
  if (ends_with_any(name, {"ss", "us", "x", "z", "ch", "sh"})) return same + "es";
  if (name.back() == 's') return same;  // "skis", "scissors", "sunglasses"
  const bool is_after_vowel = std::string_view("aeiouAEIOU").find(name[name.size() - 2]) != std::string_view::npos;
  if (name.back() == 'y' && !is_after_vowel) return same.substr(0, name.size() - 1) + "ies";
  return same + "s";
}

std::string shown_class(std::string_view name) { return fmt::format("{}{}", is_number(name) ? "class " : "", name); }

std::string counted(std::int64_t count, std::string_view name) {
  if (is_number(name)) return fmt::format("{} of class {}", count, name);
  return fmt::format("{} {}", count, count == 1 ? std::string(name) : plural_of(name));
}

}  // namespace saccade::app
