#include "flags/flag.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <optional>
#include <saccade/log.hpp>
#include <set>
#include <sstream>

#include "flags/binder.hpp"
#include "flags/command_line.hpp"
#include "flags/foreign_words.hpp"
#include "flags/help.hpp"

// Every row of the table of flags, for every command that has it: values that it accepts, values that it rejects, none,
// and two. A new row is tested without a further word; what a flag does is tested with its command.
namespace saccade::app {
namespace {

using Arguments = std::vector<std::string>;

/// The values at the edges of what the kind accepts.
struct Accepted {
  Arguments operator()(const Switch&) const { return {}; }
  Arguments operator()(const Integer& range) const {
    return {fmt::to_string(range.low), fmt::to_string(range.high), fmt::format("00{}", range.high)};
  }
  Arguments operator()(const Real& range) const { return {fmt::to_string(range.low), fmt::to_string(range.high)}; }
  Arguments operator()(const PerModel& range) const {
    return {fmt::to_string(range.low), fmt::to_string(range.high), fmt::format("path:{}", range.high)};
  }
  Arguments operator()(const Size&) const { return {"1", "512M", "04G", "1048576T"}; }
  Arguments operator()(const Choice& choice) const { return choice.names; }
  Arguments operator()(const Path&) const { return {"some/path"}; }
  Arguments operator()(const Assignment& assignment) const { return {std::string(assignment.example)}; }
  Arguments operator()(const Text& text) const { return {std::string(text.example)}; }
};

struct Rejected {
  Arguments operator()(const Switch&) const { return {}; }
  Arguments operator()(const Integer& range) const {
    Arguments values = {"x", "-1", "1.5", "1e3", "0x10", "+5", " 5", "99999999999999999999"};
    if (range.low > 0) values.push_back(fmt::to_string(range.low - 1));
    if (range.high < std::numeric_limits<std::uint64_t>::max()) values.push_back(fmt::to_string(range.high + 1));
    return values;
  }
  Arguments operator()(const Real& range) const {
    return {"x", "nan", "inf", "-1", "+0.5", fmt::to_string(2 * range.high + 1)};
  }
  Arguments operator()(const PerModel& range) const {
    return {"x", "nan", "-1", ":0.5", "path:", "path:x", "path:-1", fmt::to_string(2 * range.high + 1)};
  }
  Arguments operator()(const Size&) const { return {"0", "M", "4X", "4GB", "-1", "1.5G", "1048577T", "0x10M"}; }
  Arguments operator()(const Choice&) const { return {"no-such-choice"}; }
  Arguments operator()(const Path&) const { return {}; }
  Arguments operator()(const Assignment&) const { return {"x", "=x", "x="}; }
  Arguments operator()(const Text& text) const {
    return text.wrong.empty() ? Arguments{} : Arguments{std::string(text.wrong)};
  }
};

/// The parser's message; nullopt if it accepts ARGUMENTS.
std::optional<std::string> message(const Arguments& arguments) {
  try {
    CommandLine().parse(arguments);
    return std::nullopt;
  } catch (const UsageError& error) {
    return error.what();
  }
}

void expect_accepted(const Arguments& arguments) {
  EXPECT_EQ(message(arguments), std::nullopt) << fmt::format("{}", fmt::join(arguments, " "));
}

void expect_rejected(const Arguments& arguments, const std::string& begin, const std::string& part = {}) {
  const std::string line = fmt::format("{}", fmt::join(arguments, " "));
  const std::optional<std::string> error = message(arguments);
  ASSERT_TRUE(error.has_value()) << line << " is accepted";
  EXPECT_TRUE(error->starts_with(begin)) << line << ": " << *error << "\nwithout: " << begin;
  EXPECT_NE(error->find(part), std::string::npos) << line << ": " << *error << "\nwithout: " << part;
}

/// A flag as an argument of one of its commands.
class FlagCase {
 public:
  FlagCase(const CommandRow& command, const Flag& flag) : flag(flag), command_(command) {}

  std::string name() const { return std::string(flag.long_name()); }
  Count count() const { return flag.traits.count; }

