#!/usr/bin/env python3
"""Fails if a class that a checkpoint keeps has a member that the checkpoint leaves out.

    tests/state.py ROOT        checks the tree
    tests/state.py --selftest  checks that the check can fail

Every data member must be kept, or be named in a comment "not state: a_, b_" in the class:
- of a class with a VisitState, an algorithm and a scheduler: it stands in the text of a VisitState,
- of an optimiser and its parts: it stands in a function that saves and in one that loads,
- of a worker and of what it keeps for synchronous rounds: it stands in a function that saves,
- of a struct in BY_HAND: it stands in the code that writes the struct and in the code that reads it.

What else src/runtime/store and src/runtime/workers hold belongs to one task or is the model itself. The records of a
sweep and of a queue are no checkpoints: tests resume from them.
"""
import pathlib
import re
import sys

FOLDERS = ["algorithms", "datasets", "src/core", "src/nn", "src/runtime/control", "src/runtime/workers"]
CLASS = re.compile(r"^(?: {2,4})?(?:class|struct)\s+(\w+)[^;{]*\{", re.MULTILINE)
NOT_STATE = re.compile(r"not state: ((?:.*\n\s*//)*.*)")
HOLDS_STATE = re.compile(r":\s*public\s+(?:Algorithm|Scheduler)\b")
OPTIMIZER = re.compile(r":\s*public\s+\w*Optimizer\b|^\s*class (?:LazyRows|StateMemory)\b")
WORKER = re.compile(r":\s*public\s+DeviceWorker\b|^\s*class (?:DeviceWorker|SyncUpdate)\b")
WORKER_SAVES = r"\b(?:SaveOptimizer|SaveTo)\([^)]*\)[^;{]*\{"
SAVES = r"\b(?:Save|SaveTo|Arrays|last_touched)\([^)]*\)[^;{]*\{"
LOADS = r"\b(?:Load|Arrays)\([^)]*\)[^;{]*\{"
NO_MEMBER = re.compile(r"(?:return|using|friend|static|constexpr|virtual|explicit|struct|class|enum|union|template|"
                       r"typedef)\b")
CHECKPOINT = "src/training/checkpoint/checkpoint_file.cc"
# (header, struct): functions and classes that write it, and that read it, in a source file.
BY_HAND = {
    ("src/runtime/store/job_memory.h", "SavedWorker"):
        (CHECKPOINT, r"\bvoid WriteCheckpoint\(.*?\) \{", r"\bvoid VisitCounts\(.*?\) \{|^Checkpoint ReadCheckpoint\(.*?\) \{"),
    ("src/nn/optimizer.h", "OptimizerState"): (CHECKPOINT, r"\bclass Writer \{", r"\bclass Reader \{"),
    ("src/training/checkpoint/checkpoint_file.h", "Checkpoint"):
        (CHECKPOINT, r"\bvoid WriteCheckpoint\(.*?\) \{", r"^Checkpoint ReadCheckpoint\(.*?\) \{"),
    ("src/training/checkpoint/checkpoint_file.h", "CheckpointTexts"):
        (CHECKPOINT, r"\bclass Writer \{", r"^Checkpoint ReadCheckpoint\(.*?\) \{"),
}


def body_at(text, brace):
    """The text between a brace and the one that closes it."""
    depth = 0
    for i in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[brace + 1:i]
    return text[brace + 1:]


def bodies(pattern, text):
    """The bodies of all functions or classes that a pattern, which ends with a brace, finds."""
    found = re.finditer(pattern, text, re.MULTILINE | re.DOTALL)
    return "\n".join(body_at(text, match.end() - 1) for match in found)


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


def statements(text):
    """The declarations of a class. A brace that no comma follows ends one, as that of a function does."""
    for statement in text.split(";"):
        parts = [""]
        for piece in statement.split("{}"):
            if piece.strip() == "" or piece.lstrip().startswith(",") or parts == [""]:
                parts[-1] += piece
            else:
                parts.append(piece)
        yield from parts


