#!/usr/bin/env python3
"""Trains a little, and opens the report in headless Chromium: no error, all charts, hover, zoom, phone, dark, print.

    browser.py HOGBATCH     exits with 77 where there is no Chromium
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Runs in a page that holds the report in a frame as wide as a phone, and writes what it finds into the page.
PROBE = """
const frame = document.querySelector('iframe'), found = {errors: []};
frame.addEventListener('load', () => {
  try {
    const page = frame.contentDocument, view = frame.contentWindow;
    const all = selector => [...page.querySelectorAll(selector)];
    found.width = page.documentElement.scrollWidth;
    found.charts = all('svg.chart').map(svg => svg.getAttribute('aria-label'));
    found.flat = all('svg.chart').filter(svg => svg.getBoundingClientRect().height < 30).length;
    found.background = view.getComputedStyle(page.body).backgroundColor;
    found.colours = [0, 1, 2, 3, 4, 5].map(i => view.getComputedStyle(page.body).getPropertyValue('--c' + i));
    found.outside = all('svg.chart').flatMap(svg => [...svg.querySelectorAll('text')].filter(text => {
      const box = text.getBBox(), size = svg.viewBox.baseVal;
      return box.x < -1 || box.y < -1 || box.x + box.width > size.width + 1 || box.y + box.height > size.height + 1;
    })).map(text => text.textContent);
    const lines = page.querySelector('svg.lines'), box = lines.getBoundingClientRect();
    lines.dispatchEvent(new view.PointerEvent('pointermove',
        {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2}));
    const tip = () => page.querySelector('.tip').hidden ? '' : page.querySelector('.tip').textContent;
    found.tip = tip();
    if (!page.querySelector('svg.timeline')) throw 'no timeline';
    const lane = page.querySelector('svg.timeline .lane').getBoundingClientRect();
    page.querySelector('svg.timeline').dispatchEvent(new view.PointerEvent('pointermove',
        {clientX: lane.left + lane.width / 2, clientY: lane.top + lane.height / 2}));
    found.busy = tip();
    const zoomed = page.querySelector('svg.timeline .zoomed');
    const ticks = () => all('svg.timeline .ticks')[0].textContent;
    const before = [zoomed.getAttribute('viewBox'), ticks()];
    const press = name => page.querySelector(`button[aria-label="${name}"]`).click();
    press('Zoom in');
    press('Later');
    found.zoomed = zoomed.getAttribute('viewBox') !== before[0] && ticks() !== before[1];
    press('Show all');
    found.whole = zoomed.getAttribute('viewBox') === before[0] && ticks() === before[1];
  } catch (error) {
    found.errors.push(String(error));
  }
  document.querySelector('pre').textContent = JSON.stringify(found);
});
"""


def chromium(folder, *arguments):
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
               "--log-level=0", f"--user-data-dir={folder}/profile", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    # "…:CONSOLE(12)] "Uncaught TypeError…"": nothing may write to the console.
    said = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    assert not said, said
    return ran.stdout


def probed(folder, page, *arguments):
    frame = html.escape(page.read_text(), quote=True)
    wrapper = folder / "wrapper.html"
    wrapper.write_text(f"<!DOCTYPE html><meta charset=utf-8><pre></pre><iframe width=390 height=844 style='border:0' "
                       f"srcdoc=\"{frame}\"></iframe><script>{PROBE}</script>")
    dom = chromium(folder, "--virtual-time-budget=5000", "--dump-dom", *arguments, wrapper.as_uri())
    return json.loads(html.unescape(re.search(r"<pre>(.*?)</pre>", dom, re.DOTALL).group(1)))


def train(program, folder, name, *options):
    subprocess.run([program, "train", "--hidden", "16", "--epochs", "3", "--devices", "cpu:2", "--report-every", "0.05",
                    "--quiet", "--report", "--out", folder / name, *options], check=True)
    return folder / name


def check_layout(found, charts):
    assert found["width"] <= 390, f"wider than a phone: {found['width']}"
    assert len(found["charts"]) == charts, found["charts"]
    assert found["flat"] == 0, "a chart without height"
    assert not found["outside"], f"text outside of its chart: {found['outside']}"


def check(found, charts):
    assert not found["errors"], found
    check_layout(found, charts)
    assert re.search(r"(training|validation|running|first|run): [0-9.]+", found["tip"]), found["tip"]
    assert re.search(r"cpu.0: [0-9]+ % busy", found["busy"]), found["busy"]
    assert found["zoomed"] and found["whole"], found


def main():
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        first = train(sys.argv[1], folder, "first")
        second = train(sys.argv[1], folder, "second", "--seed", "2")
        light = probed(folder, first / "report.html", "--blink-settings=preferredColorScheme=1")
        check(light, 9)
        dark = probed(folder, first / "report.html", "--blink-settings=preferredColorScheme=0")
        check(dark, 9)
        assert light["background"] == "rgb(255, 255, 255)" and dark["background"] == "rgb(20, 23, 28)"
        assert not set(light["colours"]) & set(dark["colours"])

        both = folder / "both.html"
        subprocess.run([sys.argv[1], "report", f"first={first}", f"a very long name of a run={second}", "--out", both],
                       check=True, stdout=subprocess.DEVNULL)
        check(probed(folder, both), 10)

        subprocess.run([sys.argv[1], "sweep", "--lr", "0.01|0.02|0.05|0.1", "--hidden", "8", "--epochs", "2", "--devices",
                        "cpu:2", "--quiet", "--out", folder / "sweep"], check=True)
        sweep = probed(folder, folder / "sweep" / "sweep.html")
        assert sweep["errors"] == ["no timeline"], sweep
        check_layout(sweep, 2)
        assert re.search(r"trial [1-4]: [0-9.]+", sweep["tip"]), sweep["tip"]

        picture, paper = folder / "page.png", folder / "page.pdf"
        chromium(folder, f"--screenshot={picture}", "--window-size=1200,2400", both.as_uri())
        assert picture.stat().st_size > 50000, "nothing was drawn"
        chromium(folder, f"--print-to-pdf={paper}", both.as_uri())
        pages = len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))
        assert 2 <= pages <= 8, f"{pages} pages on paper"
        print("the report works on a wide screen, a phone and paper")


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if __name__ == "__main__":
    if not CHROMIUM:
        print("skipped: there is no Chromium; scripts/setup test installs it")
        sys.exit(77)
    main()
