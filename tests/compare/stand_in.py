"""A baseline that learns nothing and is done at once: obeys the interface of bench/baselines, with a
made-up clock. STAND_IN says how each script behaves: "pytorch=fail,keras=missing"."""
import json
import os
import sys
import time

NAME = os.path.basename(sys.argv[0]).split("_")[0]
WAYS = dict(part.split("=") for part in os.environ.get("STAND_IN", "").split(",") if part)
WAY = WAYS.get(NAME, "well")
SPEEDS = {"fast": 40000.0, "slow": 10000.0, "hogwild": 60000.0}  # examples per second


def listing():
    variants = [{"name": name, "for": ["dense", "sparse"], "losses": ["softmax"], "optimizers": ["sgd"]}
                for name in (["fast", "slow", "hogwild"] if NAME == "pytorch" else ["fast"])]
    return {"name": NAME, "available": WAY != "missing", "version": "1.0",
            "install": f"scripts/baselines {NAME}", "variants": variants}


def misbehave(run):
    if WAY == "fail" or (WAY == "late" and run["target_loss"] is not None):
        print("Traceback: line 1\nRuntimeError: the stand-in failed", file=sys.stderr)
        return 1
    if WAY == "impossible":
        print(f"{NAME}: the rows do not fit into memory", file=sys.stderr)
        return 4
    if WAY == "hang":
        time.sleep(600)
    return 0


def loss_at(run, examples):
    """Falls with examples; the best rate is 0.2, and rates from 100 on diverge."""
    speed = 1 / (1 + abs(run["lr"] - 0.2)) * 64 / (64 + abs(run["batch"] - 64))
    return 0.3 + 0.4 / (1 + speed * examples / 3000)


def train(run):
    with open(os.path.join(run["export"], "export.json"), encoding="utf-8") as file:
        rows = json.load(file)["rows"]["train"]
    rate = SPEEDS[run["variant"]]
    most = min(run["max_seconds"] * rate, run["epochs"] * rows)
    every = run["eval_every"] * rows if run["eval_every"] else most
    lines, examples, stopped = [], 0.0, None
    while not stopped:
        loss = loss_at(run, examples)
        lines.append({"seconds": examples / rate, "train_seconds": examples / rate,
                      "epoch": examples / rows, "examples": int(examples), "updates": 1,
                      "train_loss": loss, "valid_loss": loss, "valid_accuracy": 1 - loss})
        if run["target_loss"] is not None and loss <= run["target_loss"]:
            stopped = "target_loss"
        elif examples >= most:
            stopped = "max_time"
        examples = min(most, examples + every)
    last = lines[-1]
    summary = {"format": 1, "name": NAME, "variant": run["variant"], "train_seconds": last["train_seconds"],
               "examples": last["examples"], "examples_per_second": rate, "peak_memory_bytes": 500000000,
               "cpu_seconds": 1.0, "stopped_because": stopped, "valid_loss": last["valid_loss"]}
    with open(os.path.join(run["out"], "metrics.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    with open(os.path.join(run["out"], "summary.json"), "w", encoding="utf-8") as file:
        json.dump(summary, file)


def main():
    if sys.argv[1] == "--list":
        print(json.dumps(listing()))
        return 0
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    code = misbehave(run)
    if code == 0:
        train(run)
    return code


if __name__ == "__main__":
    sys.exit(main())
