#include "pipeline/sinks/ledger_json.hpp"

namespace saccade {

void append_ledger(JsonBuffer& out, const Ledger& ledger) {
  append(
      out,
      R"({{"captured":{},"processed":{},"skipped":{},"dropped":{{"queue_full":{},"no_buffer":{},"decoder_behind":{},"stopped":{},"failed":{}}},)"
      R"("corrupt":{},"lost":{},"unaccounted":{}}})",
      ledger.captured, ledger.processed, ledger.skipped, ledger.queue_full, ledger.no_buffer, ledger.decoder_behind,
      ledger.stopped, ledger.failed, ledger.corrupt, ledger.lost, ledger.in_flight());
}

}  // namespace saccade
