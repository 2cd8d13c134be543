#include "serve/replies.hpp"

#include <nlohmann/json.hpp>

#include "serve/job.hpp"

namespace saccade::serve {

using nlohmann::json;

HttpReply json_reply(const json& body) {
  return {.status = 200,
          .type = "application/json",
          .body = body.dump(-1, ' ', false, json::error_handler_t::replace),
          .stream = nullptr,
          .headers = {}};
}

HttpReply error_reply(int status, const std::string& sentence) {
  HttpReply reply = json_reply({{"error", sentence}});
  reply.status = status;
  return reply;
}

HttpReply error_reply(const Error& error) { return error_reply(is_of_request(error) ? 400 : 500, sentence_of(error)); }

}  // namespace saccade::serve
