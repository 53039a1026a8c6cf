// The common templates of chats, in Jinja.
#pragma once

#include <array>
#include <string_view>

namespace heed {

struct NamedChatTemplate {
  std::string_view name, jinja;
};

// What stands before each: roles come in turn, and the last is the user's.
inline constexpr std::string_view kRolesInTurn = R"(
{%- if not messages or messages[-1].role != 'user' -%}
  {{ raise_exception("the last message must be the user's") }}
{%- endif -%}
{%- set first = 1 if messages[0].role == 'system' else 0 -%}
{%- for message in messages[first:] -%}
  {%- set expected = 'assistant' if loop.index0 % 2 else 'user' -%}
  {%- if message.role != expected -%}
    {{ raise_exception("message " ~ (loop.index + first) ~ " must be the " ~ expected ~
                       "'s, and is of the role '" ~ message.role ~ "'") }}
  {%- endif -%}
{%- endfor -%}
)";

inline constexpr std::array<NamedChatTemplate, 8> kNamedChatTemplates = {{
    {"chatml", R"(
{%- for message in messages -%}
  {{ '<|im_start|>' ~ message.role ~ '\n' ~ message.content ~ '<|im_end|>\n' }}
{%- endfor -%}
{{ '<|im_start|>assistant\n' }})"},
    // What was thought for earlier answers is left out.
    {"deepseek", R"(
{{- '<｜begin▁of▁sentence｜>' -}}
{%- for message in messages -%}
  {%- if message.role == 'system' -%}
    {{ message.content }}
  {%- elif message.role == 'user' -%}
    {{ '<｜User｜>' ~ message.content }}
  {%- else -%}
    {{ '<｜Assistant｜>' ~ message.content.split('</think>')[-1] ~ '<｜end▁of▁sentence｜>' }}
  {%- endif -%}
{%- endfor -%}
{{ '<｜Assistant｜>' }})"},
    // There is no system: it stands before what the user says first.
    {"gemma", R"(
{{- '<bos>' -}}
{%- for message in messages[first:] -%}
  {{ '<start_of_turn>' ~ ('model' if message.role == 'assistant' else 'user') ~ '\n' }}
  {{- messages[0].content ~ '\n\n' if first and loop.first }}
  {{- message.content | trim ~ '<end_of_turn>\n' }}
{%- endfor -%}
{{ '<start_of_turn>model\n' }})"},
    {"llama2", R"(
{%- set system = '<<SYS>>\n' ~ messages[0].content ~ '\n<</SYS>>\n\n' if first else '' -%}
{%- for message in messages[first:] -%}
  {%- if message.role == 'user' -%}
    {{ '<s>[INST] ' ~ ((system if loop.first else '') ~ message.content) | trim ~ ' [/INST]' }}
  {%- else -%}
    {{ ' ' ~ message.content | trim ~ ' </s>' }}
  {%- endif -%}
{%- endfor -%})"},
    {"llama3", R"(
{{- '<|begin_of_text|>' -}}
{%- for message in messages -%}
  {{ '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\n\n' ~ message.content | trim ~ '<|eot_id|>' }}
{%- endfor -%}
{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }})"},
    {"mistral", R"(
{{- '<s>' -}}
{%- for message in messages[first:] -%}
  {%- if message.role == 'user' -%}
    {{ '[INST] ' ~ (messages[0].content ~ '\n\n' if first and loop.first) ~ message.content ~ ' [/INST]' }}
  {%- else -%}
    {{ message.content ~ '</s>' }}
  {%- endif -%}
{%- endfor -%})"},
    {"phi3", R"(
{%- for message in messages -%}
  {{ '<|' ~ message.role ~ '|>\n' ~ message.content ~ '<|end|>\n' }}
{%- endfor -%}
{{ '<|assistant|>\n' }})"},
    {"zephyr", R"(
{%- for message in messages -%}
  {{ '<|' ~ message.role ~ '|>\n' ~ message.content ~ '</s>\n' }}
{%- endfor -%}
{{ '<|assistant|>\n' }})"},
}};

}  // namespace heed
