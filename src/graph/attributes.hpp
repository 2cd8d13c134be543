#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "saccade/tensor.hpp"

namespace saccade {

class Graph;

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor, std::shared_ptr<const Graph>>;

/// A node's attributes by name. The getters throw Error (kInvalidFile) if an attribute has another type.
class Attributes {
 public:
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  void set(std::string name, Attribute value) { values_.insert_or_assign(std::move(name), std::move(value)); }
  void erase(std::string_view name);

  std::int64_t integer(std::string_view name, std::int64_t otherwise) const { return get(name, otherwise); }
  float real(std::string_view name, float otherwise) const { return get(name, otherwise); }
  std::string text(std::string_view name, std::string otherwise = {}) const { return get(name, std::move(otherwise)); }
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> otherwise = {}) const {
    return get(name, std::move(otherwise));
  }
  std::vector<float> reals(std::string_view name, std::vector<float> otherwise = {}) const {
    return get(name, std::move(otherwise));
  }
  std::vector<std::string> texts(std::string_view name) const { return get(name, std::vector<std::string>{}); }
  /// Null if the attribute is missing.
  const Tensor* tensor(std::string_view name) const;
  std::shared_ptr<const Graph> graph(std::string_view name) const { return get(name, std::shared_ptr<const Graph>{}); }

  /// A pointer to the stored value, or null if the attribute is missing: for kernels, which must not allocate a copy.
  template <typename T>
  const T* find(std::string_view name) const;

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }

 private:
  template <typename T>
  T get(std::string_view name, T otherwise) const;

  std::map<std::string, Attribute, std::less<>> values_;
};

/// "3", "[1, 1]", "'NOTSET'", "float32 64x3x3x3": for printing and comparing.
std::string to_string(const Attribute& attribute);

}  // namespace saccade
