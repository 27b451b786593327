# cmake "-DSOURCES=a;b" -DFUNCTION=F -DOUTPUT=x.cc -P embed.cmake: writes a C++ function, declared in
# gpu/opencl/program.h, that returns the text of the kernels.
set(text "")
foreach(source ${SOURCES})
  file(READ ${source} part)
  string(APPEND text "${part}")
endforeach()
if(text MATCHES "[^\t\n -~]")
  message(FATAL_ERROR "${SOURCES}: beyond ASCII, which OpenCL compilers need not read")
endif()
file(WRITE ${OUTPUT} "#include \"gpu/opencl/program.h\"

std::string_view hogbatch::opencl::${FUNCTION}() {
  return R\"kernels(${text})kernels\";
}
")
