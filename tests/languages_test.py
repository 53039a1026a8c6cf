#!/usr/bin/env python3
"""languages_test.py HEED: each page that is there in Chinese (X.zh.md beside X.md) has the commands, code, figures and links of the
English one, in the same order, and what `heed explain` is said to print on a page is what it prints.

Code is the same but for comments and `--language zh`; of output (```text) the figures are. Figures of the text may be in another order
within a paragraph or row, as the other language has it. Exits 1, naming each place where the pages differ."""

import difflib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMENT = re.compile(r"\s*(?:(?<![:\w])//|(?<=\s)#\s|^#\s).*$")


def blocks(text):
    """Splits a page into ("code", language, lines) and ("text", kind, line), where kind is heading, row or paragraph."""
    lines, at = text.splitlines(), 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = lines.index("```", at + 1)
            yield "code", line[3:], lines[at + 1 : end]
            at = end + 1
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield "code", "", [one[4:] for one in lines[at:end]]
            at = end
        elif not line.strip():
            at += 1
        elif re.match(r"#+ |\|", line):
            yield "text", re.match(r"#+|\|", line).group(), line
            at += 1
        else:  # a paragraph, or an item of a list
            end = at + 1
            while end < len(lines) and lines[end].strip() and not re.match(r"#+ |\||```|- ", lines[end]):
                end += 1
            yield "text", "- " if line.startswith("- ") else "paragraph", " ".join(lines[at:end])
            at = end


def english_link(target):
    """A link as the English page has it: no page's own translation, and headings are called otherwise."""
    return re.sub(r"\.zh\.md$", ".md", target.split("#")[0])


def is_switch(line):
    """The line that leads to the other language."""
    return re.search(r"\[(English|中文)\]\(", line) is not None


def bare(code):
    return [re.sub(r" --language zh\b", "", COMMENT.sub("", line)).rstrip() for line in code]


def shape(text):
    """What must be the same in both languages, as (place, what) in order."""
    found = []
    for kind, detail, content in blocks(text):
        if kind == "code" and detail == "text":
            found.append(("output", sorted(NUMBER.findall("\n".join(content)))))
        elif kind == "code":
            found.append((f"```{detail}", "\n".join(bare(content)).strip()))
        elif not is_switch(content):
            links = sorted(english_link(target) for target in LINK.findall(content))
            prose = LINK.sub("]", CODE.sub("`", content))
            found.append((detail, (sorted(CODE.findall(content)), sorted(NUMBER.findall(prose)), links)))
    return found


def differences(english, chinese):
    one, other = (shape(page.read_text(encoding="utf-8")) for page in (english, chinese))
    matcher = difflib.SequenceMatcher(None, [repr(part) for part in one], [repr(part) for part in other], autojunk=False)
    for change, first, last, first_there, last_there in matcher.get_opcodes():
        if change == "equal":
            continue
        for page, parts in ((english, one[first:last]), (chinese, other[first_there:last_there])):
            told = "; ".join(f"{kind} {what}" for kind, what in parts)
            yield f"{page.name} has {told or 'nothing'}, where they differ"


def unprinted(heed, page):
    """Runs every `heed explain` of the page, and yields the outputs on it that they do not print."""
    shown, last = 0, None
    with tempfile.TemporaryDirectory() as folder:
        for kind, detail, content in blocks(page.read_text(encoding="utf-8")):
            if kind == "code" and detail == "text" and last:
                command, printed = last
                shown += 1
                for step in "\n".join(content).split("\n\n\n"):
                    for part in re.split(r"\n\n(?=\d+\. )", step):
                        if f"\n{part}\n" not in printed:
                            yield f"{page.name}: `{command}` does not print:\n{part}"
            last = None
            for command in content if kind == "code" and detail == "sh" else []:
                if not command.startswith("heed explain"):
                    continue
                done = subprocess.run([heed, *shlex.split(command)[1:]], capture_output=True, cwd=folder, text=True, encoding="utf-8")
                if done.returncode != 0:
                    yield f"{page.name}: `{command}` fails: {done.stderr}"
                last = command, done.stdout
    if not shown and page.name.startswith("learn"):
        yield f"{page.name}: has no output of heed explain"


def main(heed):
    pages = [page for page in sorted([*ROOT.glob("*.zh.md"), *ROOT.glob("docs/*.zh.md")])]
    found = []
    for chinese in pages:
        english = chinese.with_name(chinese.name.replace(".zh.md", ".md"))
        if not english.exists():
            found.append(f"{chinese.name}: there is no {english.name}")
            continue
        found += differences(english, chinese)
        for page, other in ((english, chinese), (chinese, english)):
            found += unprinted(heed, page)
            if f"]({other.name})" not in page.read_text(encoding="utf-8"):
                found.append(f"{page.name}: has no link to {other.name}")
    for name in ("README", "docs/attention", "docs/figures", "docs/learn"):
        if not (ROOT / f"{name}.zh.md").exists():
            found.append(f"there is no {name}.zh.md")
    print("\n".join(found))
    print(f"{len(pages)} pages in two languages, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
