#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kLabelWords[] = {
    {"step.colon", {}, {": ", "："}},
    {"matrix.head", {}, {", head {0}", "，头 {0}"}},
    {"matrix.batch", {}, {", batch element {0}", "，批次元素 {0}"}},
    {"picture.queries", {}, {"queries", "查询"}},
    {"picture.keys", {}, {"keys", "键"}},
};

}  // namespace

std::span<const WordsEntry> labels() { return kLabelWords; }

}  // namespace heed::words
