#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "saccade/model.hpp"

namespace saccade {

/// A model with expected outputs in ONNX's test layout: model.onnx, and in every test_data_set_N/ a tensor per file,
/// input_0.pb, input_1.pb, ... and output_0.pb, ...; data.json may contain the tolerances "rtol" and "atol".
struct TestFolder {
  std::string name;  ///< below the given folder, or that folder's own
  std::filesystem::path path;
};

/// Every test folder in FOLDERS, at any depth, sorted by name. Throws Error (kNotFound) naming one without any.
std::vector<TestFolder> find_test_folders(std::span<const std::string> folders);

enum class TestVerdict : std::uint8_t { kPassed, kFailed, kUnsupported };

struct TestOutcome {
  TestVerdict verdict = TestVerdict::kPassed;
  std::string reason;  ///< why it did not pass
};

/// Compiles the model for each of its data sets (shapes are the data's; an input on whose contents shapes depend
/// becomes a constant), runs it and compares the outputs. All failures are part of the outcome.
TestOutcome run_test_folder(const TestFolder& test, const ModelOptions& options);

}  // namespace saccade
