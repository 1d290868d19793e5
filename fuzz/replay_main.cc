// Runs a fuzzer's inputs from files, for builds without libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::error_code error;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator it(argv[1], error), end; !error && it != end;
       it.increment(error)) {
    std::ifstream file(it->path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    // Said before the run: a crash must leave the name of its input behind.
    std::fprintf(stderr, "%s\n", it->path().c_str());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  if (error || count == 0) {
    std::fprintf(stderr, "no inputs in %s %s\n", argv[1], error.message().c_str());
    return 1;
  }
  std::printf("%zu inputs replayed\n", count);
  return 0;
}
