#include <fmt/format.h>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/tactics.hpp"

// Post-processing operators with one thread per output element: saccade.MapPoints, MapClasses, SummarizeRows, BoxMasks
// and TakeObjects. Every float32 operation rounds as in the reference.
namespace saccade::cuda {
namespace {

using Rule = std::string (*)(ElementCode& code, const Index& at);

std::string map_point(ElementCode& code, const Index& at) {
  const auto geometry = [&](int first) { return code.input(1, {fmt::format("{} + {}", first, at[2])}); };
  std::string x = declare(code, "float", code.input(0, at));
  Braces braces(code);
  braces.when(fmt::format("{} < 2 && fabsf({}) < __uint_as_float(0x7F800000u)", at[2], x));
  code.line(fmt::format("{0} = clamp(__fdiv_rn(__fsub_rn({0}, {1}), {2}), 0.0f, {3});", x, geometry(2), geometry(0),
                        geometry(4)));
  return x;
}

std::string map_class(ElementCode& code, const Index& at) {
  const NodeContext& context = code.context();
  const std::int64_t classes = context.input(0).type.shape[1];
  if (classes == 1) {
    const std::string score = code.let("float", code.input(0, {"0", "0", at[0], at[1]}));
    return fmt::format("{0} != {0} ? -1 : {0} > {1} ? 1 : 0", score,
                       literal(context.node.attributes.real("threshold", 0)));
  }
  std::string best = declare(code, "float", "__uint_as_float(0xFF800000u)");
  std::string chosen = declare(code, "int32", "0");
  Braces braces(code);
  const std::string c = braces.loop(classes);
  const std::string score = code.let("float", code.input(0, {"0", c, at[0], at[1]}));
  // A NaN becomes the maximum; nothing exceeds it.
  code.line(fmt::format("if ({0} > {1}) {1} = {0}, {2} = {3};", score, best, chosen, c));
  code.line(fmt::format("if ({0} != {0}) {1} = {0};", score, best));
  return fmt::format("{0} != {0} ? -1 : {1}", best, chosen);
}

/// The five threads of a row all scan it; their reads hit the cache.
std::string summarize_row(ElementCode& code, const Index& at) {
  const std::string least = declare(code, "float", "__uint_as_float(0x7F800000u)");
  const std::string largest = declare(code, "float", "__uint_as_float(0xFF800000u)");
  const std::string sum = declare(code, "double", "0.0");
  const std::string count = declare(code, "double", "0.0");
  const std::string endless = declare(code, "double", "0.0");
  Braces braces(code);
  const std::string x = braces.loop(code.context().input(0).type.shape[1]);
  const std::string value = code.let("float", code.input(0, {at[0], x}));
  code.line(fmt::format("if ({} == __uint_as_float(0x7F800000u)) {} += 1.0;", value, endless));
  code.line(fmt::format("if (fabsf({0}) < __uint_as_float(0x7F800000u))", value));
  code.line(fmt::format("  {1} = {0} < {1} ? {0} : {1}, {2} = {0} > {2} ? {0} : {2},", value, least, largest));
  code.line(fmt::format("  {1} = __dadd_rn({1}, {0}), {2} += 1.0;", value, sum, count));
  const std::string mean = fmt::format("({1} == 0.0 ? 0.0 : {0} / {1})", sum, count);
  return fmt::format("{0} == 0 ? {1} : {0} == 1 ? {2} : __double2float_rn({0} == 2 ? {3} : {0} == 3 ? {4} : {5})",
                     at[1], least, largest, mean, count, endless);
}

/// Exits threads whose object is beyond the count, input I.
void leave_past_count(ElementCode& code, int i, const std::string& object) {
  code.line(fmt::format("if ({} >= {}) return;", object, code.input(i, {"0"})));
}

std::string take_object(ElementCode& code, const Index& at) {
  leave_past_count(code, 2, at[0]);
  const std::int64_t last = code.context().input(0).type.shape[1] - 1;
  const std::string from =
      code.let("int32", fmt::format("clamp({}, 0, {})", code.let("int32", code.input(1, {at[0]})), last));
  Index source{"0", from};
  source.insert(source.end(), at.begin() + 1, at.end());
  return code.input(0, source);
}

/// The grid cell of EDGE, a source pixel, along AXIS of SIZE cells, shifted by MARGIN.
std::string cell_of(ElementCode& code, const std::string& edge, int axis, std::int64_t size, std::int64_t pixels,
                    int margin) {
  const auto geometry = [&](int first) { return code.input(4, {std::to_string(first + axis)}); };
  const float cells_a_pixel = static_cast<float>(size) / static_cast<float>(pixels);
  const std::string at = code.let(
      "float", fmt::format("__fadd_rn(floorf(__fmul_rn(__fadd_rn(__fmul_rn({}, {}), {}), {})), {})", edge, geometry(0),
                           geometry(2), literal(cells_a_pixel), literal(static_cast<float>(margin))));
  return code.let("int32", fmt::format("!({0} > 0.0f) ? 0 : {0} < {1} ? static_cast<int32>({0}) : {2}", at,
                                       literal(static_cast<float>(size)), size));
}

std::string box_mask(ElementCode& code, const Index& at) {
  const NodeContext& context = code.context();
  const Shape& prototypes = context.input(1).type.shape;
  leave_past_count(code, 3, at[0]);
  std::vector<std::string> conditions;
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t size = prototypes[3 - axis];
    const std::int64_t pixels = context.node.attributes.integer(axis == 0 ? "width" : "height", 0);
    const auto edge = [&](int corner) { return code.input(2, {at[0], std::to_string(2 * corner + axis)}); };
    const std::string begin = cell_of(code, edge(0), axis, size, pixels, -1);
    const std::string end = cell_of(code, edge(1), axis, size, pixels, 2);
    conditions.push_back(fmt::format("{0} >= {1} && {0} < {2}", at[static_cast<std::size_t>(2 - axis)], begin, end));
  }
  std::string sum = declare(code, "float", "0.0f");
  Braces braces(code);
  braces.when(conditions[0] + " && " + conditions[1]);
  const std::string k = braces.loop(prototypes[1]);
  code.line(fmt::format("{0} = __fadd_rn({0}, __fmul_rn({1}, {2}));", sum, code.input(0, {at[0], k}),
                        code.input(1, {"0", k, at[1], at[2]})));
  return sum;
}

Rule find_rule(const Node& node) {
  if (node.domain != "saccade") return nullptr;
  if (node.op == "MapPoints") return map_point;
  if (node.op == "MapClasses") return map_class;
  if (node.op == "SummarizeRows") return summarize_row;
  if (node.op == "BoxMasks") return box_mask;
  return node.op == "TakeObjects" ? take_object : nullptr;
}

Support supports_prediction_op(const NodeContext& context) {
  if (find_rule(context.node) == nullptr) return Support::other_operator("not a post-processing operator");
  if (context.node.op == "TakeObjects" && context.input(0).type.shape[1] == 0)
    return Support::no("there are no objects");
  return {};
}

std::string prediction_op(ElementCode& code, int /*output*/, const Index& at) {
  return find_rule(code.node())(code, at);
}

}  // namespace

std::unique_ptr<Tactic> prediction_ops(Device& device) {
  return element_tactic(device, {"predictions", supports_prediction_op, prediction_op});
}

}  // namespace saccade::cuda
