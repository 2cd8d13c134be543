#include <gtest/gtest.h>

#include <functional>
#include <regex>

#include "runtime/cuda_backend.hpp"
#include "runtime/plan.hpp"
#include "saccade/error.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(CudaBackend, NamesAGpuThatIsNotThere) {
  const std::string message = message_of([] { cuda_backend({.ordinal = 7}); });
  EXPECT_NE(message.find("there is no cuda:7"), std::string::npos) << message;
  EXPECT_NE(message.find("nvidia-smi"), std::string::npos) << message;
}

TEST(CudaBackend, ListsAllNodesThatItCannotRun) {
  test::GraphBuilder b;
  const Graph graph = b.build({b.op("Det", {b.input("x", {3, 3})}), b.op("Det", {b.input("y", {4, 4})})});
  const std::string message = message_of([&] { Plan::compile(graph, cuda_backend({}), {}); });
  EXPECT_NE(message.find("Det0"), std::string::npos) << message;
  EXPECT_NE(message.find("Det1"), std::string::npos) << message;
}

TEST(CudaBackend, NamesTheLibrariesThatItUses) {
  const std::string library = "(cuDNN|cuBLASLt) [0-9]+[.][0-9]+[.][0-9]+";
  const std::string found = cuda_backend({}).libraries();
  EXPECT_TRUE(std::regex_match(found, std::regex(library + "(, " + library + ")?"))) << found;
}

TEST(CudaBackend, KeepsRowsOfGemmsAndNormsContiguous) {
  test::GraphBuilder b;
  const ValueId product = b.op("MatMul", {b.input("x", {1, 5, 8}), b.random({8, 8})});
  const ValueId norm = b.op("LayerNormalization", {product, b.random({8})});
  const Graph graph = b.build({norm});
  const Backend& backend = cuda_backend({});
  for (const NodeId id : graph.order())
    EXPECT_EQ(backend.target().layout_rule(graph, graph.node(id)), LayoutRule::kRowMajor) << graph.node(id).op;
}

}  // namespace
}  // namespace saccade
