import { scaleBand, scaleLinear } from "d3-scale";
import type { SeriesStep } from "../series.ts";

/** The sizes of a chart, so that its texts are about as large as the page's wherever it is shown. */
const SIZES = {
  broad: { width: 900, height: 280, dates: 8 },
  narrow: { width: 360, height: 220, dates: 4 },
} as const;
const MARGIN = { top: 12, right: 8, bottom: 28, left: 56 };
const TICKS = 4;

/** A bar chart of the series as an SVG element without script; the page's style has the colours of `bar` and `axis`. */
export function toChart(series: readonly SeriesStep[], size: keyof typeof SIZES): string {
  const { width, height, dates: mostDates } = SIZES[size];
  const values = series.map(({ usdc }) => Number(usdc)); // For the picture alone.
  const x = scaleBand(
    series.map(({ date }) => date),
    [MARGIN.left, width - MARGIN.right],
  ).padding(0.2);
  const y = scaleLinear([0, Math.max(...values) || 1], [height - MARGIN.bottom, MARGIN.top]).nice(TICKS);
  const format = y.tickFormat(TICKS);
  const lines = y.ticks(TICKS).map((tick) => toLine({ y: round(y(tick)), text: format(tick), width }));
  const bars = series.map(({ date, usdc, tx_count }, at) => {
    const top = y(values[at] ?? 0);
    const place = `x="${round(x(date) ?? 0)}" y="${round(top)}" width="${round(x.bandwidth())}" height="${round(y(0) - top)}"`;
    return `<rect class="bar" ${place}><title>${date}: ${usdc} USDC, ${tx_count} transfers</title></rect>`;
  });
  const every = Math.ceil(series.length / mostDates);
  const dates = series
    .filter((_, at) => at % every === 0)
    .map(({ date }) => {
      const middle = round((x(date) ?? 0) + x.bandwidth() / 2);
      return `<text x="${middle}" y="${height - 8}" text-anchor="middle">${date.slice(5)}</text>`;
    });
  const label = `USDC from ${series[0]?.date} to ${series.at(-1)?.date}`;
  return `<svg class="chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}">${[...lines, ...bars, ...dates].join("")}</svg>`;
}

function toLine({ y, text, width }: { y: number; text: string; width: number }): string {
  const line = `<line class="axis" x1="${MARGIN.left}" x2="${width - MARGIN.right}" y1="${y}" y2="${y}"/>`;
  return `${line}<text x="${MARGIN.left - 8}" y="${y + 4}" text-anchor="end">${text}</text>`;
}

const round = (value: number): number => Math.round(value * 100) / 100;
