// A user's program of more than attention, which needs every library that heed links: oneDNN, utf8proc, PCRE2, Cairo
// and SentencePiece.
#include "heed/heed.h"

#include <cstdio>
#include <string>
#include <vector>

using namespace heed;

namespace {

bool refuses_a_folder_without_a_model() {
  try {
    load_model_folder("no such folder");
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

int main() {
  try {
    Rng rng(1);
    Workspace workspace;
    DrawnParameters drawn(rng);
    const Linear linear(drawn, 4, 4);
    const Var y = linear.forward(Context::inference(workspace), Var(Tensor::zeros(DType::f32, {4, 4})));
    const std::vector<std::string> text = {"a dog, a man"};
    const std::vector<std::vector<std::string>> references = {text};
    const double bleu = corpus_bleu(text, references, {.tokenizer = BleuTokenizer::intl}).score;
    const std::string png = render(draw_matrix(y.value()), PictureFormat::png);
    std::printf("a layer's output %s, BLEU %g, a picture of %zu bytes\n", describe(y.value()).c_str(), bleu,
                png.size());
    return bleu > 99 && png.size() > 100 && refuses_a_folder_without_a_model() ? 0 : 2;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
