#!/usr/bin/env python3
"""Fails if a class with a VisitState has a member that a checkpoint leaves out.

    tests/state.py ROOT        checks the tree
    tests/state.py --selftest  checks that the check can fail

Every data member of such a class must be visited (it stands in the text of a VisitState), or be named
in a comment "not state: a_, b_" in the class. An algorithm, scheduler or optimiser with members of its own must
have a VisitState, or name all of them.
"""
import pathlib
import re
import sys

FOLDERS = ["algorithms", "datasets", "src/core", "src/nn", "src/runtime/control"]
MEMBER = re.compile(r"^ {2,6}(?! |return\b|using\b|friend\b|static\b|virtual\b|explicit\b|struct\b|class\b|enum\b)"
                    r"[\w:<>, *&]+?[ &*>](\w+)(?:\s*=\s*[^;(]+|\s*\{[^}]*\})?;", re.MULTILINE)
CLASS = re.compile(r"^(?: {2,4})?(?:class|struct)\s+(\w+)[^;{]*\{", re.MULTILINE)
NOT_STATE = re.compile(r"not state: ((?:.*\n\s*//)*.*)")
HOLDS_STATE = re.compile(r":\s*public\s+(?:Algorithm|Scheduler)\b")


def body_at(text, brace):
    """The text between a brace and the one that closes it."""
    depth = 0
    for i in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[brace + 1:i]
    return text[brace + 1:]


def visits_of(name, text, source):
    """The bodies of VisitState of a class, in the class or in its source file."""
    bodies = []
    pattern = rf"{name}::VisitState\([^)]*\)\s*\{{"
    for found in re.finditer(pattern, source):
        bodies.append(body_at(source, found.end() - 1))
    for found in re.finditer(r"VisitState\([^)]*\)[^;{]*\{", text):
        bodies.append(body_at(text, found.end() - 1))
    return "\n".join(bodies)


def without_bodies(text):
    """A class without the bodies of its functions and nested types."""
    out, depth = [], 0
    for i, character in enumerate(text):
        if character == "{":
            depth += 1
        if depth == 0:
            out.append(character)
        if character == "}":
            depth -= 1
            if depth == 0:
                out.append("{}")
    return "".join(out)


def check(header, source):
    """Complaints about the classes of a header (or source file) and the file beside it."""
    for found in CLASS.finditer(header):
        name, body = found.group(1), body_at(header, found.end() - 1)
        declared = "VisitState(StateVisitor" in without_bodies(body)
        must = HOLDS_STATE.search(found.group(0))
        if not declared and not must:
            continue
        visited = visits_of(name, body, source)
        excused = " ".join(NOT_STATE.findall(body))
        plain = re.sub(r"//.*", "", without_bodies(body))
        for member in MEMBER.findall(plain):
            if not re.search(rf"\b{member}\b", visited) and not re.search(rf"\b{member}\b", excused):
                yield f"{name}::{member} is neither visited nor named in 'not state:'"


def check_tree(root):
    complaints, classes = [], 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            text = path.read_text(encoding="utf-8")
            beside = path.with_suffix(".cc")
            source = beside.read_text(encoding="utf-8") if beside.exists() else ""
            classes += text.count("VisitState(StateVisitor")
            complaints += [f"{path.relative_to(root)}: {what}" for what in check(text, source)]
    if classes < 10:
        complaints.append(f"only {classes} VisitState found: has it been renamed?")
    return complaints


def selftest():
    good = """class Job {
 public:
  void VisitState(StateVisitor& visitor) { Visit(visitor, "a", a_); }
 private:
  // not state: b_
  int a_ = 0;
  std::vector<int> b_;
};
"""
    assert not list(check(good, "")), list(check(good, ""))
    bad = good.replace("  int a_ = 0;", "  int a_ = 0;\n  std::map<int, double> c_;")
    assert list(check(bad, "")) == ["Job::c_ is neither visited nor named in 'not state:'"]
    assert list(check(good.replace("// not state: b_", ""), ""))
    algorithm = "class Fixed : public Algorithm {\n  int rows_ = 1;\n};\n"
    assert list(check(algorithm, "")) == ["Fixed::rows_ is neither visited nor named in 'not state:'"]


if __name__ == "__main__":
    if sys.argv[1:] == ["--selftest"]:
        selftest()
        sys.exit(0)
    found = check_tree(pathlib.Path(sys.argv[1]))
    print("\n".join(found) or "all state is in the checkpoint")
    sys.exit(1 if found else 0)
