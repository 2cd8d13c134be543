#include <filesystem>

#include "base/module.hpp"
#include "graph/importer.hpp"
#include "passes/rewrite.hpp"

namespace saccade {
namespace {

/// A small trained model of ../shared, since the reference interpreter runs it many times.
class PassesOnAModel : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = SACCADE_SHARED "/models/real/resnet20_cifar10.onnx";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs ../shared/models";
    model_ = module<OnnxModule>("onnx").import_model(path, {});
  }

  PassReport run(const PassNames& disabled) const {
    Graph graph = model_;
    return run_passes(graph, {.disabled = disabled, .check = true});
  }

  Graph model_;
};

TEST_F(PassesOnAModel, KeepTheResultsTogether) { EXPECT_GT(run({}).patches.size(), 20U); }

TEST_F(PassesOnAModel, KeepTheResultsEachAlone) {
  for (const std::string& name : pass_names()) EXPECT_NO_THROW(run(passes_except({name}))) << name;
}

}  // namespace
}  // namespace saccade
