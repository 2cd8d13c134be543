#include <algorithm>

#include "apps/command_fixture.hpp"
#include "saccade/npy.hpp"

namespace saccade {
namespace {

using test::Finished;
using test::run_saccade;

class InferCommand : public test::CommandTest {};

TEST_F(InferCommand, WritesEveryOutput) {
  Tensor image(DType::kFloat32, {1, 3, 8, 8});
  std::ranges::fill(image.data<float>(), 0.5F);
  save_npy(folder_ / "x.npy", image);
  const std::string model = test::write_box_detector(folder_);
  const Finished finished =
      run_saccade({"infer", model, "--input", "image=" + (folder_ / "x.npy"), "--output", folder_ / "a/b"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Tensor out = load_npy(folder_ / "a/b/detections.npy");
  EXPECT_EQ(out.shape(), (Shape{1, 2, 6}));
  EXPECT_EQ(out.data<float>()[4], 0.9F);
}

TEST_F(InferCommand, DrawsInputsFromTheSeed) {
  const std::string model = test::write_color_classifier(folder_);
  const auto scores = [&](const std::string& seed) {
    EXPECT_EQ(run_saccade({"infer", model, "--output", folder_ / seed, "--seed", seed}).exit_code, 0);
    return load_npy(folder_ / (seed + "/scores.npy")).data<float>()[0];
  };
  const float first = scores("1");
  EXPECT_EQ(scores("1"), first);
  EXPECT_NE(scores("2"), first);
  EXPECT_NEAR(first, 0.5, 0.2);
}

TEST_F(InferCommand, SanitisesNames) {
  onnx_writer::Model model(13);
  model.input("x:0", {2}).output("a/b c:0");
  model.node({.op = "Neg", .inputs = {"x:0"}, .outputs = {"a/b c:0"}});
  model.save(folder_ / "neg.onnx");
  EXPECT_EQ(run_saccade({"infer", folder_ / "neg.onnx", "--output", folder_ / "o"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "o/a_b_c_0.npy"));
}

TEST_F(InferCommand, GivesTheSameWithoutPasses) {
  const std::string model = test::write_box_detector(folder_);
  for (const auto& extra : std::vector<std::vector<std::string>>{
           {"--passes", "none"}, {"--passes", "fold_constants"}, {"--disable-pass", "fold_constants"}}) {
    std::vector<std::string> arguments = {"infer", model, "--output", folder_ / "o"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    ASSERT_EQ(run_saccade(arguments).exit_code, 0);
    EXPECT_EQ(load_npy(folder_ / "o/detections.npy").data<float>()[4], 0.9F);
  }
}

}  // namespace
}  // namespace saccade
