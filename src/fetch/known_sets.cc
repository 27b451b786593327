#include "fetch/known_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/spelling.h"

namespace hogbatch::fetch {
namespace {

constexpr std::string_view kUci = "https://archive.ics.uci.edu/ml/machine-learning-databases/";
constexpr std::string_view kLibsvm = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/";
constexpr std::string_view kNoHome = {};  // none is known in a format that hogbatch reads
constexpr std::string_view kMnist = "https://storage.googleapis.com/cvdf-datasets/mnist/";

constexpr std::array kCovtype = {
    RemoteFile{"covtype.csv.gz", kUci, "covtype/covtype.data.gz"},
};
constexpr std::array kW8a = {
    RemoteFile{"w8a.svm", kLibsvm, "binary/w8a",
               "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2"},
    RemoteFile{"w8a.t.svm", kLibsvm, "binary/w8a.t",
               "618929ecb01bebb841daec4cae4aa07b97832d29b08652452775598929547fde"},
};
constexpr std::array kRealSim = {
    RemoteFile{"real-sim.svm.bz2", kLibsvm, "binary/real-sim.bz2"},
};
constexpr std::array kDelicious = {
    RemoteFile{"delicious.svm.bz2", kNoHome, "delicious.svm.bz2"},
};
constexpr std::array kMnistFiles = {
    RemoteFile{"train-images-idx3-ubyte.gz", kMnist, "train-images-idx3-ubyte.gz",
               "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    RemoteFile{"train-labels-idx1-ubyte.gz", kMnist, "train-labels-idx1-ubyte.gz",
               "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    RemoteFile{"t10k-images-idx3-ubyte.gz", kMnist, "t10k-images-idx3-ubyte.gz",
               "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    RemoteFile{"t10k-labels-idx1-ubyte.gz", kMnist, "t10k-labels-idx1-ubyte.gz",
               "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
};

constexpr std::array kSets = {
    KnownSet{"covtype", "forest cover types, 581,012 rows, 7 classes (UCI)", kCovtype},
    KnownSet{"w8a", "web pages, 49,749 rows and 14,951 to test on, 2 classes (LIBSVM)", kW8a},
    KnownSet{"real-sim", "articles, 72,309 rows, 20,958 features, 2 classes (LIBSVM)", kRealSim},
    KnownSet{"delicious", "bookmarks, 983 labels, several per row", kDelicious},
    KnownSet{"mnist", "handwritten digits, 60,000 rows and 10,000 to test on, 10 classes",
             kMnistFiles},
};

}  // namespace

std::span<const KnownSet> KnownSets() { return kSets; }

const KnownSet& FindSet(std::string_view name) {
  const auto found = std::ranges::find(kSets, name, &KnownSet::name);
  if (found != kSets.end()) return *found;
  std::vector<std::string> names;
  for (const KnownSet& set : kSets) names.emplace_back(set.name);
  throw UserError(fmt::format("unknown data set '{}'{}; there are {}", name,
                              DidYouMean(std::string(name), names), fmt::join(names, ", ")));
}

}  // namespace hogbatch::fetch
