#include "serve/json_request.hpp"

#include <nlohmann/json.hpp>

#include "serve/signature.hpp"

namespace saccade::serve {

using nlohmann::json;

json parse_object(std::string_view text) {
  // Deeper than any request is.
  static constexpr int kDeepest = 32;
  const auto check_depth = [](int depth, json::parse_event_t /*event*/, json& /*parsed*/) {
    if (depth > kDeepest) refuse("the JSON is nested deeper than {} levels", kDeepest);
    return true;
  };
  try {
    json parsed = json::parse(text, check_depth);
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
