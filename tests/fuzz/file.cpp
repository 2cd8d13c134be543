#include "import.hpp"

// Any bytes as a file: read or refused. libFuzzer mutates the bytes themselves.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade::fuzz;
  expect_refusal_or_success([&] { import_bytes(data, size); });
  return 0;
}