def members(body):
    """The names of the data members of a class, in the order of their declarations."""
    plain = without_bodies(re.sub(r"//.*", "", body))
    plain = re.sub(r"\b(?:public|private|protected)\s*:|\[\[.*?\]\]|\balignas\([^)]*\)", " ", plain)
    for statement in statements(plain):
        statement = statement.strip()
        while re.search(r"<[^<>]*>", statement):  # arguments of templates hold commas and brackets
            statement = re.sub(r"<[^<>]*>", " ", statement)
        if not statement or NO_MEMBER.match(statement) or "operator" in statement or "(" in statement.split("=")[0]:
            continue
        for i, declarator in enumerate(re.sub(r"\([^()]*\)", "", statement).split(",")):
            name = re.search(r"(\w+)(?:\s*\[[^\]]*\])*\s*(?::\s*\d+\s*)?$", declarator.split("=")[0].strip())
            # An initialiser such as {1, 2} is gone; what is left after a comma must look like a name.
            if name and (i > 0 or re.search(r"[\s&*]$", declarator[:max(0, declarator.find(name.group(1), 1))])):
                yield name.group(1)


def stands_in(member, text):
    return re.search(rf"\b{member}\b", text) is not None


def check(header, source):
    """Complaints about the classes of a header (or source file) and the file beside it."""
    for found in CLASS.finditer(header):
        name, body = found.group(1), body_at(header, found.end() - 1)
        excused = " ".join(NOT_STATE.findall(body))
        left = [member for member in members(body) if not stands_in(member, excused)]
        if "VisitState(StateVisitor" in without_bodies(body) or HOLDS_STATE.search(found.group(0)):
            visited = bodies(rf"{name}::VisitState\([^)]*\)\s*\{{", source) + bodies(r"VisitState\([^)]*\)[^;{]*\{", body)
            for member in left:
                if not stands_in(member, visited):
                    yield f"{name}::{member} is neither visited nor named in 'not state:'"
        elif OPTIMIZER.search(found.group(0)):
            for member in left:
                if not stands_in(member, bodies(SAVES, body)) or not stands_in(member, bodies(LOADS, body)):
                    yield f"{name}::{member} is neither saved and loaded nor named in 'not state:'"
        elif WORKER.search(found.group(0)):
            saved = bodies(WORKER_SAVES, body) + bodies(rf"{name}::SaveTo\([^)]*\) \{{", source)
            for member in left:
                if not stands_in(member, saved):
                    yield f"{name}::{member} is neither saved nor named in 'not state:'"


def check_by_hand(name, header, source, writes, reads):
    """Complaints about a struct whose members are listed by hand where it is written and read."""
    body = bodies(rf"^struct {name} \{{", header)
    listed = list(members(body))
    if not listed:
        yield f"{name} is not found: has it been renamed?"
    for member in listed:
        for verb, pattern in (("written", writes), ("read", reads)):
            if not stands_in(member, bodies(pattern, source)) and not stands_in(member, " ".join(NOT_STATE.findall(body))):
                yield f"{name}::{member} is not {verb}"


