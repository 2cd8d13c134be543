#include "apps/command_fixture.hpp"
#include "apps/expect_error.hpp"

namespace saccade {
namespace {

using test::expect_error;
using test::run_saccade;

class MaxMemoryCommand : public test::CommandTest {};

TEST_F(MaxMemoryCommand, RefusesARunThatDoesNotFit) {
  const std::string model = test::write_box_detector(folder_);
  const auto run = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> command = {"run", model, "--source", "synthetic:?size=640x640&frames=3", "--no-save"};
    command.insert(command.end(), flags.begin(), flags.end());
    return run_saccade(command);
  };
  expect_error(run({"--max-memory", "3M"}), 1,
               {"but its memory is limited to 3.0 MiB: synthetic:?size=640x640&frames=3 (3 frames of 640x640) 3.5 MiB",
                "the model boxes (weights ", "raise the limit with --max-memory SIZE"});
  EXPECT_EQ(run({"--max-memory", "64M"}).exit_code, 0);
  expect_error(run({"--max-memory", "1K"}), 1, {"but the model's limit is 1.0 KiB", "raise it with --max-memory SIZE"});
  expect_error(run({"--max-memory", "1M", "--max-model-memory", "2M"}), 2, {"it is a part of --max-memory"});
}

TEST_F(MaxMemoryCommand, CountsWhatAnIsolatedSourceReadsAhead) {
  const std::string model = test::write_box_detector(folder_);
  const auto run = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> command = {"run",       model,     "--source",     "synthetic:?size=640x640&frames=30",
                                        "--no-save", "--quiet", "--max-memory", "11M"};
    command.insert(command.end(), flags.begin(), flags.end());
    return run_saccade(command);
  };
  EXPECT_EQ(run({}).exit_code, 0);
  expect_error(run({"--isolate"}), 1, {"(11 frames of 640x640) 12.9 MiB"});
  expect_error(run({"--isolate", "--loop"}), 1, {"(11 frames of 640x640) 12.9 MiB"});
  expect_error(run({"--isolate", "--realtime", "--queue", "8"}), 1, {" frames of 640x640) "});
}

}  // namespace
}  // namespace saccade
