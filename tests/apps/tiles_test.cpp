#include "apps/command_fixture.hpp"
#include "apps/expect_error.hpp"
#include "support/tile_models.hpp"

namespace saccade {
namespace {

using test::run_saccade;

class TileFlags : public test::CommandTest {};

TEST_F(TileFlags, MergeDetectionsInTheFramesPixels) {
  const std::string model = test::write_box_detector(folder_);
  image("images/1.png", 64, 32, 9, 9, 9);
  const auto lines = test::lines_of(run_saccade({"run", model, "--source", folder_ / "images/1.png", "--tiles", "32,0",
                                                 "--no-full-frame", "--jsonl", "-"})
                                        .out);
  ASSERT_EQ(lines.size(), 2U);
  const auto& objects = lines[0].at("detections");
  ASSERT_EQ(objects.size(), 4U) << lines[0];
  EXPECT_EQ(objects[0].at("box"), nlohmann::json({4, 8, 20, 24}));
  EXPECT_EQ(objects[1].at("box"), nlohmann::json({36, 8, 52, 24}));
  EXPECT_EQ(lines[1].at("streams")[0].at("ledger").at("processed"), 1) << "a frame, however many its tiles";
}

TEST_F(TileFlags, RefuseInvalidValues) {
  const std::string model = test::write_box_detector(folder_);
  const auto refused = [&](const std::vector<std::string>& flags, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments = {"run", model, "--source", images()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    test::expect_error(run_saccade(arguments), 2, parts);
  };
  refused({"--tiles", "640,1"}, {"--tiles", "overlap 1 of tiles is not between 0 and 0.9"});
  refused({"--tiles", "8"}, {"--tiles", "tile size 8"});
  refused({"--tiles", "640x640"}, {"--tiles", "'640x640' is not SIZE,OVERLAP"});
  refused({"--tiles", "640,0.2,1"}, {"--tiles"});
  refused({"--tile-merge", "nms"}, {"--tile-merge", "--tiles"});
}

}  // namespace
}  // namespace saccade
