#include <gtest/gtest.h>

#include "runtime/cpu_backend.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/reference_backend.hpp"
#include "support/faulty_heads.hpp"

// An embedding has the same numbers on every device.
namespace saccade {
namespace {

/// The embedding of 300 numbers of both signs, from BACKEND.
std::vector<float> embedding_on(const Backend& backend, bool normalize) {
  Tensor vector = test::ramp({1, 300});
  for (std::size_t i = 0; i < 300; i += 3) vector.data<float>()[i] = -2 - vector.data<float>()[i];
  test::FaultyHead head{"embed", {}, {{"vector", vector}}, {}};
  if (!normalize) head.set = [](Head& to) { to.normalize = false; };
  const test::FaultyModel model(head, head.outputs);
  return test::take_result(backend, model, [](const Result& result) {
    EXPECT_FALSE(result.invalid());
    return std::vector<float>(result.embedding.begin(), result.embedding.end());
  });
}

void expect_reference_on(const Backend& backend) {
  for (const bool normalize : {false, true}) {
    const std::vector<float> expected = embedding_on(reference_backend(), normalize);
    const std::vector<float> found = embedding_on(backend, normalize);
    ASSERT_EQ(found.size(), 300U);
    double squares = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
      squares += static_cast<double>(found[i]) * found[i];
    }
    if (normalize) {
      EXPECT_NEAR(squares, 1, 1e-5);
    }
  }
}

TEST(CudaEmbedding, IsTheReferencesOnTheDevice) { expect_reference_on(cuda_backend({})); }
TEST(CudaEmbedding, IsTheReferencesOnTheCpu) {
  try {
    cpu_backend();
  } catch (const Error& error) {  // a machine with a GPU may lack the CPU backend's libraries
    GTEST_SKIP() << error.what();
  }
  expect_reference_on(cpu_backend());
}

}  // namespace
}  // namespace saccade
