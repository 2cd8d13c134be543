#include <gtest/gtest.h>

#include "saccade/npy.hpp"
#include "validate/fixture.hpp"

namespace saccade {
namespace {

using test::expect_error;
using test::figure;
using PixelData = test::ValidateFixture;

TEST_F(PixelData, AMaskThatIsNotTheImagesSizeIsNamed) {
  write_maps();
  test::write_file(folder_, "masks/b.png", test::png_of(4, 4, 8, std::vector<std::uint16_t>(16)));
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "4x4", "images/b.png", "8x8"});
}

TEST_F(PixelData, EvaluatesMapsOfClasses) {
  write_maps();
  const Validation found = run(test::write_color_mapper(models_), "masks");
  // 127 valid pixels: 96 are red, and all are classified as red.
  EXPECT_NEAR(figure(found, "accuracy"), 96.0 / 127, 1e-9);
  EXPECT_NEAR(figure(found, "miou"), (96.0 / 127 + 0) / 2, 1e-9);
  EXPECT_EQ(found.models[0].scores[0].classes[1].name, "green");
}

TEST_F(PixelData, RefusesMasksThatAreNone) {
  write_maps();
  test::write_solid_image(folder_, "masks/b.png", 8, 8);
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "colour image"});
  test::write_file(folder_, "masks/b.png", test::png_of(8, 8, 8, std::vector<std::uint16_t>(64, 3)));
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "class 3", "3 of them"});
  test::write_file(folder_, "masks/b.png", "no image");
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "not a PNG"});
  std::filesystem::remove(folder_ / "masks/b.png");
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"images/b.png", "masks/b.png", "missing"});
  std::filesystem::remove(folder_ / "images/b.png");
  test::write_file(folder_, "masks/c.png", test::png_of(8, 8, 1, std::vector<std::uint16_t>(64, 1)));
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/c.png", "no image"});
}

TEST_F(PixelData, EvaluatesDepthsInMetresAndWithoutAUnit) {
  test::write_solid_image(folder_, "images/a.png", 8, 8, {51, 51, 51});  // 0.2
  Tensor truth(DType::kFloat32, {8, 8});
  std::ranges::fill(truth.data<float>(), 0.26F);
  truth.data<float>()[0] = 0;  // unknown
  std::filesystem::create_directory(folder_ / "depth");
  save_npy(folder_ / "depth/a.npy", truth);
  const Validation metric = run(test::write_brightness_depth(models_), "depth");
  EXPECT_NEAR(figure(metric, "abs_rel"), 0.06 / 0.26, 1e-4);
  EXPECT_NEAR(figure(metric, "rmse"), 0.06, 1e-4);
  EXPECT_EQ(figure(metric, "delta1"), 0);
  const Validation relative = run(test::write_brightness_depth(models_, "relative"), "depth");
  EXPECT_NEAR(figure(relative, "abs_rel"), 0, 1e-4);
  ASSERT_EQ(relative.models[0].notes.size(), 1U);
  EXPECT_NE(relative.models[0].notes[0].find("least-squares"), std::string::npos);
}

TEST_F(PixelData, ReadsDepthsInMillimetres) {
  test::write_solid_image(folder_, "images/a.png", 8, 8, {51, 51, 51});
  test::write_file(folder_, "depth/a.png", test::png_of(8, 8, 16, std::vector<std::uint16_t>(64, 200)));
  EXPECT_NEAR(figure(run(test::write_brightness_depth(models_), "depth"), "delta1"), 1, 1e-9);
  test::write_file(folder_, "depth/a.png", test::png_of(8, 8, 8, std::vector<std::uint16_t>(64, 200)));
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.png", "8 bits"});
  save_npy(folder_ / "depth/a.npy", Tensor(DType::kFloat32, {8, 9}));
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.npy", "depth/a.png", "same"});
  std::filesystem::remove(folder_ / "depth/a.png");
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.npy", "9x8"});
  save_npy(folder_ / "depth/a.npy", Tensor(DType::kInt32, {8, 8}));
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.npy", "int32"});
}

}  // namespace
}  // namespace saccade
