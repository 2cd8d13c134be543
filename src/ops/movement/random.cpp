#include "ops/core/op.hpp"

// Operators that draw random numbers. They are listed so that a model with one is refused with the reason.
namespace saccade {
namespace {

void refuse(InferContext&) {
  fail(ErrorCode::kUnsupported,
       "it generates random numbers, but a model must be deterministic; export it for inference");
}

/// Unreachable: the shape rule refuses such a node.
void never(const KernelContext& context) { fail(ErrorCode::kInternal, "{} has no kernel", context.node().op); }

constexpr Op kRandomOps[] = {
    {"", "Bernoulli", refuse, never, {.random = true}},
    {"", "Multinomial", refuse, never, {.random = true}},
    {"", "RandomNormal", refuse, never, {.arity = {0, 0}, .random = true}},
    {"", "RandomNormalLike", refuse, never, {.random = true}},
    {"", "RandomUniform", refuse, never, {.arity = {0, 0}, .random = true}},
    {"", "RandomUniformLike", refuse, never, {.random = true}},
};

}  // namespace

std::span<const Op> random_ops() { return kRandomOps; }

}  // namespace saccade
