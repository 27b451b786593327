// Trains on a file, or on the data set that ships with hogbatch; saves, loads and predicts.
#include <cstdio>
#include <exception>
#include <string>

#include "hogbatch/hogbatch.h"

class Progress : public hogbatch::TrainingListener {
  void OnReport(const hogbatch::TrainingReport& report) override {
    if (report.valid) std::printf("epoch %.1f: loss %.4f\n", report.epoch, report.valid->loss);
  }
};

int main(int argc, char** argv) {
  const std::string data = argc > 1 ? argv[1] : "";
  const std::string model = argc > 2 ? argv[2] : "model.safetensors";
  try {
    Progress progress;
    hogbatch::Train(data, {{"epochs", "2"}, {"hidden", "64"}}, &progress).Save(model);

    const hogbatch::Network network = hogbatch::Network::Load(model);
    std::printf("%zu labels\n", network.labels().size());
    if (data.empty()) return 0;
    const auto [name, value] = network.EvaluateFile(data).metrics.front();
    std::printf("%s %.4f on all rows\n", name.c_str(), value);
    std::printf("the first row is %s\n", network.PredictFile(data).front().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
