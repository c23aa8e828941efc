import { scaleBand, scaleLinear } from "d3-scale";
import type { SeriesStep } from "../series.ts";

const WIDTH = 640;
const HEIGHT = 260;
const MARGIN = { top: 12, right: 8, bottom: 28, left: 64 };
const MOST_DATES = 6;
const TICKS = 4;

/** A bar chart of the series as an SVG element without script; its colours are the page's `--bar`, `--line`, `--quiet`. */
export function toChart(series: readonly SeriesStep[]): string {
  const values = series.map(({ usdc }) => Number(usdc)); // For the picture alone.
  const x = scaleBand(
    series.map(({ date }) => date),
    [MARGIN.left, WIDTH - MARGIN.right],
  ).padding(0.2);
  const y = scaleLinear([0, Math.max(...values) || 1], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(TICKS);
  const format = y.tickFormat(TICKS);
  const lines = y.ticks(TICKS).map((tick) => toLine(round(y(tick)), format(tick)));
  const bars = series.map(({ date, usdc, tx_count }, at) => {
    const top = y(values[at] ?? 0);
    const place = `x="${round(x(date) ?? 0)}" y="${round(top)}" width="${round(x.bandwidth())}" height="${round(y(0) - top)}"`;
    return `<rect class="bar" ${place}><title>${date}: ${usdc} USDC, ${tx_count} transfers</title></rect>`;
  });
  const every = Math.ceil(series.length / MOST_DATES);
  const dates = series
    .filter((_, at) => at % every === 0)
    .map(({ date }) => {
      const middle = round((x(date) ?? 0) + x.bandwidth() / 2);
      return `<text x="${middle}" y="${HEIGHT - 8}" text-anchor="middle">${date.slice(5)}</text>`;
    });
  const label = `USDC from ${series[0]?.date} to ${series.at(-1)?.date}`;
  return `<svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${[...lines, ...bars, ...dates].join("")}</svg>`;
}

function toLine(y: number, text: string): string {
  const line = `<line class="line" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y}" y2="${y}"/>`;
  return `${line}<text x="${MARGIN.left - 8}" y="${y + 4}" text-anchor="end">${text}</text>`;
}

const round = (value: number): number => Math.round(value * 100) / 100;
