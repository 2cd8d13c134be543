#include "passes/core/steps.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {

std::string Steps::named(std::string_view name) const { return fmt::format("{}.{}", replaced_.name, name); }

ValueId Steps::add(std::string_view name, Node node) {
  node.name = named(name);
  node.stage = replaced_.stage;
  return patch_.add_node_with_output(std::move(node));
}

ValueId Steps::constant(std::string_view name, Tensor tensor) {
  return patch_.add_constant(named(name), std::move(tensor));
}

ValueId Steps::transpose(std::string_view name, ValueId from, std::vector<std::int64_t> order) {
  Node node{.op = "Transpose", .inputs = {from}};
  node.attributes.set("perm", std::move(order));
  return add(name, std::move(node));
}

ValueId Steps::reshape(std::string_view name, ValueId from, const Shape& shape) {
  Tensor target(DType::kInt64, {shape.rank()});
  std::ranges::copy(shape, target.data<std::int64_t>().begin());
  Node node{.op = "Reshape", .inputs = {from, constant(fmt::format("{}.shape", name), std::move(target))}};
  // With allowzero, a 0 in the target is an empty dimension.
  node.attributes.set("allowzero", std::int64_t{1});
  return add(name, std::move(node));
}

}  // namespace saccade
