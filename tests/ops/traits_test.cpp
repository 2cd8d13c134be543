#include "ops/core/traits.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "op_case/op_samples.hpp"
#include "tensor/numbers.hpp"

// Proves the operators' traits on their reference kernels. A claim without a call that exercises it is a failure, and
// so is an element-wise operator without that trait.
namespace saccade {
namespace {

using samples::alike_samples;
using samples::converted;
using samples::key_of;
using samples::kPoison;
using samples::numbered;
using samples::op_samples;
using samples::other_sizes;
using samples::permuted;
using samples::permuted_sample;
using samples::run_poisoned;
using samples::sample_of;
using Perm = std::vector<std::int64_t>;

/// Runs CHECK on each operator with such traits, with its name in failure messages.
void each_op(const std::function<bool(const OpTraits&)>& holds, const std::function<void(const Op&)>& check) {
  int count = 0;
  for (const Op* op : all_ops()) {
    if (!holds(op->traits)) continue;
    SCOPED_TRACE(key_of(*op));
    ++count;
    try {
      check(*op);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(count, 0);
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

bool same_bytes(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return same_bytes(x, y); });
}

std::size_t element_bytes(const Tensor& tensor) { return tensor.bytes() / static_cast<std::size_t>(tensor.elements()); }

/// The elements of a vector in another order.
Tensor shuffled(const Tensor& tensor, const std::vector<std::size_t>& order) {
  Tensor result(tensor.dtype(), tensor.shape());
  const std::size_t size = element_bytes(tensor);
  for (std::size_t i = 0; i < order.size(); ++i)
    std::memcpy(result.raw() + i * size, tensor.raw() + order[i] * size, size);
  return result;
}

std::vector<std::size_t> an_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = (7 * i + 5) % count;
  return order;
}

/// Replaces an element: a float becomes greater than all others, so that anything that reads all elements notices.
void change(Tensor& tensor, std::size_t element) {
  tensor = tensor.clone();  // copies share their elements
  if (tensor.dtype() == DType::kFloat32) {
    tensor.data<float>()[element] = 1000;
    return;
  }
  const std::size_t size = element_bytes(tensor);
  const std::size_t donor = (element + 1) % static_cast<std::size_t>(tensor.elements());
  std::memcpy(tensor.raw() + element * size, tensor.raw() + donor * size, size);
}

/// Whether each output element of CALL, whose operands are vectors, depends on the elements at its position only.
bool works_by_element(const OpCall& call, std::size_t operands) {
  const Tensor before = call.one();
  const auto count = static_cast<std::size_t>(call.inputs[0].elements());
  if (before.elements() != call.inputs[0].elements()) return false;
  OpCall moved = call;
  for (std::size_t i = 0; i < operands; ++i) moved.inputs[i] = shuffled(call.inputs[i], an_order(count));
  if (!same_bytes(moved.one(), shuffled(before, an_order(count)))) return false;
  OpCall changed = call;
  for (std::size_t i = 0; i < operands; ++i) change(changed.inputs[i], 3);
  const Tensor after = changed.one();
  const std::size_t size = element_bytes(before);
  for (std::size_t i = 0; i < count; ++i)
    if (i != 3 && std::memcmp(before.raw() + i * size, after.raw() + i * size, size) != 0) return false;
  return true;
}

TEST(Traits, ElementwiseOperatorsCommuteWithAnyOrder) {
  each_op([](const OpTraits& traits) { return traits.is_elementwise(); },
          [](const Op& op) {
            const auto call = sample_of(op, {12});
            ASSERT_TRUE(call) << "nothing that it takes";
            const bool unary = op.traits.elementwise == Elementwise::kUnary;
            EXPECT_TRUE(works_by_element(*call, unary ? 1 : call->inputs.size()));
          });
}

TEST(Traits, NoOperatorIsElementwiseUnsaid) {
  const auto others = [](const OpTraits& traits) {
    return !traits.is_elementwise() && !traits.identity_when_alike && !traits.is_variadic() && traits.arity.least == 1;
  };
  each_op(others, [](const Op& op) {
    const auto works = [&](const Shape& shape) {
      const OpCall call{.op = std::string(op.name), .inputs = {numbered(shape)}, .domain = std::string(op.domain)};
      try {
        return call.one().shape() == shape && works_by_element(call, 1);
      } catch (const Error&) {
        return false;  // not an input that the operator accepts
      }
    };
    EXPECT_FALSE(works({12}) && works({3, 4}));
  });
}

TEST(Traits, MovementsGiveTheirInputsElementsWhateverTheirType) {
  each_op([](const OpTraits& traits) { return traits.movement != Movement::kNone; },
          [](const Op& op) {
            const auto found = op_samples().find(key_of(op));
            ASSERT_TRUE(found != op_samples().end()) << "no call in op_samples.cpp";
            if (op.traits.rows[0].by == RowCount::By::kInput) return;  // rows behind the count are unspecified
            OpCall call = found->second;
            const std::size_t first = op.traits.movement == Movement::kSelect ? 1 : 0;
            const std::size_t end = op.traits.is_variadic() || first == 1 ? call.inputs.size() : 1;
            const std::vector<Tensor> wanted = call.run();
            std::vector<double> given;
            for (std::size_t i = first; i < end; ++i) {
              const std::vector<double> numbers = numbers_of(call.inputs[i]).value();
              given.insert(given.end(), numbers.begin(), numbers.end());
            }
            for (const Tensor& output : wanted) {
              const std::vector<double> numbers = numbers_of(output).value();
              for (const double number : numbers) EXPECT_TRUE(std::ranges::count(given, number)) << number;
            }
            for (DType dtype : {DType::kFloat16, DType::kFloat64, DType::kInt8, DType::kUInt8, DType::kInt64}) {
              for (std::size_t i = first; i < end; ++i) call.inputs[i] = converted(found->second.inputs[i], dtype);
              const std::vector<Tensor> moved = call.run();
              for (std::size_t i = 0; i < moved.size(); ++i) {
                EXPECT_EQ(moved[i].dtype(), dtype);
                EXPECT_EQ(numbers_of(moved[i]), numbers_of(wanted[i])) << to_string(dtype);
              }
            }
          });
}

TEST(Traits, ViewsHaveTheirInputsBytes) {
  each_op([](const OpTraits& traits) { return traits.is_view(); },
          [](const Op& op) {
            const OpCall& call = op_samples().at(key_of(op));
            const Tensor output = run_poisoned(call)[0];
            EXPECT_EQ(output.bytes(), call.inputs[0].bytes());
            // Ignoring rows that are not counted.
            const bool counted = op.traits.rows[0].by != RowCount::By::kNothing;
            const std::size_t bytes =
                counted ? output.bytes() / static_cast<std::size_t>(output.shape()[0]) : output.bytes();
            EXPECT_EQ(std::memcmp(output.raw(), call.inputs[0].raw(), bytes), 0);
          });
}

TEST(Traits, OperatorsThatAreTheIdentityWhereTypesAreAlike) {
  each_op([](const OpTraits& traits) { return traits.identity_when_alike; },
          [](const Op& op) {
            const auto call = alike_samples().find(key_of(op));
            ASSERT_TRUE(call != alike_samples().end()) << "no call in op_samples.cpp";
            EXPECT_TRUE(same_bytes(call->second.one(), call->second.inputs[0]));
          });
}

TEST(Traits, VariadicOperatorsHandASingleOperandOn) {
  const auto combines = [](const OpTraits& traits) {
    return traits.is_variadic() && (traits.is_elementwise() || traits.movement != Movement::kNone);
  };
  each_op(combines, [](const Op& op) {
    const OpCall call{.op = std::string(op.name),
                      .inputs = {numbered({2, 3})},
                      .attributes = {{"axis", std::int64_t{1}}},
                      .domain = std::string(op.domain)};
    EXPECT_TRUE(same_bytes(call.one(), call.inputs[0]));
  });
}

TEST(Traits, LayoutAgnosticOperatorsCommuteWithPermutedAxes) {
  each_op([](const OpTraits& traits) { return traits.layout_agnostic; },
          [](const Op& op) {
            for (const Perm& perm : {Perm{2, 0, 1}, Perm{0, 2, 1}, Perm{1, 0, 2}}) {
              const auto plain = op.traits.is_elementwise() ? sample_of(op, {2, 3, 4}) : permuted_sample(op, {0, 1, 2});
              ASSERT_TRUE(plain) << "no call in op_samples.cpp";
              OpCall call = *plain;
              if (op.traits.is_elementwise())
                for (Tensor& input : call.inputs) input = permuted(input, perm);
              else
                call = *permuted_sample(op, perm);
              EXPECT_TRUE(same_bytes(call.run()[0], permuted(plain->run()[0], perm)));
            }
          });
}

TEST(Traits, FloatInputsMayAllBeHalfPrecision) {
  each_op([](const OpTraits& traits) { return traits.float_inputs > 0; },
          [](const Op& op) {
            const auto found = sample_of(op);
            ASSERT_TRUE(found) << "no call in op_samples.cpp";
            for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
              OpCall wide = *found;
              OpCall half = *found;
              for (std::size_t i = 0; i < wide.inputs.size() && std::cmp_less(i, op.traits.float_inputs); ++i) {
                if (wide.inputs[i].empty() || wide.inputs[i].dtype() != DType::kFloat32) continue;
                half.inputs[i] = converted(wide.inputs[i], dtype);
                wide.inputs[i] = converted(half.inputs[i], DType::kFloat32);
              }
              const Tensor output = run_poisoned(half)[0];
              EXPECT_EQ(output.dtype(), dtype);
              const std::vector<double> got = *numbers_of(output);
              const std::vector<double> wanted = *numbers_of(run_poisoned(wide)[0]);
              ASSERT_EQ(got.size(), wanted.size());
              for (std::size_t i = 0; i < got.size() && op.traits.rows[0].by == RowCount::By::kNothing; ++i)
                EXPECT_TRUE(std::abs(got[i] - wanted[i]) <= 0.01 * std::max(8.0, std::abs(wanted[i])) ||
                            (std::isnan(got[i]) && std::isnan(wanted[i])))
                    << got[i] << " is not " << wanted[i] << " in " << to_string(dtype);
            }
          });
}

TEST(Traits, NamedTypesAreNotTheFirstInputs) {
  each_op([](const OpTraits& traits) { return traits.names_type && traits.arity.most > 0; },
          [](const Op& op) {
            auto call = sample_of(op);
            ASSERT_TRUE(call) << "no call in op_samples.cpp";
            if (op.name == "CastLike") call->inputs[1] = Tensor::of<std::int32_t>({}, {1});
            EXPECT_NE(call->one().dtype(), call->inputs[0].dtype());
          });
}

TEST(Traits, RandomOperatorsAreRefused) {
  each_op([](const OpTraits& traits) { return traits.random; },
          [](const Op& op) {
            OpCall call{.op = std::string(op.name)};
            if (op.traits.arity.least == 1) call.inputs = {numbered({2})};
            EXPECT_NE(call.error().second.find("random"), std::string::npos);
          });
}

/// Whether there is an element of the first input that does not affect the outputs.
bool leaves_out_an_element(const OpCall& call) {
  const std::vector<Tensor> before = run_poisoned(call);
  for (std::size_t i = 0; std::cmp_less(i, call.inputs[0].elements()); ++i) {
    OpCall changed = call;
    change(changed.inputs[0], i);
    if (!same_bytes(changed.inputs[0], call.inputs[0]) && same_bytes(run_poisoned(changed), before)) return true;
  }
  return false;
}

TEST(Traits, IndexedAndCountedInputsAreReadInPart) {
  const auto reads_part = [](const OpTraits& traits) {
    return traits.reads == Reads::kIndexed || traits.reads == Reads::kCounted;
  };
  each_op(reads_part, [](const Op& op) {
    const auto call = sample_of(op);
    ASSERT_TRUE(call) << "no call in op_samples.cpp";
    EXPECT_TRUE(leaves_out_an_element(*call));
  });
}

TEST(Traits, ShapesAreKnownWithoutContents) {
  each_op([](const OpTraits& traits) { return traits.reads == Reads::kShape; },
          [](const Op& op) {
            auto call = sample_of(op);
            ASSERT_TRUE(call) << "no call in op_samples.cpp";
            const std::vector<Tensor> before = run_poisoned(*call);
            call->inputs[0] = numbered(call->inputs[0].shape(), DType::kFloat32, 50);
            EXPECT_TRUE(same_bytes(run_poisoned(*call), before));
          });
}

/// Whether row I of the tensor still has the poison of run_poisoned().
bool is_untouched(const Tensor& tensor, std::int64_t row) {
  const std::size_t bytes = tensor.bytes() / static_cast<std::size_t>(tensor.shape()[0]);
  const auto* begin = tensor.raw() + static_cast<std::size_t>(row) * bytes;
  return std::all_of(begin, begin + bytes, [](std::byte byte) { return byte == std::byte{kPoison}; });
}

TEST(Traits, RowsPastTheirCountAreNotWritten) {
  const auto counts = [](const OpTraits& traits) {
    return traits.rows[0].by == RowCount::By::kInput || traits.rows[0].by == RowCount::By::kOutput;
  };
  each_op(counts, [](const Op& op) {
    const auto call = sample_of(op);
    ASSERT_TRUE(call) << "no call in op_samples.cpp";
    const std::vector<Tensor> outputs = run_poisoned(*call);
    for (std::size_t i = 0; i < op.traits.rows.size(); ++i) {
      const auto [by, index] = op.traits.rows[i];
      if (by == RowCount::By::kNothing) continue;
      const auto at = static_cast<std::size_t>(index);
      const std::int64_t count = (by == RowCount::By::kInput ? call->inputs : outputs)[at].data<std::int32_t>()[0];
      ASSERT_GT(count, 0);
      ASSERT_LT(count, outputs[i].shape()[0]);
      for (std::int64_t row = 0; row < outputs[i].shape()[0]; ++row)
        EXPECT_EQ(is_untouched(outputs[i], row), row >= count) << "output " << i << ", row " << row;
    }
  });
}

TEST(Traits, SizesThatTheDataCountFollowIt) {
  each_op([](const OpTraits& traits) { return traits.rows[0].by == RowCount::By::kData; },
          [](const Op& op) {
            ASSERT_TRUE(op_samples().contains(key_of(op))) << "no call in op_samples.cpp";
            EXPECT_NE(op_samples().at(key_of(op)).one().shape(), other_sizes().at(key_of(op)).one().shape());
          });
}

/// Calls the shape rule itself, without the arity check before it.
bool rule_takes(const Op& op, const OpCall& call, std::size_t inputs) {
  Node node{.domain = call.domain, .op = call.op};
  for (const auto& [name, value] : call.attributes) node.attributes.set(name, value);
  for (int i = 0; i < call.outputs; ++i) node.outputs.push_back(static_cast<ValueId>(i));
  std::vector<TensorType> types;
  for (const Tensor& input : call.inputs) types.push_back({input.dtype(), input.shape()});
  std::vector<const TensorType*> given;
  for (std::size_t i = 0; i < inputs; ++i) given.push_back(call.inputs[i].empty() ? nullptr : &types[i]);
  node.inputs.resize(inputs);
  const auto known = [&](int i) { return &call.inputs[static_cast<std::size_t>(i)]; };
  try {
    InferContext context(node, given, known, [](double) { return true; });
    op.infer(context);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Traits, ArityIsWhatTheShapeRuleTakes) {
  each_op([](const OpTraits& traits) { return !traits.random; },
          [](const Op& op) {
            EXPECT_LE(op.traits.arity.least, op.traits.arity.most);
            const auto call = sample_of(op);
            if (!call) return;
            const auto least = static_cast<std::size_t>(op.traits.arity.least);
            ASSERT_GE(call->inputs.size(), least);
            EXPECT_TRUE(rule_takes(op, *call, call->inputs.size()));
            if (least > 0) {
              EXPECT_FALSE(rule_takes(op, *call, least - 1)) << "it can do with fewer";
            }
            if (op.traits.is_variadic()) return;
            OpCall many = *call;
            while (std::cmp_less_equal(many.inputs.size(), op.traits.arity.most + op.traits.arity.fused))
              many.inputs.push_back(Tensor::scalar(1.0F));
            EXPECT_NE(many.error().second.find("at most"), std::string::npos);
          });
}

TEST(Traits, WhatMovesCostsNoArithmetic) {
  each_op([](const OpTraits& traits) { return traits.movement != Movement::kNone; },
          [](const Op& op) { EXPECT_EQ(op.traits.cost.per, CostPer::kNothing); });
  each_op([](const OpTraits& traits) { return traits.cost.slow; },
          [](const Op& op) { EXPECT_TRUE(op.traits.is_elementwise()); });
}

TEST(Traits, OfAnUnknownOperatorDeclareNothing) {
  const OpTraits& traits = traits_of(Node{.domain = "elsewhere", .op = "Relu"});
  EXPECT_FALSE(traits.is_elementwise() || traits.is_view() || traits.layout_agnostic || traits.float_inputs != 0);
}

}  // namespace
}  // namespace saccade
