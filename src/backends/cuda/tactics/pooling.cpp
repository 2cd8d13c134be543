#include <limits>

#include "cuda/codegen/window_code.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/dispatch.hpp"

// MaxPool (also its indices), AveragePool and LpPool, one thread per output.
namespace saccade::cuda {
namespace {

Support supports_pool(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("MaxPool") && !node.is("AveragePool") && !node.is("LpPool"))
    return Support::other_operator("not a pool");
  return {};
}

/// Result of a window that contains only padding.
std::string lowest(DType dtype) {
  switch (dtype) {
    case DType::kInt8: return "-128";
    case DType::kUInt8: return "0";
    case DType::kFloat64: return "-0x1.fffffffffffffp1023";
    default: return literal(std::numeric_limits<float>::lowest());
  }
}

Shape spatial(const Shape& shape) { return Shape(std::span(shape).subspan(2)); }

/// Converts row-major index PLACE of a plane to column-major.
std::string by_columns(const Window& window, const std::string& place) {
  return fmt::format("{0} / {1} / {2} + {3} * ({0} / {1} % {2} + {2} * ({0} % {1}))", place, window.in[2], window.in[1],
                     window.in[0]);
}

/// Whether some output sees only padding, as dilation and ceil_mode allow.
bool has_empty_windows(const Window& window) {
  const auto taps = taps_of(window);
  for (std::size_t axis = 0; axis < Window::kAxes; ++axis)
    for (std::int64_t out = 0; out < window.out[axis]; ++out) {
      bool is_empty = true;
      for (std::int64_t k = 0; k < window.kernel[axis]; ++k) is_empty = is_empty && taps[axis].of(k)[out] < 0;
      if (is_empty) return true;
    }
  return false;
}

/// The maximum alone, of floats. The chain of dependent instructions through all taps is what takes the time.
std::string max_of_floats(ElementCode& code, const Index& at, const Window& window) {
  const std::string_view type = compute_name(code.context().input(0).type.dtype);
  std::string best = declare(code, type, "-INFINITY");
  {
    Braces braces(code);
    const Tap tap = open_taps(code, braces, window, at);
    code.line(
        fmt::format("{0} = max_nan({0}, {1}({2}));", best, type, code.input(0, place_of(at[0], at[1], tap.input))));
  }
  return best;
}

std::string max_pool(ElementCode& code, int output, const Index& at, const Window& window) {
  const NodeContext& context = code.context();
  if (output == 0 && is_float(context.input(0).type.dtype) && !has_empty_windows(window))
    return max_of_floats(code, at, window);
  const Shape& shape = context.input(0).type.shape;
  const DType dtype = context.input(0).type.dtype;
  std::string best = declare(code, compute_name(dtype), lowest(dtype));
  std::string place = declare(code, "int32", "-1");  // row-major within its plane
  {
    Braces braces(code);
    const Tap tap = open_taps(code, braces, window, at);
    const std::string x = code.let(compute_name(dtype), code.input(0, place_of(at[0], at[1], tap.input)));
    // The first NaN wins.
    const std::string_view nan_wins = is_float(dtype) ? " || ({1} != {1} && {2} == {2})" : "";
    braces.when(fmt::format(fmt::runtime("{0} < 0 || {1} > {2}" + std::string(nan_wins)), place, x, best));
    code.line(fmt::format("{} = {};", best, x));
    code.line(fmt::format("{} = {};", place, offset_of(tap.input, spatial(shape), Layout::kRowMajor)));
  }
  if (output == 0) return best;
  const bool columns = context.node.attributes.integer("storage_order", 0) != 0;
  const std::string plane = code.let("int64", offset_of({at[0], at[1]}, {shape[0], shape[1]}, Layout::kRowMajor));
  return fmt::format("({0} < 0 ? int64(-1) : {1} * {2} + ({3}))", place, plane, window.inputs(),
                     columns ? by_columns(window, place) : place);
}

/// Taps of output AT along an axis, counting explicit padding but not what ceil_mode adds beyond it.
std::string padded_count(const Window& window, std::size_t axis, const std::string& at) {
  return fmt::format("min_nan({}, ({} - {} * {} - 1) / {} + 1)", window.kernel[axis],
                     window.in[axis] + window.pad_end[axis] + window.pad_begin[axis], wrapped(at), window.stride[axis],
                     window.dilation[axis]);
}

std::string average_pool(ElementCode& code, const Index& at, const Window& window) {
  const NodeContext& context = code.context();
  const std::string type(compute_name(context.input(0).type.dtype));
  std::string sum = declare(code, type, "0");
  const std::string seen = declare(code, "int32", "0");
  {
    Braces braces(code);
    const Tap tap = open_taps(code, braces, window, at);
    code.line(fmt::format("{} += {};", sum, code.input(0, place_of(at[0], at[1], tap.input))));
    code.line(fmt::format("++{};", seen));
  }
  std::string count = seen;
  if (context.node.attributes.integer("count_include_pad", 0) != 0) {
    count = "1";
    for (int i = 0; i < window.rank; ++i)
      count += " * " + padded_count(window,
                                    static_cast<std::size_t>(Window::kAxes - window.rank) + static_cast<std::size_t>(i),
                                    at[static_cast<std::size_t>(i) + 2]);
    count = code.let("int32", count);
  }
  return fmt::format("({0} == 0 ? {1}(0) : {2} / {1}({0}))", count, type, sum);
}

std::string lp_pool(ElementCode& code, const Index& at, const Window& window) {
  const NodeContext& context = code.context();
  const std::int64_t p = context.node.attributes.integer("p", 2);
  const std::string type(compute_name(context.input(0).type.dtype));
  std::string sum = declare(code, type, "0");
  {
    Braces braces(code);
    const Tap tap = open_taps(code, braces, window, at);
    const std::string x = code.let(type, code.input(0, place_of(at[0], at[1], tap.input)));
    code.line(fmt::format(fmt::runtime(p == 1   ? "{0} += fabs({1});"
                                       : p == 2 ? "{0} += {1} * {1};"
                                                : "{0} += pow(fabs({1}), {2}({3}));"),
                          sum, x, type, p));
  }
  return fmt::format(fmt::runtime(p == 1 ? "{0}" : p == 2 ? "sqrt({0})" : "pow({0}, 1 / {1}({2}))"), sum, type, p);
}

std::string pool(ElementCode& code, int output, const Index& at) {
  const NodeContext& context = code.context();
  const Attributes& attributes = context.node.attributes;
  const Window window = slide(attributes, context.input(0).type.shape, attributes.integers("kernel_shape"));
  if (context.node.is("MaxPool")) return max_pool(code, output, at, window);
  return context.node.is("LpPool") ? lp_pool(code, at, window) : average_pool(code, at, window);
}

}  // namespace

std::unique_ptr<Tactic> pooling(Device& device) { return element_tactic(device, {"pooling", supports_pool, pool}); }

}  // namespace saccade::cuda
