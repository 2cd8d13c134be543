#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "saccade/model.hpp"

namespace saccade {

/// A model with what it has to answer, as ONNX lays its tests out: model.onnx, and in every test_data_set_N/ a tensor a
/// file, input_0.pb, input_1.pb, ... and output_0.pb, ...; data.json may hold the tolerances "rtol" and "atol".
struct TestFolder {
  std::string name;  ///< below the folder that was named, or that folder's own
  std::filesystem::path path;
};

/// Every test folder in FOLDERS, at any depth, by name. Throws Error (kNotFound) naming one in which there is none.
std::vector<TestFolder> find_test_folders(std::span<const std::string> folders);

enum class TestVerdict : std::uint8_t { kPassed, kFailed, kUnsupported };

struct TestOutcome {
  TestVerdict verdict = TestVerdict::kPassed;
  std::string reason;  ///< why it did not pass
};

/// Compiles the model for each of its data sets (shapes are the data's; an input on whose contents shapes depend
/// becomes a constant), runs it and compares what comes out. Whatever goes wrong is part of the outcome.
TestOutcome run_test_folder(const TestFolder& test, const ModelOptions& options);

}  // namespace saccade
