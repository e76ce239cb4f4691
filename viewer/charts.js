// Charts that read well at any width: named axes, few lines, and a table for screen
// readers.

import { fill, h, s } from './dom.js';
import { date } from './dates.js';
import { count, short } from './format.js';

const HEIGHT = 168;
const LEFT = 40;
const BOTTOM = 24;
const TOP = 8;
/** A day's label needs so much room. */
const LABEL = 72;

/** Stacked bars over days, drawn as wide as there is room. */
class MemBars extends HTMLElement {
  #data;
  #watch = new ResizeObserver(([entry]) => this.#draw(entry.contentRect.width));

  static of(data) {
    const chart = document.createElement('mem-bars');
    chart.#data = data;
    return chart;
  }

  connectedCallback() {
    this.#watch.observe(this);
  }

  disconnectedCallback() {
    this.#watch.disconnect();
  }

  #draw(width) {
    if (width < 1) return;
    const { title, days, series } = this.#data;
    const totals = days.map((_, at) => series.reduce((sum, one) => sum + one.values[at], 0));
    const top = nice(Math.max(...totals, 1));
    const step = (width - LEFT) / days.length;
    const y = (value) => TOP + (HEIGHT - BOTTOM - TOP) * (1 - value / top);
    const grid = [0, top / 2, top].filter(Number.isInteger).map((value) => [
      s('line', { class: 'grid', x1: LEFT, x2: width, y1: Math.round(y(value)) + 0.5, y2: Math.round(y(value)) + 0.5 }),
      s('text', { class: 'axis', x: LEFT - 8, y: y(value) + 4, 'text-anchor': 'end' }, short(value)),
    ]);
    const every = Math.max(1, Math.ceil((LABEL * days.length) / (width - LEFT)));
    // Counted from today, so that the last day always has its name.
    const names = days.map((day, at) => (days.length - 1 - at) % every === 0 && s('text', { class: 'axis', x: Math.min(LEFT + (at + 0.5) * step, width - 22), y: HEIGHT - 6, 'text-anchor': 'middle' }, date(day)));
    const columns = days.map((day, at) => this.#column(day, at, step, y));
    fill(this, s('svg', { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', 'aria-label': `${title}; the figures follow as a table` }, grid, columns, names));
  }

  #column(day, at, step, y) {
    const { series } = this.#data;
    let below = 0;
    const parts = series.map((one) => {
      const value = one.values[at];
      const height = y(below) - y(below + value);
      const part = value > 0 && s('rect', { class: one.class, x: LEFT + at * step + step * 0.12, width: Math.max(step * 0.76, 1), y: y(below + value), height: Math.max(height, 1), rx: Math.min(2, step * 0.2) });
      below += value;
      return part;
    });
    const text = `${date(day)}: ${series.map((one) => `${count(one.values[at])} ${one.name}`).join(', ')}`;
    // For the mouse alone: the table below has the same addresses as links.
    const column = s('g', { class: 'column' }, s('title', {}, text), s('rect', { class: 'hit', x: LEFT + at * step, y: TOP, width: step, height: HEIGHT - BOTTOM - TOP }), parts);
    column.addEventListener('click', () => (location.hash = this.#data.hrefOfDay(day)));
    return column;
  }
}

/** `series`: [{name, class, values}]; `hrefOfDay(day)` is the address of the rows that a day counts. */
export function bars(title, days, series, hrefOfDay) {
  const legend = series.length > 1 && h('span', { class: 'legend' }, series.map((one) => h('span', {}, h('span', { class: `swatch ${one.class}` }), one.name)));
  const head = h('tr', {}, h('th', { scope: 'col' }, 'Day'), series.map((one) => h('th', { scope: 'col' }, one.name)));
  const rows = days.map((day, at) => series.some((one) => one.values[at]) && h('tr', {}, h('td', {}, h('a', { href: hrefOfDay(day) }, day)), series.map((one) => h('td', {}, count(one.values[at])))));
  const table = h('details', { class: 'figures-of' }, h('summary', {}, 'Figures'), h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `${title}, as a table` }, h('table', {}, h('caption', { class: 'sr' }, title), h('thead', {}, head), h('tbody', {}, rows))));
  if (!series.some((one) => one.values.some(Boolean))) return h('figure', { class: 'chart wide-chart' }, h('figcaption', {}, title), h('p', { class: 'soft' }, 'No data in the last 60 days.'));
  return h('figure', { class: 'chart wide-chart' }, h('figcaption', {}, title, legend), MemBars.of({ title, days, series, hrefOfDay }), table);
}

/** Horizontal bars, one per row. `class` colours a row, `href` is the address of the rows that it counts. */
export function ranks(title, rows, note) {
  const most = Math.max(...rows.map((row) => row.count), 1);
  const nameOf = (row) => h('span', { class: 'bar-name', title: row.name }, row.name);
  const barOf = (row) => row.count > 0 && h('span', { class: row.class, 'data-type': row.type, style: { inlineSize: `${(row.count / most) * 100}%` } });
  const line = (row) => h(row.href ? 'a' : 'div', { class: 'bar-row', href: row.href }, nameOf(row), h('span', { class: 'bar' }, barOf(row)), h('span', {}, count(row.count)));
  const shown = rows.length ? rows.map(line) : h('p', { class: 'soft' }, 'No data yet.');
  return h('figure', { class: 'chart' }, h('figcaption', {}, title), shown, note && h('p', { class: 'chart-note' }, note));
}

function nice(value) {
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].map((step) => step * size).find((step) => step >= value);
}

customElements.define('mem-bars', MemBars);
