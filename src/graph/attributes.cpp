#include "graph/attributes.hpp"

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "graph/graph.hpp"

namespace saccade {
namespace {

/// "1, 2, 3"; of a long list the beginning and the length, so that messages stay readable.
template <typename T>
std::string list(const std::vector<T>& values) {
  constexpr std::size_t kMost = 32;
  const std::span shown(values.data(), std::min(values.size(), kMost));
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     values.size() > kMost ? fmt::format(", ... {} in all", values.size()) : "");
}

struct Printer {
  std::string operator()(std::int64_t value) const { return fmt::to_string(value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const {
    constexpr std::size_t kMost = 200;
    if (value.size() <= kMost) return "'" + value + "'";
    return fmt::format("'{}...', {} bytes in all", value.substr(0, kMost), value.size());
  }
  std::string operator()(const std::vector<std::int64_t>& values) const { return fmt::format("[{}]", list(values)); }
  std::string operator()(const std::vector<float>& values) const { return fmt::format("[{}]", list(values)); }
  std::string operator()(const std::vector<std::string>& values) const {
    return fmt::format("[{} strings]", values.size());
  }
  std::string operator()(const Tensor& value) const {
    return fmt::format("{} {}", saccade::to_string(value.dtype()), value.shape().to_string());
  }
  /// "{Mul, Add, Sigmoid}".
  std::string operator()(const std::shared_ptr<const Graph>& value) const {
    std::string operators;
    for (NodeId id : value->order()) operators += (operators.empty() ? "" : ", ") + value->node(id).op;
    return "{" + operators + "}";
  }
};

}  // namespace

template <typename T>
const T* Attributes::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return nullptr;
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr)
    fail(ErrorCode::kInvalidFile, "attribute '{}' has the wrong type (its value is {})", name,
         saccade::to_string(found->second));
  return value;
}

template const std::string* Attributes::find(std::string_view) const;
template const std::vector<std::int64_t>* Attributes::find(std::string_view) const;
template const std::vector<float>* Attributes::find(std::string_view) const;

template <typename T>
T Attributes::get(std::string_view name, T otherwise) const {
  const T* value = find<T>(name);
  return value == nullptr ? otherwise : *value;
}

template std::int64_t Attributes::get(std::string_view, std::int64_t) const;
template float Attributes::get(std::string_view, float) const;
template std::string Attributes::get(std::string_view, std::string) const;
template std::vector<std::int64_t> Attributes::get(std::string_view, std::vector<std::int64_t>) const;
template std::vector<float> Attributes::get(std::string_view, std::vector<float>) const;
template std::vector<std::string> Attributes::get(std::string_view, std::vector<std::string>) const;
template std::shared_ptr<const Graph> Attributes::get(std::string_view, std::shared_ptr<const Graph>) const;

void Attributes::erase(std::string_view name) {
  const auto found = values_.find(name);
  if (found != values_.end()) values_.erase(found);
}

const Tensor* Attributes::tensor(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return nullptr;
  const Tensor* value = std::get_if<Tensor>(&found->second);
  if (value == nullptr) fail(ErrorCode::kInvalidFile, "attribute '{}' is not a tensor", name);
  return value;
}

std::string to_string(const Attribute& attribute) { return std::visit(Printer{}, attribute); }

}  // namespace saccade
