#include <memory>
#include <utility>

#include "command.hpp"
#include "flags/binder.hpp"
#include "flags/help.hpp"
#include "report.hpp"

namespace saccade::app {

Action add_generate(FlagBinder& binder) {
  using Writer = std::string (*)();
  const auto writer = std::make_shared<Writer>();
  binder.bind_choice<Writer>("WHAT", *writer,
                             {{"bash", bash_completion},
                              {"zsh", zsh_completion},
                              {"fish", fish_completion},
                              {"man", manual_page},
                              {"markdown", markdown_reference}});
  return {.run = [writer] {
    print_report((*writer)());
    return kOk;
  }};
}

}  // namespace saccade::app
