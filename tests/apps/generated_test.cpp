#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "flags/help.hpp"
#include "support/subprocess.hpp"

// What is generated from the table of flags: it names them all, and shells and man read it.
namespace saccade::app {
namespace {

using test::Finished;

Finished shell(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return test::Subprocess(command).wait();
}

/// Whether TEXT names FLAG and not just a longer one.
bool names(const std::string& text, std::string_view flag) {
  for (std::size_t at = text.find(flag); at != std::string::npos; at = text.find(flag, at + 1)) {
    const char next = at + flag.size() < text.size() ? text[at + flag.size()] : ' ';
    if (next != '-' && std::isalnum(static_cast<unsigned char>(next)) == 0) return true;
  }
  return false;
}

class Generated : public testing::Test {
 protected:
  /// The words that bash offers for the last of WORDS, sorted.
  std::string completed(const std::string& words) {
    const std::string script = folder_.write("saccade.bash", bash_completion());
    const std::string command = "compopt() { :; }; source " + script + "; COMP_WORDS=(" + words +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _saccade; echo $(printf '%s\\n' "
                                "\"${COMPREPLY[@]}\" | LC_ALL=C sort)";
    const Finished finished = shell("/bin/bash", {"-c", "cd " + (folder_ / "") + "; " + command});
    EXPECT_EQ(finished.err, "");
    return finished.out.substr(0, finished.out.find('\n'));
  }

  /// Expects that PROGRAM, which script/bootstrap installs, accepts TEXT without a word.
  void expect_accepted(const std::string& program, const std::vector<std::string>& arguments, const std::string& text) {
    std::vector<std::string> all = arguments;
    all.push_back(folder_.write("generated", text));
    const Finished finished = shell(program, all);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.err + finished.out, "");
  }

  test::TempFolder folder_;
};

TEST_F(Generated, TheReferenceIsCurrent) {
  const std::string file = std::string(SACCADE_SOURCE) + "/docs/flags.md";
  EXPECT_TRUE(test::bytes_of_file(file) == markdown_reference())
      << "run: build/saccade generate markdown > docs/flags.md";
}

TEST_F(Generated, EveryFlagIsInEveryText) {
  const std::string bash = bash_completion();
  const std::string zsh = zsh_completion();
  const std::string fish = fish_completion();
  const std::string manual = manual_page();
  const std::string reference = markdown_reference();
  for (const CommandRow& command : all_commands()) {
    EXPECT_TRUE(names(help(), command.name));
    const std::string text = help(command);
    for (const Flag* flag : flags_of(command.bit)) {
      EXPECT_TRUE(names(text, flag->long_name())) << command.name << flag->name;
      EXPECT_TRUE(names(reference, flag->long_name())) << flag->name;
      EXPECT_TRUE(names(manual, roff(flag->long_name()))) << flag->name;
      std::istringstream aliases{std::string(flag->traits.aliases)};
      for (std::string alias; aliases >> alias;) EXPECT_FALSE(names(text, alias)) << command.name << alias;
      if (flag->is_positional()) continue;
      EXPECT_TRUE(names(bash, flag->long_name())) << flag->name;
      EXPECT_TRUE(names(zsh, flag->long_name())) << flag->name;
      EXPECT_TRUE(names(fish, "-l " + std::string(flag->long_name().substr(2)))) << flag->name;
    }
  }
}

TEST_F(Generated, BashCompletesCommandsFlagsAndValues) {
  EXPECT_EQ(completed("saccade ru"), "run");
  EXPECT_EQ(completed("saccade help ru"), "run");
  EXPECT_EQ(completed("saccade run --max-"), "--max-det --max-frames --max-memory --max-model-memory");
  EXPECT_EQ(completed("saccade run m.onnx --nms g"), "gaussian greedy");
  EXPECT_EQ(completed("saccade run m.onnx --nms = g"), "gaussian greedy") << "bash splits --nms=g";
  EXPECT_EQ(completed("saccade validate m.onnx --precision fp16,fp3"), "fp16,fp32");
  EXPECT_EQ(completed("saccade inspect m.onnx --dump-pass fold_bi"), "fold_bias");
  EXPECT_EQ(completed("saccade run m.onnx --conf ''"), "") << "a number";
}

TEST_F(Generated, BashCompletesFilesAndFolders) {
  std::filesystem::create_directory(folder_ / "sub");
  folder_.write("sub.onnx", "");
  EXPECT_EQ(completed("saccade run su"), "sub sub.onnx");
  EXPECT_EQ(completed("saccade compile m.onnx -o su"), "sub sub.onnx");
  EXPECT_EQ(completed("saccade run m.onnx --yolo su"), "sub");
}

TEST_F(Generated, ZshReadsItsCompletions) { expect_accepted("/usr/bin/zsh", {"-f", "-n"}, zsh_completion()); }

TEST_F(Generated, FishReadsItsCompletions) {
  expect_accepted("/usr/bin/fish", {"--no-config", "-n"}, fish_completion());
}

TEST_F(Generated, FishCompletesValues) {
  const std::string script = folder_.write("saccade.fish", fish_completion());
  const Finished finished =
      shell("/usr/bin/fish", {"--no-config", "-c", "source " + script + "; complete -C 'saccade run m.onnx --drop o'"});
  EXPECT_TRUE(finished.out.starts_with("oldest\t")) << finished.out << finished.err;
}

TEST_F(Generated, GroffFormatsTheManualPageWithoutWarnings) {
  expect_accepted("/usr/bin/groff", {"-man", "-ww", "-z"}, manual_page());
}

}  // namespace
}  // namespace saccade::app
