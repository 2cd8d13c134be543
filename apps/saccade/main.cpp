#include "command.hpp"

int main(int argc, char** argv) { return saccade::app::run_command(argc, argv); }
