"""What all baselines share: the run file, the clock, the stop rule, the records and the exit codes.

    python NAME.py RUN.json    one run; writes metrics.jsonl and summary.json into the run's folder
    python NAME.py --list      what the baseline can do, as JSON

docs/comparison.md describes the files. This module imports neither numpy nor a framework: threads are
limited before they start, and --list answers at once.
"""
import dataclasses
import importlib.metadata
import json
import math
import os
import resource
import signal
import sys
import time
import traceback

EXIT_FAILED, EXIT_MISSING, EXIT_IMPOSSIBLE, EXIT_INTERRUPTED = 1, 3, 4, 130
FORMAT = 1
SEGMENT_SECONDS = 0.25  # of training between two looks at the clock


class Impossible(Exception):
    """This data, or this combination of settings, is beyond the baseline."""


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    inputs: tuple = ("dense", "sparse")
    losses: tuple = ("softmax", "sigmoid", "squared")
    optimizers: tuple = ("sgd", "adam")


@dataclasses.dataclass(frozen=True)
class Baseline:
    name: str
    distributions: tuple  # of which one must be installed
    framework: str  # as scripts/baselines calls it
    variants: tuple
    run: callable  # (Run, Session) -> None
    keeps_remainder: bool = False  # trains on the last, smaller batch of an epoch

    def version(self):
        """Of the framework; None if it is not installed."""
        for name in self.distributions:
            try:
                return importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        return None

    @property
    def install(self):
        """The command that installs the framework; an installed program has it beside this file."""
        beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "install")
        return f"{beside if os.path.exists(beside) else 'scripts/baselines'} {self.framework}"


