#include "report/page_parts.h"

namespace hogbatch::report {

const char* const kPageScript = R"JS('use strict';
const svgNamespace = 'http://www.w3.org/2000/svg';
const tip = document.body.appendChild(document.createElement('div'));
tip.className = 'tip';
tip.hidden = true;

// From the place of the pointer to the units of the viewBox.
function placeIn(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  return point.matrixTransform(svg.getScreenCTM().inverse());
}

function showTip(event, rows) {
  tip.replaceChildren(...rows);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const right = event.clientX + 14 + box.width > innerWidth;
  tip.style.left = Math.max(4, right ? event.clientX - 14 - box.width : event.clientX + 14) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 10, innerHeight - box.height - 4)) + 'px';
}

function tipRow(text, colour) {
  const row = document.createElement('div');
  if (colour) {
    const key = row.appendChild(document.createElement('i'));
    key.className = colour;
  }
  row.append(text);
  return row;
}

// Line charts: the values of all lines where the pointer is.
for (const svg of document.querySelectorAll('svg.lines')) {
  const [left, top, right, bottom] = svg.dataset.plot.split(' ').map(Number);
  const lines = [...svg.querySelectorAll('.line')].filter(line => line.dataset.at).map(line => ({
    name: line.dataset.name,
    colour: [...line.classList].find(name => /^c[0-9]$/.test(name)),
    at: line.dataset.at.split(',').map(point => point.split(' ')),
    y: line.dataset.y.split(','),
  }));
  const cross = svg.appendChild(document.createElementNS(svgNamespace, 'line'));
  cross.setAttribute('class', 'crosshair');
  cross.style.display = 'none';
  const hide = () => { tip.hidden = true; cross.style.display = 'none'; };
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('pointermove', event => {
    const x = placeIn(svg, event).x;
    const found = lines.map(line => {
      let best = 0;
      line.at.forEach((point, i) => {
        if (Math.abs(point[0] - x) < Math.abs(line.at[best][0] - x)) best = i;
      });
      return { line, best, distance: Math.abs(line.at[best][0] - x) };
    }).sort((a, b) => a.distance - b.distance);
    if (found.length === 0 || x < left - 8 || x > right + 8) return hide();
    const place = found[0].line.at[found[0].best];
    const nearest = found.filter(({ line, best }) => Math.abs(line.at[best][0] - place[0]) < 20);
    for (const [name, value] of [['x1', place[0]], ['x2', place[0]], ['y1', top], ['y2', bottom]]) {
      cross.setAttribute(name, value);
    }
    cross.style.display = '';
    nearest.sort((a, b) => a.line.at[a.best][1] - b.line.at[b.best][1]);
    showTip(event, [tipRow(svg.dataset.xLabel + ' ' + place[2]), ...nearest.slice(0, 12).map(({ line, best }) =>
      tipRow((line.name ? line.name + ': ' : '') + line.y[best], line.colour))]);
  });
}

// Timelines: drag over a part to see it larger.
for (const svg of document.querySelectorAll('svg.timeline')) {
  const zoomed = svg.querySelector('.zoomed');
  const ticks = svg.querySelector('.ticks');
  const whole = zoomed.getAttribute('viewBox').split(' ').map(Number);
  const [left, top, width, height] = whole;
  const begin = Number(svg.dataset.from);
  const length = Number(svg.dataset.to) - begin;
  const drawnTicks = ticks.innerHTML;
  let from = 0, to = 1;  // the part that is shown

  const write = (x, y, css, text) => {
    const element = ticks.appendChild(document.createElementNS(svgNamespace, 'text'));
    element.setAttribute('x', x);
    element.setAttribute('y', y);
    element.setAttribute('class', css);
    element.textContent = text;
  };
  const show = (first, last) => {
    const part = Math.min(1, Math.max(last - first, 2e-3));
    from = Math.min(Math.max(first, 0), 1 - part);
    to = from + part;
    zoomed.setAttribute('viewBox', [left + from * width, top, part * width, height].join(' '));
    if (part === 1) { ticks.innerHTML = drawnTicks; return; }
    ticks.replaceChildren();
    const seconds = part * length;
    const power = 10 ** Math.floor(Math.log10(seconds / 8));
    const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= seconds / 8);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let i = Math.ceil((begin + from * length) / step); i * step <= begin + to * length; ++i) {
      const x = left + ((i * step - begin) / length - from) / part * width;
      write(x, top + height + 17, 'tick middle', (i * step).toFixed(decimals));
    }
    write(left + width, top + height + 35, 'label end', 'time since training began (s)');
  };
  const zoom = factor => {
    const middle = (from + to) / 2, half = (to - from) / 2 * factor;
    show(middle - half, middle + half);
  };
  const move = share => show(from + share * (to - from), to + share * (to - from));

  const buttons = document.createElement('div');
  buttons.className = 'buttons';
  for (const [text, name, act] of [['+', 'Zoom in', () => zoom(0.5)], ['−', 'Zoom out', () => zoom(2)],
      ['‹', 'Earlier', () => move(-0.5)], ['›', 'Later', () => move(0.5)], ['All', 'Show all', () => show(0, 1)]]) {
    const button = buttons.appendChild(document.createElement('button'));
    button.type = 'button';
    button.textContent = text;
    button.setAttribute('aria-label', name);
    button.addEventListener('click', act);
  }
  buttons.append('or drag over a part of the timeline; double-click shows all');
  svg.closest('.wide').before(buttons);

  // Which worker the pointer is at, and how busy it was then.
  const rows = [...svg.querySelectorAll('.row')].map(row => ({
    name: row.dataset.name,
    top: Number(row.querySelector('.lane').getAttribute('y')),
    spans: row.dataset.busy.split(',').map(span => span.split(':').map(Number)),
  }));
  const showBusy = event => {
    const place = placeIn(svg, event);
    const time = begin + (from + (place.x - left) / width * (to - from)) * length;
    const row = rows.findLast(one => one.top <= place.y);
    const at = row ? row.spans.findIndex(span => span[0] >= time) : -1;
    if (at < 0 || place.x < left || place.y > top + height) { tip.hidden = true; return; }
    const since = at > 0 ? row.spans[at - 1][0] : begin;
    showTip(event, [tipRow(row.name + ': ' + row.spans[at][1] + ' % busy'),
      tipRow(since + ' to ' + row.spans[at][0] + ' s')]);
  };

  const selected = svg.appendChild(document.createElementNS(svgNamespace, 'rect'));
  selected.setAttribute('class', 'selected');
  selected.style.display = 'none';
  let start = null;
  const share = event => Math.min(1, Math.max(0, (placeIn(svg, event).x - left) / width));
  svg.addEventListener('pointerdown', event => {
    if (event.pointerType === 'mouse' && event.button === 0) start = share(event);
  });
  svg.addEventListener('pointerleave', () => { tip.hidden = true; });
  svg.addEventListener('pointermove', event => {
    if (start === null) return showBusy(event);
    event.preventDefault();
    const now = share(event);
    for (const [name, value] of [['x', left + Math.min(start, now) * width], ['y', top],
        ['width', Math.abs(now - start) * width], ['height', height]]) selected.setAttribute(name, value);
    selected.style.display = '';
  });
  addEventListener('pointerup', event => {
    if (start === null) return;
    const [a, b] = [start, share(event)].sort((x, y) => x - y);
    start = null;
    selected.style.display = 'none';
    if (b - a > 0.005) show(from + a * (to - from), from + b * (to - from));
  });
  svg.addEventListener('dblclick', () => show(0, 1));
}
)JS";

}  // namespace hogbatch::report