  /// The command with what it requires and what the flag needs, then MORE.
  Arguments with(const Arguments& more) const { return with(more, flag.traits.needs); }
  Arguments with(const Arguments& more, std::string_view needed) const {
    Arguments arguments = {std::string(command_.name)};
    for (const Flag* other : flags_of(command_.bit)) {
      const bool is_needed = other->traits.required || other->is_positional() || other->name == needed;
      if (other == &flag || !is_needed || (other->is_positional() && name() == "--compare")) continue;
      std::string value = std::visit(Accepted(), other->value).front();
      if (name() == "--track" && other->name == "--data") value = "mot:DIR";
      if (!other->is_positional()) arguments.emplace_back(other->long_name());
      arguments.push_back(value);
      const bool is_pair = other->traits.count == Count::kPair || name() == "--together";  // of two models
      if (is_pair) arguments.push_back(value);
    }
    if (name() == "--rotate" || name() == "--keep")
      arguments.insert(arguments.end(), {"--jsonl", "o"});  // or any other
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// The flag with VALUE, as the parser reads it.
  Arguments given(const std::string& value) const {
    if (flag.is_positional()) return {value};
    if (flag.is_switch()) return {name()};
    return count() == Count::kPair ? Arguments{name(), value, value} : Arguments{name(), value};
  }
  Arguments good() const {
    const Arguments values = std::visit(Accepted(), flag.value);
    return given(values.empty() ? "" : values.front());
  }
  Arguments aliases() const {
    std::istringstream words{std::string(flag.traits.aliases)};
    return {std::istream_iterator<std::string>(words), {}};
  }
  /// The flags that cannot be combined with this one.
  std::vector<const Flag*> excluded() const {
    std::vector<const Flag*> rows;
    std::istringstream others{std::string(flag.traits.excludes)};
    for (std::string other; others >> other;)
      for (const Flag* row : flags_of(command_.bit))
        if (row->long_name() == other) rows.push_back(row);
    return rows;
  }

  const CommandRow& command() const { return command_; }

  const Flag& flag;

 private:
  const CommandRow& command_;
};

class EveryFlag : public testing::Test {
 protected:
  void TearDown() override { set_log_level(LogLevel::kWarning); }

