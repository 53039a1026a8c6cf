#!/usr/bin/env python3
"""make_cases.py [--check]: what Jinja2 makes of templates.py, in the environment that Hugging Face's transformers have for templates of
chats, into cases.json, one case a line: the template, and its text, or what it is refused with. heed is held to that by
heed/text/chat_template_cases_test.cc. --check compares instead, and exits 1, naming each difference; it exits 77, saying so, where Python has no
Jinja2 (Debian: python3-jinja2)."""

import json
import pathlib
import sys

sys.dont_write_bytecode = True

try:
    import jinja2
    import jinja2.ext
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    print("skipped: this Python has no Jinja2 (Debian: python3-jinja2, which script/setup installs)")
    sys.exit(77)

import templates

CASES = pathlib.Path(__file__).resolve().parent / "cases.json"


class Generation(jinja2.ext.Extension):
    """The tag around what an assistant says, which training asks for: nothing otherwise."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("passage"), [], [], body).set_lineno(line)

    def passage(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    return made


def cases():
    jinja = environment()
    for template in [f"{{{{ {expression} }}}}" for expression in templates.EXPRESSIONS.strip("\n").split("\n")] + templates.STATEMENTS:
        try:
            yield {"template": template, "text": jinja.from_string(template).render(**templates.NAMES)}
        except Exception as error:  # whatever a template makes Python raise is a refusal
            yield {"template": template, "refused": f"{type(error).__name__}: {error}"}


def written():
    lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases())
    return f'{{"names": {json.dumps(templates.NAMES, ensure_ascii=False)},\n "cases": [\n{lines}\n]}}\n'


def outcome(case):
    """Of a refusal only that it is one: others have other words for it."""
    return (case["template"], case.get("text"))


def main():
    if sys.argv[1:] != ["--check"]:
        CASES.write_text(written(), encoding="utf-8")
        return 0
    there = json.loads(CASES.read_text(encoding="utf-8"))
    made = json.loads(written())
    differences = [case for case, other in zip(made["cases"], there["cases"]) if outcome(case) != outcome(other)]
    for case in differences:
        print(f"Jinja2 {jinja2.__version__} makes something else of {case}")
    alike = made["names"] == there["names"] and len(made["cases"]) == len(there["cases"]) and not differences
    print(f"{len(made['cases'])} cases, {len(differences)} differences")
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