@dataclasses.dataclass(frozen=True)
class Run:
    """RUN.json. `max_seconds` counts training alone."""
    export: str
    initial: str
    out: str
    variant: str
    batch: int
    lr: float
    optimizer: str = "sgd"
    momentum: float = 0.0
    threads: int = 1
    device: str = "auto"
    epochs: float = 5.0
    max_seconds: float = None
    target_loss: float = None
    target_on: str = "valid"
    eval_every: float = None  # epochs; None: at the start and at the end only
    seed: int = 1
    first_layer: str = "auto"  # of sparse rows: auto, dense or sparse

    @staticmethod
    def load(path):
        with open(path, encoding="utf-8") as file:
            settings = json.load(file)
        if settings.pop("format", None) != FORMAT:
            raise ValueError(f"{path}: this program reads format {FORMAT} only")
        known = {field.name for field in dataclasses.fields(Run)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise ValueError(f"{path}: unknown keys {', '.join(unknown)}")
        return Run(**settings)


def since_process_start():
    """Seconds since this process began, the interpreter's start included."""
    with open("/proc/self/stat", encoding="ascii") as file:
        started = int(file.read().rsplit(")", 1)[1].split()[19])
    with open("/proc/uptime", encoding="ascii") as file:
        return float(file.read().split()[0]) - started / os.sysconf("SC_CLK_TCK")


def write_whole(path, text):
    """The old file or the whole new one, never a part."""
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def finite(values):
    """Without what is not a finite number: such a key is left out, as hogbatch does."""
    return {key: value for key, value in values.items()
            if not isinstance(value, float) or math.isfinite(value)}


class Session:
    """One run: counts what was trained, decides when to evaluate and to stop, and writes the records."""

    def __init__(self, run, rows):
        self.run = run
        self.rows = rows  # that an epoch trains
        self.examples = self.updates = 0
        self.train_seconds = self.train_cpu_seconds = self.compile_seconds = 0.0
        self.startup_seconds = None
        self.seconds_to_target = None
        self.best = {}  # the evaluation with the lowest validation loss
        self.stopped = None
        self.interrupted = False
        self.facts = {}  # of the trainer, for the summary
        self.child_bytes = 0
        self._began = None
        self._last_line = (0, 0.0)
        self._evaluated_at = None
        self._next_evaluation = None if run.eval_every is None else run.eval_every * rows
        os.makedirs(run.out, exist_ok=True)
        self._metrics = open(os.path.join(run.out, "metrics.jsonl"), "w", encoding="utf-8")

    def ready(self):
        """Start-up is over."""
        self.startup_seconds = since_process_start()

    def compiled(self, seconds):
        self.compile_seconds = seconds
        self._began = time.perf_counter()

    @property
    def goal(self):
        """Rows to train in all."""
        return round(self.run.epochs * self.rows)

    @property
    def epoch(self):
        return self.examples / self.rows

    def rows_to_pause(self):
        """How many rows may be trained before the session wants to look again. At least one batch."""
        wanted = self.goal - self.examples
        if self._next_evaluation is not None:
            wanted = min(wanted, self._next_evaluation - self.examples)
        seconds = SEGMENT_SECONDS
        if self.run.max_seconds is not None:
            seconds = min(seconds, self.run.max_seconds - self.train_seconds)
        if self.train_seconds > 0:
            wanted = min(wanted, seconds * self.examples / self.train_seconds)
        else:
            wanted = min(wanted, 16 * self.run.batch)
        return max(1, math.ceil(wanted / self.run.batch)) * self.run.batch

    def trained(self, rows, updates, seconds, cpu_seconds=0.0):
        self.examples += rows
        self.updates += updates
        self.train_seconds += seconds
        self.train_cpu_seconds += cpu_seconds
        if self.interrupted:
            self.stopped = "interrupted"
        elif self.examples >= self.goal:
            self.stopped = "epochs"
        elif self.run.max_seconds is not None and self.train_seconds >= self.run.max_seconds:
            self.stopped = "max_time"

    def wants_evaluation(self):
        if self.stopped:
            return self._evaluated_at != self.examples
        return self._next_evaluation is not None and self.examples >= self._next_evaluation

    def evaluated(self, values):
        """`values`: train_loss, valid_loss and so on at this moment."""
        while self._next_evaluation is not None and self._next_evaluation <= self.examples:
            self._next_evaluation += self.run.eval_every * self.rows
        self._evaluated_at = self.examples
        self._write_line(values)
        if not all(math.isfinite(value) for key, value in values.items() if key.endswith("_loss")):
            self.stopped = self.stopped or "diverged"
            return
        key = "valid_loss" if "valid_loss" in values else "train_loss"
        if values[key] <= self.best.get(key, math.inf):
            self.best = dict(values, best_epoch=self.epoch)
        loss = values.get(f"{self.run.target_on}_loss")
        if self.run.target_loss is not None and loss is not None and loss <= self.run.target_loss:
            if self.seconds_to_target is None:
                self.seconds_to_target = self.train_seconds
            self.stopped = "target_loss"

    def _write_line(self, values):
        examples, seconds = self._last_line
        line = {"seconds": time.perf_counter() - self._began, "train_seconds": self.train_seconds,
                "epoch": self.epoch, "examples": self.examples, "updates": self.updates, **values}
        if self.train_seconds > seconds:
            line["examples_per_second"] = (self.examples - examples) / (self.train_seconds - seconds)
        self._last_line = (self.examples, self.train_seconds)
        self._metrics.write(json.dumps(finite(line)) + "\n")
        self._metrics.flush()

    def close(self):
        self._metrics.close()

    def summary(self, baseline):
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        cpu = sum(usage.ru_utime + usage.ru_stime for usage in (own, children))
        result = {"format": FORMAT, "name": baseline.name, "variant": self.run.variant,
                  "version": baseline.version(), "device": "cpu", "threads": self.run.threads,
                  "batch": self.run.batch, "lr": self.run.lr, "optimizer": self.run.optimizer,
                  "startup_seconds": self.startup_seconds, "compile_seconds": self.compile_seconds,
                  "train_seconds": self.train_seconds, "examples": self.examples,
                  "updates": self.updates, "epoch": self.epoch,
                  "peak_memory_bytes": own.ru_maxrss * 1024 + self.child_bytes, "cpu_seconds": cpu,
                  "train_cpu_seconds": self.train_cpu_seconds,
                  "seconds_to_target": self.seconds_to_target, "stopped_because": self.stopped}
        if self.train_seconds > 0:
            result["examples_per_second"] = self.examples / self.train_seconds
        return finite({**result, **self.facts, **self.best})


def train(session, trainer, evaluate, orders):
    """Trains until the session stops. `orders` yields the rows of each epoch in their order; `evaluate`
    returns the losses of the present weights. trainer.train(begin, end) trains whole batches of that
    order and returns the processor seconds of other processes, if any."""
    began = time.perf_counter()
    trainer.warm_up()
    session.compiled(time.perf_counter() - began)
    session.evaluated(evaluate())
    if session.goal == 0:
        session.trained(0, 0, 0.0)
    while not session.stopped:
        _train_epoch(session, trainer, evaluate, orders)


def _train_epoch(session, trainer, evaluate, orders):
    position, batch = 0, session.run.batch
    shuffling = time.perf_counter()
    trainer.begin_epoch(next(orders))
    shuffling = time.perf_counter() - shuffling
    while position < session.rows and not session.stopped:
        end = min(session.rows, position + session.rows_to_pause())
        cpu, began = time.process_time(), time.perf_counter()
        of_children = trainer.train(position, end) or 0.0
        seconds = time.perf_counter() - began + shuffling
        cpu = time.process_time() - cpu + of_children
        session.trained(end - position, (end - position) // batch, seconds, cpu)
        position, shuffling = end, 0.0
        if session.wants_evaluation():
            session.evaluated(evaluate())


def limit_threads(count):
    """Of libraries that read the environment when they are loaded."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
        os.environ[f"{name}_NUM_THREADS"] = str(count)


def describe(baseline):
    version = baseline.version()
    return {"name": baseline.name, "available": version is not None, "version": version,
            "install": baseline.install,
            "variants": [{"name": variant.name, "for": variant.inputs, "losses": variant.losses,
                          "optimizers": variant.optimizers} for variant in baseline.variants]}


def check(baseline, run, facts):
    """Impossible if no variant of that name takes this data."""
    for variant in baseline.variants:
        if variant.name != run.variant:
            continue
        kind = "sparse" if facts["sparse"] else "dense"
        for what, value, known in (("rows", kind, variant.inputs), ("the loss", facts["loss"], variant.losses),
                                   ("the optimizer", run.optimizer, variant.optimizers)):
            if value not in known:
                raise Impossible(f"variant {run.variant} takes {what} {' or '.join(known)}, not {value}")
        return
    names = ", ".join(variant.name for variant in baseline.variants)
    raise ValueError(f"unknown variant {run.variant}: choose one of {names}")


def fail(baseline, code, sentence):
    print(f"{baseline.name}: {sentence}", file=sys.stderr)
    return code


def perform(baseline, run):
    """One run from its settings to its summary; returns the exit code."""
    with open(os.path.join(run.export, "export.json"), encoding="utf-8") as file:
        facts = json.load(file)
    check(baseline, run, facts)
    limit_threads(run.threads)
    rows = facts["rows"]["train"]
    run = dataclasses.replace(run, batch=min(run.batch, rows))
    session = Session(run, rows if baseline.keeps_remainder else rows - rows % run.batch)

    def interrupt(number, frame):
        session.interrupted = True
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupt)
    try:
        baseline.run(run, session)
    finally:
        session.close()
    write_whole(os.path.join(run.out, "summary.json"), json.dumps(session.summary(baseline), indent=2) + "\n")
    return EXIT_INTERRUPTED if session.interrupted else 0


def main(baseline):
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.split("\n\n")[1].replace("NAME.py", os.path.basename(sys.argv[0])))
        return 0 if len(sys.argv) == 2 else EXIT_FAILED
    if sys.argv[1] == "--list":
        print(json.dumps(describe(baseline)))
        return 0
    run = None
    try:
        run = Run.load(sys.argv[1])
        if baseline.version() is None:
            return fail(baseline, EXIT_MISSING, f"{baseline.framework} is not installed; {baseline.install} "
                        "installs it")
        return perform(baseline, run)
    except Impossible as error:
        return fail(baseline, EXIT_IMPOSSIBLE, str(error))
    except Exception as error:  # frameworks throw anything
        if out_of_memory(error):
            return fail(baseline, EXIT_IMPOSSIBLE, "there is not enough memory for this data")
        if run:
            os.makedirs(run.out, exist_ok=True)
            write_whole(os.path.join(run.out, "error.txt"), traceback.format_exc())
        first = (str(error).strip() or "no message").splitlines()[0]
        return fail(baseline, EXIT_FAILED, f"{type(error).__name__}: {first}")


def out_of_memory(error):
    return (isinstance(error, MemoryError) or "can't allocate memory" in str(error)
            or type(error).__name__ in ("OutOfMemoryError", "ResourceExhaustedError"))
