// A model's description, without the layer of a file around it: the network up to the first line
// end, then the schema. What is accepted must be good enough to read rows with.
#include "datasets/read.h"
#include "nn/model_spec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/text.h"
#include "training/model/schema_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  const std::string_view text = TextOf(bytes, size);
  const std::size_t cut = text.find('\n');
  if (cut == std::string_view::npos) return -1;
  ReadOrRefused([&] { Layout(SpecFromJson(text.substr(0, cut))); });
  return ReadOrRefused([&] {
    const Schema schema = SchemaFromJson(text.substr(cut + 1));
    if (schema.features > 1 << 16) return;
    for (const std::string_view rows : {"1 1:1 2:1e30\n0\n", "1.5,2,3\n4,5,6\n", "a,b\n1.5,2\n"}) {
      ReadOrRefused([&] {
        CheckShape(ReadTextWithSchema({.text = OpenBytes(rows, "in", 100), .source = "in"}, schema,
                                      Labels::kOptional, {},
                                      {.threads = 1, .memory_bytes = 1 << 24}));
      });
    }
  });
}
