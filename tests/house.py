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
LAMBDA = re.compile(r"""(?:^|[^\w\])\s])\s*\[[^][]*\]\s*                # captures, not a[1]
    (?:\((?:[^()]|\([^()]*\))*\)\s*)?(?:(?:mutable|noexcept)\s*)*(?:->[^;{}=]*)?$""", re.VERBOSE)
MEMBERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")  # what a constructor initialises
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")


def code_of(text):
    """The text with all that is not code blanked, so that lines keep their numbers."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def kind_of(before, around, parentheses):
    """What a brace opens: a function, with a lambda, a scope, a part of a declaration, or what is inside of those."""
    if "function" in around:
        return "inner"
    if LAMBDA.search(before):
        return "function"
    if parentheses > 0:
        return "part"  # of a signature: a default
    if "inner" in around or "part" in around:
        return "inner"
    before = TEMPLATE.sub("", before)
    if "(" not in before:
        return "scope" if SCOPE.search(before) else "inner"
    if MEMBERS.search(before) and re.search(r"[\w>]\s*$", before):
        return "part"  # a member's initialiser
    if before.rstrip().endswith(")") or not SCOPE.search(before.split("(")[0]):
        return "function"
    return "scope"


def functions(text):
    """(first line, lines) of every function, from its signature to its last brace, with the lambdas in it."""
    code = code_of(text)
    open_ = []  # of each open brace: its kind, where what it belongs to begins, and the parentheses open around it
    head, parentheses = 0, 0
    for match in re.finditer(r"[;{}()]", code):
        at = match.start()
        if match[0] in "()":
            parentheses += 1 if match[0] == "(" else -1
        elif match[0] == "{":
            kind = kind_of(code[head:at], [kind for kind, _, _ in open_], parentheses)
            open_.append((kind, head, parentheses))
            head, parentheses = at + 1, 0
        elif match[0] == "}" and open_:
            kind, begin, parentheses = open_.pop()
            if kind == "function":
                first = at - len(code[begin:at].lstrip())
                yield code.count("\n", 0, first) + 1, code.count("\n", first, at) + 1
            head = begin if kind == "part" or parentheses > 0 else at + 1
        elif parentheses == 0:
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
    assert lengths("int F(const A& a = {}, B b = {.c = 1}) {\n" + body + "}\n") == [(1, 5)]
    assert lengths("class C {\n  C(int a) : a_{a}, b_(a), c_{{a}, 1} {\n" + body + "  }\n};\n") == [(2, 5)]
    assert lengths("C::C(std::vector<int> a)\n    : B<int>{a}, a_{a} {}\nint F() {}\n") == [(1, 2), (3, 1)]
    assert lengths("const auto kF = [] {\n" + body + "};\nconst auto kG = [](int a = F()) -> A<int> {\n" + body +
                   "};\n") == [(1, 5), (6, 5)]
    assert lengths("A kTable[] = {\n  {1, [](int a) {\n" + body + "  }},\n  {2},\n};\nint F() {}\n") == [
        (2, 5), (9, 1)]
    assert lengths("const A kA = Made([] {\n" + body + "});\nint F() {\n}\n") == [(1, 5), (6, 2)]
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
