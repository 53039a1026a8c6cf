// JSON, written piece by piece: for what is too large to be held as one Json, or as one text.
//
//   JsonStream json([&](std::string_view text) { file.write(text); });
//   json.open_object();
//   json.key("model"), json.value("base");
//   json.key("weights"), json.open_list();
//   for (float weight : weights) json.number(weight);
//   json.close(), json.close(), json.finish();
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/index.h"
#include "heed/io/json.h"

namespace heed {

// Gives the bytes of Json::dump(indent) of what it is told. That keys differ and that what is opened is closed, is the
// caller's business. Throws heed::Error for what dump refuses.
class JsonStream {
 public:
  using Sink = std::function<void(std::string_view)>;

  // The sink gets some 64 KiB at a time; no string, key or number is divided, but for base64's.
  explicit JsonStream(Sink sink, int indent = 0) : sink_(std::move(sink)), indent_(indent) {}

  void open_object();
  void open_array();
  void open_list();  // an array that stays on one line: its items are neither arrays nor objects
  void close();      // what was opened last
  void key(std::string_view key);
  void value(const Json& value);
  // Values without a Json for each.
  void integer(Index value);
  void number(double value);
  void number(float value);             // in the fewest digits that read back as the same float
  void base64(std::string_view bytes);  // a string, without ever being one
  // Hands over what is left. To be called once, at the end.
  void finish();

 private:
  struct Level {
    char end;
    bool one_line;
    bool empty = true;
  };

  void open(char begin, char end, bool one_line);
  void begin_value();
  void separate();
  void new_line();
  void write(const Json::Node& node);
  void write_number(double value);
  void write_string(std::string_view value);
  void hand_over_if_full();

  Sink sink_;
  int indent_;
  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace heed
