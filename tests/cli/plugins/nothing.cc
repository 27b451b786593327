// A library with nothing of ours in it.
extern "C" int nothing_of_ours() { return 0; }
