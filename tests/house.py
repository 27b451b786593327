#!/usr/bin/env python3
"""Fails for a crowded folder, a long source file and a long function.

    tests/house.py ROOT        checks the tree
    tests/house.py --selftest  checks that the check finds what it should

The limits are 30 files, 400 lines and 60 lines. Functions of tests are not counted: a table of cases may be long.
"""
import os
import pathlib
import re
import sys
import tempfile

MOST_FILES = 30
MOST_LINES = 400
MOST_FUNCTION_LINES = 60
SOURCES = {".cc", ".h", ".cu", ".cl", ".inc", ".py", ".cmake", ".sh", ".txt", ".yml", ""}
CPP = {".cc", ".h", ".cu", ".cl", ".inc"}
MADE = {"build", "runs"}  # by building and running, in the root

# Text whose braces and parentheses are not code.
NOT_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/                      # comments
    |R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"                        # raw strings
    |"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'       # strings, characters, not 1'000
    |^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*                               # preprocessor lines""",
                      re.DOTALL | re.MULTILINE | re.VERBOSE)
TEMPLATE = re.compile(r"\btemplate\s*<[^>]*>")
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")


def code_of(text):
    """The text with all that is not code blanked, so that lines keep their numbers."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def functions(text):
    """(first line, lines) of every function, from its signature to its last brace, with the lambdas in it."""
    code = code_of(text)
    open_ = []  # of each open brace: where its function begins, else what it is
    head = 0    # where the text before the next brace begins
    for match in re.finditer(r"[;{}]", code):
        at = match.start()
        if match[0] == "{":
            before = TEMPLATE.sub("", code[head:at])
            if any(kind != "scope" for kind in open_):
                open_.append("inner")
            elif "(" in before and (before.rstrip().endswith(")") or not SCOPE.search(before.split("(")[0])):
                open_.append(at - len(code[head:at].lstrip()))
            else:
                open_.append("scope" if SCOPE.search(before) else "inner")
        elif match[0] == "}" and open_:
            begin = open_.pop()
            if isinstance(begin, int):
                yield code.count("\n", 0, begin) + 1, code.count("\n", begin, at) + 1
        head = at + 1
    if open_:
        yield code.count("\n", 0, len(code)), MOST_FUNCTION_LINES + 1  # an open brace hides what follows


def folders(root):
    """Every folder with the files in it, without what is hidden or made."""
    for folder, below, files in os.walk(root):
        at_root = pathlib.Path(folder) == root
        below[:] = sorted(name for name in below if name == ".github" or not
                          (name[0] in "._" or at_root and name in MADE))
        yield pathlib.Path(folder), [name for name in files if name[0] != "."]


def violations(root):
    for folder, files in folders(root):
        place = folder.relative_to(root).as_posix()
        if len(files) > MOST_FILES:
            yield f"{place} has {len(files)} files; {MOST_FILES} are the most"
        for name in sorted(files):
            suffix = pathlib.Path(name).suffix
            if suffix not in SOURCES:
                continue
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
            if text.count("\n") > MOST_LINES:
                yield f"{place}/{name} has {text.count(chr(10))} lines; {MOST_LINES} are the most"
            if suffix not in CPP or place.split("/")[0] == "tests":
                continue
            for line, lines in functions(text):
                if lines > MOST_FUNCTION_LINES:
                    yield (f"{place}/{name}:{line}: a function of {lines} lines; "
                           f"{MOST_FUNCTION_LINES} are the most")


def selftest_functions():
    def lengths(text):
        return list(functions(text))

    body = "  x;\n" * 3
    assert lengths("int F(int a) {\n" + body + "}\n") == [(1, 5)]
    assert lengths("namespace n {\n\nclass C : public B<int> {\n public:\n  C(int a)\n      : a_(a) {\n" + body +
                   "  }\n  int a_ = 0;\n};\n}\n") == [(4, 7)]
    assert lengths("void F() {\n  if (x) {\n    y([] { z; });\n  }\n}\nstruct S G(int a) { }\n") == [(1, 5), (6, 1)]
    assert lengths('const char* F() {\n  return "}}}";  // }\n  /* } */ c = \'}\'; n = 1\'000;\n}\n') == [(1, 4)]
    assert lengths('auto F() {\n  return R"x(\n}\n)x";\n}\n') == [(1, 5)]
    assert lengths("#define A { \\\n  {\nconstexpr int kTable[] = {\n" + "1,\n" * 99 + "};\nenum class E { kA };\n") == []
    assert lengths("A kTable[] = {\n" + "  B(1),\n" * 99 + "  {1},\n};\n") == []
    assert lengths("template <class T>\nvoid F() const {\n}\n") == [(1, 3)]
    assert lengths("void F() {\n")[0][1] > MOST_FUNCTION_LINES


def selftest():
    selftest_functions()
    with tempfile.TemporaryDirectory() as made:
        root = pathlib.Path(made)
        for folder in ("a/b", "build", ".hidden", "tests"):
            (root / folder).mkdir(parents=True)
        for i in range(MOST_FILES):
            (root / "a/b" / f"{i}.cc").write_text("\n" * MOST_LINES)
        for folder in ("build", ".hidden"):
            (root / folder / "long.cc").write_text("\n" * 2 * MOST_LINES)
        (root / "data.csv").write_text("\n" * 2 * MOST_LINES)
        longest = "void F() {\n" + "\n" * (MOST_FUNCTION_LINES - 2) + "}\n"
        (root / "function.cc").write_text(longest)
        assert not list(violations(root))
        (root / "a/b/one_more.h").touch()
        assert list(violations(root)) == ["a/b has 31 files; 30 are the most"]
        (root / "a/b/one_more.h").unlink()
        (root / "a/b/0.cc").write_text("\n" * (MOST_LINES + 1))
        assert list(violations(root)) == ["a/b/0.cc has 401 lines; 400 are the most"]
        (root / "a/b/0.cc").write_text("\n" + longest.replace("{", "{\n"))
        (root / "tests/test.cc").write_text(longest.replace("{", "{\n"))
        assert list(violations(root)) == ["a/b/0.cc:2: a function of 61 lines; 60 are the most"]


def main():
    if sys.argv[1] == "--selftest":
        return selftest()
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "no folder is crowded, no source file and no function is long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
