#include "serve/json_request.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "serve/signature.hpp"

namespace saccade::serve {

using nlohmann::json;

namespace {

/// How deep arrays and objects are nested in TEXT, which need not be valid. The library's parser has a callback for
/// this, with which it takes time proportional to the square of the number of objects in an array.
int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  for (std::size_t at = 0; (at = text.find_first_of("\"[]{}", at)) != std::string_view::npos; ++at) {
    switch (text[at]) {
      case '"':
        do {
          at = text.find_first_of("\"\\", at + 1);
          if (at == std::string_view::npos) return deepest;
        } while (text[at] == '\\' && ++at < text.size());
        break;
      case '[':
      case '{': deepest = std::max(deepest, ++depth); break;
      default: --depth; break;
    }
  }
  return deepest;
}

}  // namespace

json parse_object(std::string_view text) {
  // Deeper than any request is.
  constexpr int kDeepest = 32;
  if (depth_of(text) > kDeepest) refuse("the JSON is nested deeper than {} levels", kDeepest);
  try {
    json parsed = json::parse(text);
    if (!parsed.is_object()) refuse("the JSON is no object");
    return parsed;
  } catch (const json::parse_error& error) {
    refuse("the JSON is not valid at byte {}", error.byte);
  } catch (const json::exception& /*error*/) {
    refuse("the JSON holds a number out of range");
  }
}

const json* member(const json& object, const char* name, bool (json::*is)() const noexcept, const char* kind) {
  const auto found = object.find(name);
  if (found == object.end()) return nullptr;
  if (!((*found).*is)()) refuse("'{}' is no {}", name, kind);
  return &*found;
}

const json* parameter(const json& object, const char* name) {
  const json* parameters = member(object, "parameters", &json::is_object, "object");
  if (parameters == nullptr) return nullptr;
  const auto found = parameters->find(name);
  return found == parameters->end() ? nullptr : &*found;
}

bool flag(const json& object, const char* name, bool otherwise) {
  const json* given = parameter(object, name);
  if (given == nullptr) return otherwise;
  if (!given->is_boolean()) refuse("the parameter '{}' is neither true nor false", name);
  return given->get<bool>();
}

std::optional<std::uint64_t> byte_count(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  if (!found->is_number_unsigned()) refuse("'{}' is {}, which is no number of bytes", name, brief(found->dump()));
  return found->get<std::uint64_t>();
}

}  // namespace saccade::serve
