// What OpenCL implementations keep until the process ends. Nothing of ours is in it: these are
// libraries that are loaded from /etc/OpenCL/vendors, and the compilers below them.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl.so\n"
         "leak:libLLVM\n"
         "leak:libclang-cpp.so\n"
         "leak:libOpenCL.so\n";
}
