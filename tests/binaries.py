#!/usr/bin/env python3
"""Fails for a program or library that makes an attack easier: one that the loader looks for beside the current
directory (an empty or relative element in its RUNPATH), or, with --hardened, one of ours that is not hardened
(position-independent, all tables read-only, no executable stack, stack protector, _FORTIFY_SOURCE).

    tests/binaries.py built BUILD [--hardened]      checks every ELF file of a build tree
    tests/binaries.py installed BUILD [--hardened]  installs it into a temporary folder and checks that
    tests/binaries.py --selftest                    checks that the check finds what it should
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ELEMENT = re.compile(r"(/|\$ORIGIN(/|$)|\$\{ORIGIN\}(/|$))")
DYNAMIC = re.compile(r"\((?:RUNPATH|RPATH)\)\s+Library r(?:un)?path: \[(.*)\]")
FORTIFIED = "_FORTIFY_SOURCE"
# What readelf prints for a hardened file, and what is missing otherwise.
HARDENED = {
    r"Type:\s+DYN ": "position-independent code",
    r"GNU_RELRO ": "RELRO",
    r"\(FLAGS(?:_1)?\).*\b(?:BIND_)?NOW\b": "BIND_NOW",
    r"GNU_STACK .* RW +0": "a stack that is not executable",
    r" UND __stack_chk_fail": "the stack protector",
    r" UND __\w+_chk\b": FORTIFIED,
}


def wrong_elements(printed):
    """Elements of what `readelf -d` printed that depend on the current directory."""
    return [element for path in DYNAMIC.findall(printed) for element in path.split(":")
            if not ELEMENT.match(element)]


def missing(printed, name="hogbatch"):
    """What keeps a file from being hardened. Plug-ins call nothing that _FORTIFY_SOURCE could replace."""
    return [what for pattern, what in HARDENED.items() if not re.search(pattern, printed)
            and not (what == FORTIFIED and name.startswith("libhogbatch_"))]


def elf_files(root):
    for folder, _, names in os.walk(root):
        for path in (pathlib.Path(folder, name) for name in sorted(names)):
            if path.suffix in (".o", ".a") or path.is_symlink():
                continue
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def is_ours(path):
    """The program, its library and its plug-ins; no test, benchmark or library of others."""
    return path.parts[0] not in ("tests", "bench") and re.match(r"(lib)?hogbatch", path.name)


def check(root, hardened):
    files = list(elf_files(root))
    ours = [path for path in files if hardened and is_ours(path.relative_to(root))]
    found = 0
    for path in files:
        printed = subprocess.run(["readelf", "-hldW", "--dyn-syms", path], stdout=subprocess.PIPE, text=True,
                                 check=True, env=os.environ | {"LC_ALL": "C"}).stdout
        problems = [f"RUNPATH has {element!r}, which depends on the current directory"
                    for element in wrong_elements(printed)]
        problems += [f"lacks {what}" for what in missing(printed, path.name)] if path in ours else []
        found += len(problems)
        for problem in problems:
            print(f"{path.relative_to(root)}: {problem}")
    print(f"{len(files)} programs and libraries, {len(ours)} of them to be hardened, {found} problems")
    return 1 if found or not files or (hardened and len(ours) < 2) else 0


def check_installed(build, hardened):
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        return check(pathlib.Path(prefix), hardened)


def selftest():
    line = " 0x000000000000001d (RUNPATH)            Library runpath: [{}]\n"
    rpath = " 0x000000000000000f (RPATH)              Library rpath: [{}]\n"
    assert wrong_elements(line.format("$ORIGIN/..::")) == ["", ""]
    assert wrong_elements(line.format("")) == [""]
    assert wrong_elements(line.format("lib:/usr/lib")) == ["lib"]
    assert wrong_elements(rpath.format("$ORIGINAL/lib")) == ["$ORIGINAL/lib"]
    assert not wrong_elements(line.format("$ORIGIN/../lib:${ORIGIN}:/usr/lib"))
    assert not wrong_elements(" 0x0000000000000001 (NEEDED)  Shared library: [libm.so.6]\n")

    good = ["  Type:                              DYN (Position-Independent Executable file)",
            "  GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RW  0x10",
            "  GNU_RELRO      0x2d9e60 0x00000000002daf60 0x00000000002daf60 0x0091a0 0x0091a0 R   0x1",
            " 0x000000000000001e (FLAGS)              BIND_NOW",
            "    17: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __stack_chk_fail@GLIBC_2.4 (5)",
            "    18: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __memcpy_chk@GLIBC_2.3.4 (6)"]
    assert not missing("\n".join(good))
    for i in range(len(good)):
        assert len(missing("\n".join(good[:i] + good[i + 1:]))) == 1, good[i]
    assert not missing("\n".join(good[:-1]), "libhogbatch_opencl.so")
    assert missing("\n".join(good).replace("DYN", "EXEC")) == ["position-independent code"]
    assert missing("\n".join(good).replace("RW ", "RWE")) == ["a stack that is not executable"]
    assert missing("\n".join(good).replace("BIND_NOW", "TEXTREL")) == ["BIND_NOW"]
    assert is_ours(pathlib.Path("libhogbatch_opencl.so")) and is_ours(pathlib.Path("bin/hogbatch"))
    assert not is_ours(pathlib.Path("tests/cli/libhogbatch_cuda.so"))
    assert not is_ours(pathlib.Path("lib/libdnnl.so.3"))


def main():
    if sys.argv[1] == "--selftest":
        return selftest()
    verbs = {"built": check, "installed": check_installed}
    return verbs[sys.argv[1]](pathlib.Path(sys.argv[2]), "--hardened" in sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
