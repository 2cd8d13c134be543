#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/index.hpp"

// Gather, GatherElements and GatherND with run-time indices, and OneHot, one thread per output. Constant indices are
// handled by codegen/move_code.cpp.
namespace saccade::cuda {
namespace {

int gather_axis(const NodeContext& context) { return axis_of(context.node.attributes, context.input(0).type.shape); }

Support supports_gather(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("Gather") && !node.is("GatherElements") && !node.is("GatherND"))
    return Support::other_operator("not a gather");
  if (context.input(0).type.shape.elements() == 0) return Support::no("its data is empty");
  return {};
}

std::string gather_blocks(ElementCode& code, const Index& at) {
  const NodeContext& context = code.context();
  const Shape& from = context.input(0).type.shape;
  const auto axis = static_cast<std::size_t>(gather_axis(context));
  const auto rank = static_cast<std::size_t>(context.input(1).type.shape.rank());
  const auto first = at.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto behind = first + static_cast<std::ptrdiff_t>(rank);
  Index place(at.begin(), first);
  place.push_back(index_into(code, 1, Index(first, behind), from[static_cast<int>(axis)]));
  place.insert(place.end(), behind, at.end());
  return code.input(0, place);
}

std::string gather_elements(ElementCode& code, const Index& at) {
  const int axis = gather_axis(code.context());
  Index place = at;
  place[static_cast<std::size_t>(axis)] = index_into(code, 1, at, code.context().input(0).type.shape[axis]);
  return code.input(0, place);
}

std::string gather_nd(ElementCode& code, const Index& at) {
  const NodeContext& context = code.context();
  const Shape& from = context.input(0).type.shape;
  const Shape& indices = context.input(1).type.shape;
  const auto batch = static_cast<std::ptrdiff_t>(context.node.attributes.integer("batch_dims", 0));
  Index tuple(at.begin(), at.begin() + indices.rank() - 1);
  Index place(at.begin(), at.begin() + batch);
  tuple.emplace_back();
  for (int i = 0; i < indices.back(); ++i) {
    tuple.back() = std::to_string(i);
    place.push_back(index_into(code, 1, tuple, from[static_cast<int>(batch) + i]));
  }
  place.insert(place.end(), at.begin() + indices.rank() - 1, at.end());
  return code.input(0, place);
}

std::string gathered(ElementCode& code, int /*output*/, const Index& at) {
  if (code.node().is("Gather")) return gather_blocks(code, at);
  return code.node().is("GatherND") ? gather_nd(code, at) : gather_elements(code, at);
}

Support supports_one_hot(const NodeContext& context) {
  if (!context.node.is("OneHot")) return Support::other_operator("not a OneHot");
  return {};
}

std::string one_hot_element(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const Shape& to = context.output().type.shape;
  const auto axis =
      static_cast<std::size_t>(InferContext::axis(context.node.attributes.integer("axis", -1), to.rank()));
  Index place = at;
  place.erase(place.begin() + static_cast<std::ptrdiff_t>(axis));
  // An index out of range selects no element.
  const std::string given = code.let("int64", code.input(0, place));
  return fmt::format("(({0} < 0 ? {0} + {1} : {0}) == {2} ? {3} : {4})", given, to[static_cast<int>(axis)], at[axis],
                     code.input(2, {"1"}), code.input(2, {"0"}));
}

}  // namespace

std::unique_ptr<Tactic> gathers(Device& device) {
  return element_tactic(device, {"gather", supports_gather, gathered});
}

std::unique_ptr<Tactic> one_hot(Device& device) {
  return element_tactic(device, {"one_hot", supports_one_hot, one_hot_element});
}

}  // namespace saccade::cuda
