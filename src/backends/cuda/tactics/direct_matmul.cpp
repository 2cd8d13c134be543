#include <algorithm>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/layers/matmul_shape.hpp"

// MatMul and Gemm, one thread per output: the fallback of the faster tactics.
namespace saccade::cuda {
namespace {

Support supports_product(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("MatMul") && !node.is("Gemm")) return Support::other_operator("not a MatMul or Gemm");
  if (is_integer(context.input(0).type.dtype) && node.is("Gemm") &&
      (node.attributes.real("alpha", 1) != 1 || node.attributes.real("beta", 1) != 1))
    return Support::no("it scales integers");
  return {};
}

/// Declares the dot product of LEFT(k) and RIGHT(k) over K.
template <typename Left, typename Right>
std::string dot_product(ElementCode& code, std::int64_t k, const Left& left, const Right& right) {
  // Integers wrap around.
  const DType dtype = code.context().input(0).type.dtype;
  const std::string type(is_float(dtype) ? compute_name(dtype) : "uint64");
  std::string sum = declare(code, type, "0");
  Braces braces(code);
  const std::string at = braces.loop(k);
  code.line(fmt::format("{0} += {1}({2}) * {1}({3});", sum, type, code.input(0, left(at)), code.input(1, right(at))));
  return sum;
}

/// Batch index of an operand for output AT, with broadcasting.
Index batch_of(const Index& at, std::size_t batches, const Shape& operand) {
  Index index;
  const int own = std::max(operand.rank() - 2, 0);
  for (int i = 0; i < own; ++i)
    index.push_back(operand[i] == 1 ? "0" : at[batches - static_cast<std::size_t>(own - i)]);
  return index;
}

std::string matmul(ElementCode& code, const Index& at) {
  const NodeContext& context = code.context();
  const Shape& left = context.input(0).type.shape;
  const Shape& right = context.input(1).type.shape;
  const MatMulShape shape(left, right);
  const std::size_t batches = at.size() - (left.rank() > 1 ? 1 : 0) - (right.rank() > 1 ? 1 : 0);
  const std::string row = left.rank() > 1 ? at[batches] : "0";
  const std::string column = right.rank() > 1 ? at.back() : "0";
  const std::string sum = dot_product(
      code, shape.k,
      [&](const std::string& k) {
        Index index = batch_of(at, batches, left);
        if (left.rank() > 1) index.push_back(row);
        index.push_back(k);
        return index;
      },
      [&](const std::string& k) {
        Index index = batch_of(at, batches, right);
        index.push_back(k);
        if (right.rank() > 1) index.push_back(column);
        return index;
      });
  return context.has(2) ? sum + " + " + code.input(2, {column}) : sum;
}

std::string gemm(ElementCode& code, const Index& at) {
  const NodeContext& context = code.context();
  const Attributes& attributes = context.node.attributes;
  const bool left_transposed = attributes.integer("transA", 0) != 0;
  const bool right_transposed = attributes.integer("transB", 0) != 0;
  const DType dtype = context.input(0).type.dtype;
  const std::string sum = dot_product(
      code, context.input(0).type.shape[left_transposed ? 0 : 1],
      [&](const std::string& k) {
        return left_transposed ? Index{k, at[0]} : Index{at[0], k};
      },
      [&](const std::string& k) {
        return right_transposed ? Index{at[1], k} : Index{k, at[1]};
      });
  const auto scaled = [&](const std::string& x, std::string_view by) {
    const float factor = attributes.real(by, 1);
    return factor == 1 ? x : fmt::format("{}({}) * {}", compute_name(dtype), literal(factor), x);
  };
  const std::string product = scaled(sum, "alpha");
  return context.has(2) ? product + " + " + scaled(code.broadcast(2, at), "beta") : product;
}

std::string product(ElementCode& code, int /*output*/, const Index& at) {
  return code.node().is("Gemm") ? gemm(code, at) : matmul(code, at);
}

}  // namespace

std::unique_ptr<Tactic> direct_matmul(Device& device) {
  return element_tactic(device, {"direct.matmul", supports_product, product});
}

}  // namespace saccade::cuda
