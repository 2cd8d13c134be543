#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/expect_error.hpp"
#include "base/printable.hpp"
#include "media/frame_reader.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Models, cards and files whose names contain terminal control sequences, line breaks and formulas: every command
// escapes them in every format.
namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

/// Ends a line and forges one, clears the screen in 7 bits, 8 bits and UTF-8, contains a bidirectional control, is not
/// UTF-8.
const std::string kHostile = "=x\nforged: 1\r\t\x1b[2J\u009b2J\x7f\u202e\xff\x9b\"<b>,\\";

class HostileNames : public testing::Test {
 protected:
  HostileNames() {
    save_model(model_, kHostile);
    folder_.write("m.toml", R"toml([input]
resize = "stretch"
scale = 0.00392156862745098
mean = 0
std = 1
[output]
decoder = "classify"
softmax = false
labels = ["=cmd|' /C calc'!A0\nforged: 1\u001b[2J\u009b2J\u007f\u202e", "-1\t+2", "@SUM(A1)"]
)toml");
    std::vector<std::uint8_t> pixels(3 * 8 * 8, 200);
    std::filesystem::create_directory(folder_ / "images");
    write_image(folder_ / "images/p.png", view_of(RgbView{pixels.data(), 3 * 8, 8, 8}));
    // File names cannot contain a slash; anything else may occur.
    std::filesystem::rename(folder_ / "images/p.png", std::filesystem::path(folder_ / "images") / (kHostile + ".png"));
  }

  static void save_model(const std::string& path, const std::string& name) {
    onnx_writer::Model model(13);
    model.input("in" + name, {1, 3, 8, 8}).output("out" + name);
    model.node({.op = "GlobalAveragePool", .inputs = {"in" + name}, .outputs = {"mean" + name}, .name = "pool" + name});
    model.node({.op = "Flatten", .inputs = {"mean" + name}, .outputs = {"out" + name}, .name = "flatten" + name});
    model.metadata("author", name);
    model.save(path);
  }

  /// Expects that TEXT contains no control characters and no forged line.
  static void expect_clean(const std::string& text, const std::string& what) {
    std::size_t line = 0;
    for (std::string_view rest = text; !rest.empty();) {
      const Glyph glyph = first_glyph(rest);
      EXPECT_TRUE(glyph.is_printable || rest.front() == '\n')
          << what << " at byte " << text.size() - rest.size() << ": " << printable(text.substr(line, 300));
      if (!glyph.is_printable && rest.front() != '\n') return;
      if (rest.front() == '\n') {
        line = text.size() - rest.size() + 1;
        EXPECT_FALSE(rest.substr(1).starts_with("forged")) << what;
      }
      rest.remove_prefix(glyph.bytes);
    }
  }

  Finished run(const std::vector<std::string>& arguments) {
    const Finished finished = run_saccade(arguments);
    std::string command;
    for (const std::string& argument : arguments) command += argument + " ";
    EXPECT_EQ(finished.exit_code, 0) << printable(command) << finished.err;
    expect_clean(finished.out, command + "(output)");
    expect_clean(finished.err, command + "(error)");
    return finished;
  }

  void expect_clean_file(const std::string& name) const {
    const std::string text = test::bytes_of_file(folder_ / name);
    EXPECT_FALSE(text.empty()) << name;
    expect_clean(text, name);
  }

  test::TempFolder folder_;
  const std::string model_ = folder_ / "m.onnx";
};

TEST_F(HostileNames, InReports) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"inspect", model_},
                                             {"inspect", model_, "--dump", "--patches", "--graphviz", folder_ / "dot"},
                                             {"inspect", model_, "--pipeline", "--device", "reference"},
                                             {"profile", model_, "--duration", "0.02", "--source", folder_ / "images",
                                              "--html", folder_ / "page.html", "--trace", folder_ / "trace.json"},
                                             {"bench", model_, "--runs", "4", "--duration", "0"},
                                             {"limits", model_, "--duration", "0.02"}})
    run(arguments);
  expect_clean_file("dot/before.dot");
  expect_clean_file("dot/after.dot");
  expect_clean_file("page.html");
  expect_clean_file("trace.json");
  EXPECT_TRUE(json::accept(test::bytes_of_file(folder_ / "trace.json")));
}

TEST_F(HostileNames, InPlans) {
  // A plan's names are UTF-8.
  save_model(folder_ / "n.onnx", kHostile.substr(0, kHostile.find('\xff')));
  run({"compile", folder_ / "n.onnx", "-o", folder_ / "n.plan"});
  run({"inspect", folder_ / "n.plan", "--dump"});
  run({"infer", folder_ / "n.plan", "--output", folder_ / "of_plan"});
}

TEST_F(HostileNames, InJson) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"inspect", model_, "--json"},
                                             {"infer", model_, "--output", folder_ / "out", "--json"},
                                             {"bench", model_, "--runs", "4", "--duration", "0", "--json"},
                                             {"run", model_, "--no-save", "--source", folder_ / "images", "--json"},
                                             {"run", model_, "--source", folder_ / "images", "--jsonl", "-"}}) {
    std::istringstream lines(run(arguments).out);
    for (std::string line; std::getline(lines, line);) EXPECT_TRUE(json::accept(line)) << printable(line);
  }
}

