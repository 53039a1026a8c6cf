#include "heed/text/jinja/template.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"

namespace heed::jinja {
namespace {

std::string rendered(std::string_view source) {
  return Template(source, "place").render([](Run&) { return Template::Names{{"s", Value("text")}}; });
}
std::string refusal_of(std::string_view source) {
  return testing::refusal([&] { rendered(source); });
}
std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// What templates come to is in tests/chat_templates; here is what they are refused for.
TEST(Template, ARefusalNamesThePlaceAndTheLine) {
  EXPECT_EQ(refusal_of("a\n{{ x.y }}"), "place: line 2: 'x' is undefined");
  EXPECT_EQ(refusal_of("{{ s\n+ 1 }}"), "place: line 2: '+' is not for str and int");
  EXPECT_EQ(refusal_of("\n\n{% if s %}"), "place: line 3: the template ends before 'endif'");
  EXPECT_EQ(refusal_of("{{ '\xFF' }}"), "place: line 1: byte 4 of the template is not valid UTF-8");
}

TEST(Template, WhatIsNotKnownIsRefusedByName) {
  EXPECT_NE(refusal_of("{% include 'x' %}").find("the tag 'include'"), std::string::npos);
  EXPECT_NE(refusal_of("{{ s | wordwrap }}").find("the filter 'wordwrap'"), std::string::npos);
  EXPECT_NE(refusal_of("{{ s is odder }}").find("the test 'odder'"), std::string::npos);
  EXPECT_NE(refusal_of("{{ s.casefold() }}").find("no attribute 'casefold'"), std::string::npos);
  EXPECT_NE(refusal_of("{{ open('/etc/passwd') }}").find("'open' is undefined"), std::string::npos);
  EXPECT_NE(refusal_of("{{ s.__class__.x }}").find("out of reach"), std::string::npos);
  EXPECT_NE(refusal_of("{{ [].append(1) }}").find("would change a list"), std::string::npos);
}

TEST(Template, ALoopEnds) {
  const std::string loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  EXPECT_EQ(refusal_of(loops), "place: line 1: the template goes on for more than 10000000 steps");
  EXPECT_NE(refusal_of("{{ range(10 ** 9) }}").find("more than 100000 numbers"), std::string::npos);
}

TEST(Template, ATextIsOnlySoLong) {
  for (const char* source :
       {"{{ s * 10 ** 12 }}", "{{ [s] * 10 ** 12 }}", "{{ '%9999s' % s * 10 ** 6 }}",
        "{% set ns = namespace(x='ab') %}{% for i in range(90) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(90) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(90) %}{% set ns.x = ns.x.replace('a', ns.x) %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(90) %}{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}{% "
        "endfor %}",
        "{% set ns = namespace(x=['ab']) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=['ab']) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x == "
        "[ns.x] }}"
        "{{ ns.x|tojson }}"}) {
    EXPECT_NE(refusal_of(source).find("more than 10000000 steps"), std::string::npos) << source << refusal_of(source);
  }
}

TEST(Template, NumbersHave64Bits) {
  EXPECT_NE(refusal_of("{{ 9 ** 99 }}").find("64 bits"), std::string::npos);
  EXPECT_NE(refusal_of("{{ 9223372036854775807 + 1 }}").find("64 bits"), std::string::npos);
  EXPECT_NE(refusal_of("{{ -9223372036854775807 - 2 }}").find("64 bits"), std::string::npos);
  EXPECT_NE(refusal_of("{{ (-9223372036854775807 - 1) // -1 }}").find("64 bits"), std::string::npos);
  EXPECT_NE(refusal_of("{{ 99999999999999999999 }}").find("64 bits"), std::string::npos);
}

TEST(Template, NothingIsWithinTooMuch) {
  const auto within = [](std::string_view open, std::string_view inner, std::string_view close) {
    return repeated(open, 100'000).append(inner).append(repeated(close, 100'000));
  };
  for (const std::string& source :
       {"{{ " + within("(", "1", ")") + " }}", "{{ " + within("[", "1", "]") + " }}",
        "{{ " + within("{1:", "1", "}") + " }}", "{{ " + within("not ", "1", "") + " }}",
        "{{ " + within("-", "1", "") + " }}", "{{ " + within("", "1", "+1") + " }}",
        "{{ " + within("", "s", ".x") + " }}", "{{ " + within("", "s", "|e") + " }}",
        "{{ " + within("", "s", "[0]") + " }}", "{{ " + within("1 if 1 else ", "1", "") + " }}",
        within("{% if 1 %}", "", "{% endif %}"), within("{% for a in s %}", "", "{% endfor %}")}) {
    EXPECT_NE(refusal_of(source).find("within each other"), std::string::npos) << source.substr(0, 40);
  }
  EXPECT_NE(refusal_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").find("within each other"), std::string::npos);
}

// None of these is deleted by a call within a call for each.
TEST(Template, ValuesAreOnlySoDeep) {
  const std::string loop = "{% for a in range(50000) %}";
  for (const std::string& source :
       {"{% set ns = namespace(x=1) %}" + loop + "{% set ns.x = [ns.x] %}{% endfor %}",
        "{% set ns = namespace(x={}) %}" + loop + "{% set ns.x = {1: ns.x.items} %}{% endfor %}"}) {
    EXPECT_NE(refusal_of(source).find("within each other"), std::string::npos) << source;
  }
  EXPECT_EQ(rendered("{% set ns = namespace(x=1) %}" + loop + "{% set ns.x = namespace(x=ns.x) %}{% endfor %}"), "");
  EXPECT_EQ(
      rendered("{% set ns = namespace(m=1) %}{% macro f(m) %}{% for a in [1] %}{% macro g() %}{% endmacro %}"
               "{% set ns.m = g %}{% endfor %}{% endmacro %}{% for a in range(15000) %}{{ f(ns.m) }}{% endfor %}"),
      "");
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns.x.x.x is defined }}"), "True");
}

TEST(Template, AMacroMayOutliveWhatItStandsIn) {
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% for a in [1, 2] %}{% macro m() %}{{ a }}{% endmacro %}"
                     "{% set ns.m = m %}{% endfor %}{{ ns.m() }}"),
            "2");
}

TEST(Template, TheReasonOfATemplateIsMadeFitForAMessage) {
  EXPECT_EQ(refusal_of("{{ raise_exception('no\\n\\x1b[31m') }}"), "place: line 1: no\\x0a\\x1b[31m");
  EXPECT_EQ(refusal_of("{{ raise_exception() }}"), "place: line 1: ");
}

}  // namespace
}  // namespace heed::jinja
