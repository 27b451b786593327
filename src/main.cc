#include "cli/commands.h"

int main(int argc, char** argv) { return hogbatch::Main(argc, argv); }