def check_tree(root):
    complaints, classes, optimizers, workers = [], 0, 0, 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            text = path.read_text(encoding="utf-8")
            beside = path.with_suffix(".cc")
            source = beside.read_text(encoding="utf-8") if beside.exists() else ""
            classes += text.count("VisitState(StateVisitor")
            optimizers += sum(bool(OPTIMIZER.search(found.group(0))) for found in CLASS.finditer(text))
            workers += sum(bool(WORKER.search(found.group(0))) for found in CLASS.finditer(text))
            complaints += [f"{path.relative_to(root)}: {what}" for what in check(text, source)]
    for (header, name), (source, writes, reads) in BY_HAND.items():
        texts = [(root / path).read_text(encoding="utf-8") for path in (header, source)]
        complaints += [f"{header}: {what}" for what in check_by_hand(name, *texts, writes, reads)]
    if classes < 10:
        complaints.append(f"only {classes} VisitState found: has it been renamed?")
    if optimizers < 6:
        complaints.append(f"only {optimizers} optimisers found: have they been renamed?")
    if workers < 5:
        complaints.append(f"only {workers} workers found: have they been renamed?")
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
    for hidden in ("std::map<int, double> c_;", "int b_ = 0, c_ = 1;", "int c_[4];", "int a_[2] = {1, 2}, c_[2][3];",
                   "std::array<int, 2> c_{};", "bool c_ : 1;", "alignas(64) int c_ = Make(1, 2);",
                   "void F() {}\n  int c_;", "std::function<void(int, int)> c_;", "const char* c_ = nullptr;"):
        bad = good.replace("  int a_ = 0;", "  int a_ = 0;\n  " + hidden)
        assert list(check(bad, "")) == ["Job::c_ is neither visited nor named in 'not state:'"], (hidden, list(check(bad, "")))
    for none in ("int F(int c_) const;", "using C = int;", "static constexpr int c_ = 1;", "Job() : a_(1) {}",
                 "explicit Job(int c) : a_{c}, b_{} {}", "struct Part {\n    int c_;\n  };"):
        other = good.replace("  int a_ = 0;", "  int a_ = 0;\n  " + none)
        assert not list(check(other, "")), (none, list(check(other, "")))
    assert list(check(good.replace("// not state: b_", ""), ""))
    algorithm = "class Fixed : public Algorithm {\n  int rows_ = 1;\n};\n"
    assert list(check(algorithm, "")) == ["Fixed::rows_ is neither visited nor named in 'not state:'"]
    optimizer = """class Adam : public Optimizer {
  OptimizerState Save() override { return {.layers = mean_}; }
  void Load(const OptimizerState& state) override { mean_ = state.layers; }
  std::vector<float> mean_;
};
"""
    assert not list(check(optimizer, "")), list(check(optimizer, ""))
    for bad in (optimizer.replace("mean_;\n}", "mean_, square_;\n}"), optimizer.replace(" mean_ = state.layers; ", "")):
        assert len(list(check(bad, ""))) == 1, list(check(bad, ""))
    worker = """class GpuWorker : public DeviceWorker {
  void SaveOptimizer(SavedWorker& saved) override { saved.updates = updates_; }
  std::int64_t updates_ = 0;
};
"""
    assert not list(check(worker, "")), list(check(worker, ""))
    left_out = worker.replace("};", "  int steps_ = 0;\n};")
    assert list(check(left_out, "")) == ["GpuWorker::steps_ is neither saved nor named in 'not state:'"]
    assert list(check("class SyncUpdate {\n  int slice_;\n};\n", "")), "it has no SaveTo"
    assert not list(check("class SyncUpdate {\n  int slice_;\n};\n", "void SyncUpdate::SaveTo(S& s) {\n  s = slice_;\n}\n"))
    saved = "struct Saved {\n  int a = 0;\n  int b = 0;\n};\n"
    source = "void Write(S s) {\n  s.a, s.b;\n}\nS Read() {\n  s.a, s.b;\n}\n"
    patterns = r"^void Write\(.*?\) \{", r"^S Read\(\) \{"
    assert not list(check_by_hand("Saved", saved, source, *patterns))
    assert list(check_by_hand("Saved", saved, source.replace("s.b;", "", 1), *patterns)) == ["Saved::b is not written"]
    assert list(check_by_hand("Other", saved, source, *patterns))


if __name__ == "__main__":
    if sys.argv[1:] == ["--selftest"]:
        selftest()
        sys.exit(0)
    complaints_found = check_tree(pathlib.Path(sys.argv[1]))
    print("\n".join(complaints_found) or "all state is in the checkpoint")
    sys.exit(1 if complaints_found else 0)