  static std::vector<FlagCase> all() {
    std::vector<FlagCase> cases;
    for (const CommandRow& command : all_commands())
      for (const Flag* flag : flags_of(command.bit)) cases.emplace_back(command, *flag);
    return cases;
  }
};

TEST_F(EveryFlag, AcceptsItsValues) {
  for (const FlagCase& test : all()) {
    expect_accepted(test.with(test.good()));
    for (const std::string& value : std::visit(Accepted(), test.flag.value))
      expect_accepted(test.with(test.given(value)));
  }
}

TEST_F(EveryFlag, RejectsOtherValues) {
  for (const FlagCase& test : all()) {
    for (const std::string& value : std::visit(Rejected(), test.flag.value))
      expect_rejected(test.with(test.given(value)), test.name() + ": ", "'" + value + "'");
    if (test.flag.is_switch()) expect_rejected(test.with({test.name() + "=x"}), test.name() + " takes no value");
  }
}

TEST_F(EveryFlag, NeedsAValue) {
  for (const FlagCase& test : all()) {
    if (test.flag.is_switch() || test.flag.is_positional()) continue;
    expect_rejected(test.with({test.name(), ""}), test.name() + " needs a value");
    expect_rejected(test.with({test.name() + "="}), test.name() + " needs a value");
    expect_rejected(test.with({test.name()}),
                    test.name() + (test.count() == Count::kPair ? " needs two values" : " needs a value"));
  }
}

TEST_F(EveryFlag, IsAcceptedByItsAliases) {
  std::size_t count = 0;
  for (const FlagCase& test : all()) {
    for (const std::string& alias : test.aliases()) {
      ++count;
      Arguments named = test.good();
      named.front() = alias;
      expect_accepted(test.with(named));
      expect_rejected(test.with({alias}), test.name() + " needs a value");
      const Arguments both = test.good();
      named.insert(named.end(), both.begin(), both.end());
      expect_rejected(test.with(named), test.name(), "is given twice");
    }
  }
  EXPECT_GE(count, 9U);
}

TEST_F(EveryFlag, IsGivenTwiceOnlyIfRepeatable) {
  for (const FlagCase& test : all()) {
    if (test.flag.is_positional()) continue;
    Arguments twice = test.good();
    const Arguments again = test.good();
    twice.insert(twice.end(), again.begin(), again.end());
    const bool is_per_model = test.count() == Count::kRepeatable && test.flag.form.starts_with("[NAME:]");
    const bool is_one_name = std::holds_alternative<Assignment>(test.flag.value) || is_per_model;
    const bool is_once = test.count() == Count::kOne || test.count() == Count::kPair;
    if ((is_once && !test.flag.is_switch()) || is_one_name)
      expect_rejected(test.with(twice), test.name(), "is given twice");
    else
      expect_accepted(test.with(twice));
  }
}

TEST_F(EveryFlag, IsRequiredWhereItSaysSo) {
  for (const FlagCase& test : all()) {
    const bool is_either = test.name() == "MODEL" || test.name() == "--compare";  // or another flag: inspect, bench
    if (test.flag.traits.required)
      expect_rejected(test.with({}), test.name() + " is required");
    else if (!is_either)
      expect_accepted(test.with({}));
  }
}

TEST_F(EveryFlag, SaysWhatItNeedsAndExcludes) {
  for (const FlagCase& test : all()) {
    for (const Flag* other : test.excluded()) {
      Arguments both = test.good();
      const Arguments second = FlagCase(test.command(), *other).good();
      both.insert(both.end(), second.begin(), second.end());
      expect_rejected(test.with(both), "", "excludes");
    }
    const std::string needs(test.flag.traits.needs);
    if (!needs.empty()) expect_rejected(test.with(test.good(), {}), test.name() + " requires " + needs);
  }
}

TEST(FlagTable, ARowIsFoundByOneNameInEachCommand) {
  for (const CommandRow& command : all_commands()) {
    std::set<std::string_view> names;
    for (const Flag* flag : flags_of(command.bit)) {
      EXPECT_TRUE(names.insert(flag->long_name()).second) << command.name << " has two rows of " << flag->name;
      EXPECT_FALSE(flag->doc.empty() || flag->doc.ends_with(".")) << flag->name << ": a phrase without a full stop";
    }
  }
}

TEST(FlagTable, ATypingErrorNamesTheNearestFlag) {
  EXPECT_EQ(message({"rum"}), "unknown command 'rum' (did you mean 'run'?); see saccade --help");
  EXPECT_EQ(message({"rnu"}), "unknown command 'rnu' (did you mean 'run'?); see saccade --help") << "swapped";
  EXPECT_EQ(message({"frobnicate"}), "unknown command 'frobnicate'; see saccade --help");
  EXPECT_EQ(message({"--verson"}), "unknown flag '--verson' (did you mean '--version'?); see saccade --help");
  EXPECT_EQ(message({"--source", "x"}), "unknown flag '--source': a command comes first; see saccade --help");
  EXPECT_EQ(message({"run", "--sourc", "x"}),
            "unknown flag '--sourc' (did you mean '--source'?); see saccade run --help");
  EXPECT_EQ(message({"run", "m.onnx", "--source", "v.mp4", "--max-frame=3"}),
            "unknown flag '--max-frame=3' (did you mean '--max-frames'?); see saccade run --help");
  EXPECT_EQ(message({"run", "m.onnx", "--source", "v.mp4", "--wrong"}),
            "unknown flag '--wrong'; see saccade run --help");
  EXPECT_EQ(message({"infer", "m.onnx", "n.onnx", "--output", "o"}),
            "unknown argument 'n.onnx'; see saccade infer --help");
}

TEST(FlagTable, AFileInTheWrongPlaceNamesTheRightOne) {
  EXPECT_EQ(
      message({"m.onnx"}),
      "unknown command 'm.onnx': a command comes first, as in saccade run MODEL --source SRC; see saccade --help");
  EXPECT_EQ(message({"inspect", "-m.onnx"}),
            "unknown flag '-m.onnx': write a file of this name as ./-m.onnx; see saccade inspect --help");
  EXPECT_EQ(message({"run", "m.onnx", "a.jpg"}),
            "--source is required: write it before 'a.jpg' unless that is a model; see saccade run --help");
  EXPECT_EQ(message({"run", "m.onnx", "n.onnx"}), "--source is required; see saccade run --help");
}

TEST(FlagTable, AnotherToolsWordNamesOurs) {
  EXPECT_EQ(message({"predict", "model=m.onnx"}), "unknown command 'predict': use saccade run; see saccade --help");
  EXPECT_EQ(message({"run", "m.onnx", "--source", "v.mp4", "--conf-thres=0.3"}),
            "unknown flag '--conf-thres=0.3': use --conf; see saccade run --help");
  EXPECT_EQ(message({"run", "m.onnx", "--source", "v.mp4", "--imgsz", "640"}),
            "unknown flag '--imgsz': use --shape NAME=1x3x640x640; see saccade run --help");
  EXPECT_EQ(message({"bench", "m.onnx", "--half"}),
            "unknown flag '--half': use --precision fp16; see saccade bench --help");
  EXPECT_EQ(message({"bench", "--onnx=m.onnx", "--iterations=9"}),
            "unknown flag '--onnx=m.onnx': the model is an argument without a flag; see saccade bench --help");
  EXPECT_EQ(message({"bench", "m.onnx", "-niter", "9"}), "unknown flag '-niter': use --runs; see saccade bench --help");
  EXPECT_EQ(message({"bench", "m.onnx", "--warmUp=9"}),
            "unknown flag '--warmUp=9': the warm-up is automatic; see saccade bench --help");
  EXPECT_EQ(message({"bench", "m.onnx", "--batch-size=9"}),
            "unknown flag '--batch-size=9': use --batch; see saccade bench --help");
  EXPECT_EQ(message({"compile", "m.onnx", "-o", "p", "--batch-size=9"}),
            "unknown flag '--batch-size=9': use --shape NAME=SHAPE with the batch size first; see saccade compile "
            "--help");
  EXPECT_EQ(message({"infer", "m.onnx", "-o", "o", "--conf-thres=0.3"}),
            "unknown flag '--conf-thres=0.3'; see saccade infer --help")
      << "it has no --conf";
}

TEST(FlagTable, AnotherToolsDeviceNamesOurs) {
  const auto of = [](const char* device) { return message({"bench", "m.onnx", "--device", device}); };
  EXPECT_EQ(of("gpu"), "--device: 'gpu' is not known: use cuda; see saccade bench --help");
  EXPECT_EQ(of("1"), "--device: '1' is not known: use cuda:1; see saccade bench --help");
  EXPECT_EQ(of("CPU"), "--device: 'CPU' is not known: use cpu; see saccade bench --help");
}

TEST(FlagTable, AListOfDevicesNamesEachOnce) {
  const auto of = [](const char* devices) {
    return message({"run", "m.onnx", "--source", "synthetic:", "--device", devices});
  };
  EXPECT_EQ(of("cuda:0,cuda:1"), std::nullopt);
  EXPECT_EQ(of("cuda,cuda:0"), "--device: 'cuda:0' is there twice; see saccade run --help");
  EXPECT_EQ(of("auto,cpu"),
            "--device: 'auto' stands alone: name each device of a list, as cuda:0,cuda:1; see saccade run --help");
  EXPECT_EQ(of("cuda:0,gpu"), "--device: 'gpu' is not known: use cuda; see saccade run --help");
  EXPECT_EQ(message({"serve", "m.onnx", "--device", "cuda:0,cuda:1"}), std::nullopt);
  EXPECT_EQ(message({"serve", "m.onnx", "--device", "cpu,cpu"}),
            "--device: 'cpu' is there twice; see saccade serve --help");
}

TEST(FlagTable, SharedMemoryHasAPrefix) {
  const auto of = [](const char* prefix) { return message({"serve", "m.onnx", "--shared-memory", prefix}); };
  EXPECT_EQ(of("camera-"), std::nullopt);
  EXPECT_EQ(of("/camera-"), std::nullopt);
  EXPECT_EQ(of(""), "--shared-memory needs a value; see saccade --help");
  for (const char* prefix : {"/", "a/b", "//a"})
    EXPECT_EQ(of(prefix),
              fmt::format("--shared-memory: '{}' is not the beginning of names of shared memory objects, as camera-; "
                          "see saccade serve --help",
                          prefix));
}

/// What can be seen without opening a file or a device.
TEST(FlagTable, FlagsWithoutSenseAreUsageErrors) {
  struct Case {
    Arguments arguments;
    std::string error;
  };
  const auto run = [](Arguments more) {
    Arguments arguments = {"run", "m.onnx", "--source", "v.mp4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Case cases[] = {
      {run({"--passes", "fold_everything"}), "--passes: 'fold_everything' is not known: use "},
      {run({"--disable-pass", "fold_everything"}), "--disable-pass: 'fold_everything' is not known: use "},
      {run({"--passes", "none,fold_bias"}), "--passes: 'none' stands alone"},
      {run({"--target", "0,0,5,5", "--tiles", "640"}), "--tiles excludes --target"},
      {run({"--target", "0,0,5,5", "--roi", "0,0,5,5"}), "--roi excludes --target"},
      {run({"--metrics", "9000", "--preview", "9000"}), "--preview: --metrics listens at port 9000"},
      {run({"--insecure"}), "--insecure requires --metrics or --preview"},
      {run({"--isolate", "--decode", "cuda"}), "--decode: with --isolate"},
      {run({"--max-memory", "1M", "--max-model-memory", "2M"}), "--max-model-memory: it is a part of --max-memory"},
      {run({"--json", "--csv", "-"}), "standard output: only one of"},
      {run({"--rotate", "1h"}), "--rotate: nothing rotates"},
      {{"inspect", "m.onnx", "--dump-pass", "fold_everything"}, "--dump-pass: 'fold_everything' is not known: use "},
      {{"serve", "m.onnx", "--grpc", "8000"}, "--grpc: --http listens at port 8000"},
      {{"serve", "m.onnx", "--client-ca", "ca.pem"}, "--client-ca requires --tls"},
      {{"bench", "m.onnx", "--peers-model", "n.onnx"}, "--peers-model requires --against"},
      {{"bench", "--compare", "a.json", "b.json", "--against", "onnxruntime"}, "--against excludes --compare"},
      {{"bench", "m.onnx", "--together"}, "--together: give at least two models"},
      {{"validate", "m.onnx", "--data", "coco:d", "--track", "sort"}, "--track: coco:d has no tracks"},
      {{"validate", "m.onnx", "--data", "mot:d", "--against", "n.onnx"}, "mot:d: tracks of two models"},
      {{"validate", "m.onnx", "--data", "mot:d", "--precision", "fp32,bf16"}, "mot:d: tracks of two models"},
      {{"validate", "m.onnx", "--data", "masks:d", "--results", "o"}, "--results: masks:d has no boxes"},
      {{"compile", "m.onnx", "-o", "p", "--data", "coco:d", "--precision", "fp32"}, "--data: it decides --precision"},
      {{"profile", "m.onnx", "--target", "0,0,5,5", "--tiles", "640"}, "--tiles excludes --target"},
      {{"limits", "--check"}, "--check: give the MODEL"},
      {{"limits", "m.onnx", "--check", "--output", "d.toml"}, "--output excludes --check"},
      {{"limits", "m.onnx", "--check", "--inference", "1ms", "--device-file", "d.toml"},
       "--check excludes --inference"},
      {{"limits", "--capture", "1ms"}, "--capture requires --camera or --device-file"},
      {{"cameras", "--model", "m.onnx", "--check"}, "unknown flag '--check'"}};
  for (const Case& each : cases) expect_rejected(each.arguments, each.error, "; see saccade " + each.arguments.front());
  EXPECT_EQ(message(run({"--metrics", "0", "--preview", "0"})), std::nullopt) << "any free ports";
  EXPECT_EQ(message({"limits", "--capture", "1ms", "--device-file", "d.toml"}), std::nullopt);
}

TEST(FlagTable, AFlagIsNoValue) {
  const auto run = [](Arguments more) {
    Arguments arguments = {"run", "m.onnx", "--source", "v.mp4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return message(arguments);
  };
  EXPECT_EQ(run({"--track", "--no-save"}), "--track needs a value: '--no-save' is a flag; see saccade run --help");
  EXPECT_EQ(run({"--jsonl", "--quiet"}), "--jsonl needs a value: '--quiet' is a flag; see saccade run --help");
  EXPECT_EQ(run({"--classes", "--conf=0.5"}),
            "--classes needs a value: '--conf=0.5' is a flag; see saccade run --help");
  EXPECT_EQ(run({"--seconds", "--quiet"}), "--duration needs a value: '--quiet' is a flag; see saccade run --help");
  EXPECT_EQ(run({"--metrics", "0", "--tls", "cert.pem", "--insecure"}),
            "--tls needs two values: '--insecure' is a flag; see saccade run --help");
  EXPECT_EQ(message({"infer", "m.onnx", "-o", "--json"}),
            "--output needs a value: '--json' is a flag; see saccade infer --help");
  EXPECT_EQ(message({"run", "m.onnx", "--source", "--quiet"}),
            "--source needs a value: '--quiet' is a flag; see saccade run --help");
  EXPECT_EQ(run({"--jsonl", "-", "--quiet", "--track", "sort"}), std::nullopt) << "standard output, and a switch";
  EXPECT_EQ(run({"--jsonl=--quiet"}), std::nullopt) << "a file of that name";
}

TEST(FlagTable, ForeignWordsAreForeignAndTheirRemediesExist) {
  for (const ForeignWord& row : foreign_flags()) {
    bool applies = false;
    for (const CommandRow& command : all_commands()) {
      if (!applies_to(row.remedy, command)) continue;
      for (const Flag* flag : flags_of(command.bit)) applies = applies || flag->long_name() != row.word;
    }
    EXPECT_TRUE(applies) << row.word << ": no command has what it names: " << row.remedy;
  }
  for (const ForeignWord& row : foreign_commands()) {
    constexpr std::string_view kUse = "use saccade ";
    const auto is_command = [](std::string_view name) {
      return std::ranges::find(all_commands(), name, &CommandRow::name) != all_commands().end();
    };
    EXPECT_FALSE(is_command(row.word)) << row.word;
    if (!row.remedy.starts_with(kUse) || row.remedy.ends_with("--version")) continue;
    EXPECT_TRUE(is_command(row.remedy.substr(kUse.size()))) << row.remedy;
  }
}

TEST(FlagTable, HelpAndVersionAreCommandsToo) {
  EXPECT_EQ(message({"help"}), std::nullopt);
  EXPECT_EQ(message({"help", "run"}), std::nullopt);
  EXPECT_EQ(message({"--color", "never", "help", "run"}), std::nullopt);
  EXPECT_EQ(message({"--color=never", "help"}), std::nullopt);
  EXPECT_EQ(message({"-V"}), std::nullopt);
  EXPECT_EQ(message({"help", "predict"}), "unknown command 'predict': use saccade run; see saccade --help");
  EXPECT_EQ(message({"help", "run", "bench"}), "unknown argument 'bench'; see saccade --help");
}

TEST(Help, FitsAnEightyColumnTerminal) {
  const auto expect_narrow = [](const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  };
  expect_narrow(help());
  for (const CommandRow& command : all_commands()) expect_narrow(help(command));
}

TEST(Help, IsColouredWithoutOtherChanges) {
  for (const CommandRow& command : all_commands()) {
    std::string colored = help(command, {.is_on = true});
    EXPECT_NE(colored, help(command));
    for (std::size_t at = colored.find('\033'); at != std::string::npos; at = colored.find('\033'))
      colored.erase(at, colored.find('m', at) + 1 - at);
    EXPECT_EQ(colored, help(command));
  }
}

TEST(FlagTable, AFlagOfSeveralValuesLeavesTheLastOneToAPositionalArgument) {
  EXPECT_EQ(message({"run", "--source", "a.jpg", "b.jpg", "m.onnx"}), std::nullopt);
  EXPECT_EQ(message({"run", "m.onnx", "--source", "a.jpg", "b.jpg", "--quiet"}), std::nullopt);
  EXPECT_EQ(message({"run", "--source", "a.jpg", "m.onnx", "--quiet"}),
            "MODEL is required: name it before --source, which takes several values; see saccade run --help");
}

TEST(FlagTable, ACommandThatDisagreesWithItsRowsIsABug) {
  const CommandRow& infer = *std::ranges::find(all_commands(), "infer", &CommandRow::name);
  CLI::App app;
  FlagBinder binder(app, infer);
  std::uint64_t seed = 7;
  EXPECT_THROW(binder.bind("--seed", &seed), std::logic_error) << "the row's default is 0";
  EXPECT_THROW(binder.bind("--source", Parse()), std::logic_error) << "a flag of other commands";
  bool field = false;
  EXPECT_THROW(binder.bind_choice("--fallback", field, {{"gpu", true}}), std::logic_error) << "another choice";
  EXPECT_THROW(binder.finish(), std::logic_error) << "rows without a field";
}

}  // namespace
}  // namespace saccade::app
