// Small charts that read without a legend: one series, named axes, a table for those who cannot
// see them.

import { h, s } from './dom.js';
import { count } from './words.js';

const WIDTH = 640;
const HEIGHT = 160;
const LEFT = 44;
const BOTTOM = 22;

/** Bars over days. `series`: [{name, class, values}], stacked. */
export function bars(title, labels, series) {
  const totals = labels.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0));
  const top = nice(Math.max(...totals, 1));
  const step = (WIDTH - LEFT) / Math.max(labels.length, 1);
  const y = (value) => (HEIGHT - BOTTOM) * (1 - value / top);
  const columns = labels.map((label, at) => {
    let below = 0;
    const parts = series.map((one) => {
      const value = one.values[at] ?? 0;
      const part = s('rect', { class: one.class, x: LEFT + at * step + step * 0.15, width: Math.max(step * 0.7, 1), y: y(below + value), height: Math.max(y(below) - y(below + value), 0), rx: Math.min(2, step * 0.2) });
      below += value;
      return part;
    });
    const text = `${label}: ${series.map((one) => `${count(one.values[at] ?? 0)} ${one.name}`).join(', ')}`;
    return s('g', {}, s('title', {}, text), s('rect', { class: 'hit', x: LEFT + at * step, y: 0, width: step, height: HEIGHT - BOTTOM }), parts);
  });
  const lines = [0, top / 2, top].map((value) => [
    s('line', { class: 'grid', x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }),
    s('text', { class: 'axis', x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, short(value)),
  ]);
  const every = Math.ceil(labels.length / 6);
  const days = labels.map((label, at) => at % every === 0 && s('text', { class: 'axis', x: LEFT + at * step, y: HEIGHT - 4 }, label.slice(5)));
  return figure(title, series, s('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title }, lines, columns, days.filter(Boolean)), table(labels, series));
}

/** Horizontal bars: one row a name. */
export function ranks(title, rows) {
  const most = Math.max(...rows.map((row) => row.count), 1);
  const list = rows.map((row) => h('div', { class: 'bar-row' }, h('span', {}, row.name), h('span', { class: 'bar', style: { inlineSize: `${(row.count / most) * 60}%` } }), h('span', {}, count(row.count))));
  return h('figure', { class: 'chart' }, h('figcaption', {}, title), list.length ? list : h('p', { class: 'note' }, 'Nothing yet.'));
}

function figure(title, series, drawing, data) {
  const names = series.length > 1 && h('span', { class: 'legend' }, series.map((one) => h('span', {}, h('span', { class: `swatch ${one.class}` }), one.name)));
  return h('figure', { class: 'chart' }, h('figcaption', {}, title, names), drawing, data);
}

function table(labels, series) {
  return h('table', { class: 'sr' }, h('tr', {}, h('th', {}, 'Day'), series.map((one) => h('th', {}, one.name))), labels.map((label, at) => h('tr', {}, h('td', {}, label), series.map((one) => h('td', {}, count(one.values[at] ?? 0))))));
}

function nice(value) {
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * size).find((step) => step >= value);
}

const short = (value) => (value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : String(value));
