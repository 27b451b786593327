#include "report/page_parts.h"

namespace hogbatch::report {

// The six colours stay apart for readers who confuse red and green, or blue and yellow: simulated,
// no two are closer than 19 in CIELAB, on either background.
const char* const kChartStyle = R"(
:root, svg { --ink: #1b1f24; --muted: #5b6470; --grid: #e3e6ea; --axis: #8b94a0; --paper: #fff;
  --lane: #f0f2f5;
  --c0: #1a6fdb; --c1: #c43a0a; --c2: #10a37c; --c3: #7d1f7d; --c4: #c49300; --c5: #3b3b3b; }
@media screen and (prefers-color-scheme: dark) {
  :root, svg { --ink: #e6e9ee; --muted: #a3acb9; --grid: #2c323b; --axis: #6c7684; --paper: #14171c;
    --lane: #20252d;
    --c0: #3f8cf5; --c1: #ff7433; --c2: #3ad6a6; --c3: #e39be8; --c4: #f5dc5f; --c5: #fff; }
}
.c0 { --colour: var(--c0); } .c1 { --colour: var(--c1); } .c2 { --colour: var(--c2); }
.c3 { --colour: var(--c3); } .c4 { --colour: var(--c4); } .c5 { --colour: var(--c5); }
.chart { font-family: system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums; background: var(--paper); }
.chart text { font-size: 12.5px; fill: var(--ink); }
.chart .title { font-size: 14.5px; font-weight: 600; }
.chart .tick, .chart .label { fill: var(--muted); }
.chart .end { text-anchor: end; }
.chart .middle { text-anchor: middle; }
.chart .grid { stroke: var(--grid); fill: none; }
.chart .axis { stroke: var(--axis); fill: none; }
.chart .line { stroke: var(--colour); stroke-width: 1.8; fill: none; stroke-linejoin: round; }
.chart .key { stroke: var(--colour); stroke-width: 3; }
.chart .dashed.line, .chart .dashed.key { stroke-dasharray: 5 3.5; }
.chart .faint.line { stroke-width: 1.1; stroke-opacity: .35; }
.chart .faint.mark { opacity: .35; }
.chart .mark { fill: var(--paper); stroke: var(--colour); stroke-width: 1.5; }
.chart .mark:not(.dashed) { fill: var(--colour); }
.chart .band { fill: var(--colour); fill-opacity: .16; }
.chart .bar { fill: var(--colour); }
.chart .whisker { stroke: var(--ink); stroke-width: 1.3; fill: none; }
.chart .lane { fill: var(--lane); }
)";

const char* const kPageStyle = R"(
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 3rem; max-width: 68rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .8rem; padding-top: .6rem; border-top: 1px solid var(--axis); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
header p { margin: .3rem 0 0; color: var(--muted); overflow-wrap: anywhere; }
p { max-width: 46rem; }
.warning { border-left: 4px solid var(--c1); padding: .35rem .8rem; margin: .7rem 0;
  background: var(--lane); overflow-wrap: anywhere; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.6rem 2rem; }
figure { margin: 0; min-width: 0; }
.chart { display: block; width: 100%; height: auto; max-width: 36rem; }
.timeline { max-width: none; min-width: 40rem; }
.wide { overflow-x: auto; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem; }
.tile { border: 1px solid var(--grid); border-radius: 6px; padding: .6rem .8rem; min-width: 0; }
.tile span, .tile small { display: block; color: var(--muted); font-size: .84rem; overflow-wrap: anywhere; }
.tile strong { display: block; font-size: 1.45rem; line-height: 1.25; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
table { border-collapse: collapse; margin-top: .8rem; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .3rem 1rem .3rem 0; border-bottom: 1px solid var(--grid); }
td { max-width: 28rem; min-width: 5rem; overflow-wrap: break-word; }
td:first-child { min-width: 8.5rem; overflow-wrap: anywhere; }
.number { min-width: 0; }
th { font-weight: 600; vertical-align: bottom; border-bottom-color: var(--axis); }
.number { text-align: right; }
td.number { white-space: nowrap; }
dl { margin: 0; font-size: .92rem; columns: 26rem 2; column-gap: 2.5rem; }
dl div { display: grid; grid-template-columns: minmax(7rem, 12rem) 1fr; gap: 1rem; padding: .25rem 0;
  border-bottom: 1px solid var(--grid); break-inside: avoid; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
pre { margin: .5rem 0; padding: .5rem .8rem; background: var(--lane); font-size: .84rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: var(--muted); }
.tip { position: fixed; z-index: 2; pointer-events: none; background: var(--paper); color: var(--ink);
  border: 1px solid var(--axis); border-radius: 4px; padding: .25rem .5rem; font-size: .8rem; max-width: 18rem;
  font-variant-numeric: tabular-nums; box-shadow: 0 2px 8px rgb(0 0 0 / .2); }
.tip div { overflow-wrap: anywhere; }
.tip i { display: inline-block; width: .7em; height: .7em; margin-right: .4em; background: var(--colour); }
.crosshair { stroke: var(--axis); stroke-dasharray: 2 2; }
.selected { fill: var(--c0); fill-opacity: .2; }
.buttons { display: flex; flex-wrap: wrap; gap: .4rem; margin: .2rem 0 .6rem; font-size: .84rem; color: var(--muted);
  align-items: center; }
button { font: inherit; min-width: 2.4rem; min-height: 2.2rem; color: var(--ink); background: var(--lane);
  border: 1px solid var(--axis); border-radius: 4px; cursor: pointer; }
@media (max-width: 32rem) {
  body { padding: 1rem .9rem 2rem; }
  .chart text { font-size: 14px; }
  .chart .title { font-size: 16px; }
  .timeline text { font-size: 17px; }
  dl div { grid-template-columns: 1fr; gap: 0; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  .buttons, .tip { display: none; }
  figure, .tile, tr, .wide, dl div { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .grid { grid-template-columns: 1fr 1fr; }
  .timeline { min-width: 0; }
  .wide { overflow: visible; }
  .chart, .bar, .lane, .warning, .tip i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)";

}  // namespace hogbatch::report