TEST_F(HostileNames, AreStillNames) {
  run({"infer", model_, "--output", folder_ / "first"});
  const auto written = std::filesystem::directory_iterator(folder_ / "first")->path();
  EXPECT_EQ(written.parent_path(), folder_ / "first");
  EXPECT_EQ(written.filename().string().find_first_of("\n\x1b\xff"), std::string::npos);
  // Input names are reported unescaped in JSON.
  const json facts = json::parse(run({"inspect", model_, "--json"}).out);
  const std::string shown = facts["inputs"][0]["name"];
  EXPECT_NE(shown.find("\x1b[2J\u009b2J\x7f\u202e"), std::string::npos) << "JSON tells what the model has";
  test::expect_error(run_saccade({"infer", model_, "--output", folder_ / "o", "--input", "x=" + written.string()}), 1,
                     {"no input 'x'", "'in=x\\nforged: 1\\r\\t\\x1b[2J\\u009b2J\\x7f\\u202e\\xff\\x9b\"<b>,\\'"});
}

TEST_F(HostileNames, InResults) {
  run({"run", model_, "--source", folder_ / "images", "--csv", folder_ / "r.csv", "--jsonl", folder_ / "r.jsonl",
       "--yolo", folder_ / "labels", "--frames", folder_ / "frames"});
  expect_clean_file("r.csv");
  expect_clean_file("r.jsonl");
  std::istringstream rows(test::bytes_of_file(folder_ / "r.csv"));
  int count = 0;
  for (std::string row; std::getline(rows, row); ++count)
    for (const char* formula : {",=", ",@", ",\"=", ",-1\\t", ",\"@"})
      EXPECT_EQ(row.find(formula), std::string::npos) << row;
  EXPECT_GT(count, 1);
  EXPECT_NE(test::bytes_of_file(folder_ / "r.csv").find(",\"'=x\\nforged"), std::string::npos)
      << test::bytes_of_file(folder_ / "r.csv");
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "labels")) {
    expect_clean(test::bytes_of_file(file.path().string()), "labels");
    EXPECT_EQ(std::filesystem::path(file.path()).parent_path(), folder_ / "labels");
  }
}

TEST_F(HostileNames, InTestFolders) {
  const std::string folder = folder_ / ("tests/" + kHostile);
  std::filesystem::create_directories(folder + "/test_data_set_0");
  std::filesystem::copy(model_, folder + "/model.onnx");
  const Finished finished = run_saccade({"check", folder_ / "tests"});
  expect_clean(finished.out, "check");
  expect_clean(finished.err, "check");
  EXPECT_FALSE(finished.out.empty());
}

/// Libraries in the current folder are not loaded.
TEST(CurrentFolder, HasNoLibraries) {
  const test::TempFolder folder;
  for (const char* name : {"libstdc++.so.6", "libm.so.6", "libsaccade.so.0", "libprotobuf.so.32", "libdnnl.so.2",
                           "libhwy.so.1", "libgomp.so.1", "libjpeg.so.62", "libpng16.so.16", "libavformat.so.59"})
    folder.write(name, "no library");
  const std::string model = test::write_color_classifier(folder);
  const Finished finished =
      test::Subprocess({"/usr/bin/env", "--unset=LD_LIBRARY_PATH", "--chdir=" + folder.string(), SACCADE_BINARY, "run",
                        "--device", "cpu", model, "--no-save", "--source", "synthetic:", "--max-frames", "1"})
          .wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

/// A truncated module is reported, not mapped.
TEST(TruncatedModule, IsRefused) {
  namespace fs = std::filesystem;
  const test::TempFolder folder;
  const std::string model = test::write_color_classifier(folder);
  const fs::path built = fs::canonical(SACCADE_BINARY).parent_path().parent_path();
  const fs::path own = folder / "tree";
  fs::create_directories(own / "lib");
  fs::copy(built / "bin", own / "bin", fs::copy_options::recursive);
  fs::copy(built / "lib/libsaccade.so.0", own / "lib");
  fs::copy(built / "lib/saccade", own / "lib/saccade", fs::copy_options::recursive);
  const auto inspect = [&] {
    return test::Subprocess({"/usr/bin/env", "--unset=LD_LIBRARY_PATH", own / "bin/saccade", "inspect", model}).wait();
  };
  EXPECT_EQ(inspect().exit_code, 0) << "the whole tree runs wherever it lies: " << inspect().err;
  const auto whole = fs::file_size(own / "lib/saccade/onnx.so");
  for (const std::uintmax_t bytes :
       {std::uintmax_t{0}, std::uintmax_t{100}, std::uintmax_t{8192}, whole / 2, whole - 1}) {
    fs::resize_file(own / "lib/saccade/onnx.so", 0);
    fs::copy(built / "lib/saccade/onnx.so", own / "lib/saccade/onnx.so", fs::copy_options::overwrite_existing);
    fs::resize_file(own / "lib/saccade/onnx.so", bytes);
    test::expect_error(inspect(), 1, {"the module 'onnx' is damaged", "reinstall Saccade"});
  }
}

}  // namespace
}  // namespace saccade
