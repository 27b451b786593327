// PoCL and the compilers below it lose memory when they compile. Their libraries are built without
// frame pointers, so that a leak of theirs never shows who called them. What we lose of OpenCL's
// own objects no leak checker sees, for PoCL holds them all: OpenClDriver.LeavesNothingBehind does.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl.so\n"
         "leak:libLLVM-\n"
         "leak:libclang-cpp.so\n";
}
