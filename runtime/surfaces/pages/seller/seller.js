/** Draws the charts of the seller's pages and refreshes their figures while the page is visible. */

const EVERY_MS = 10_000;
/** How long an answer may take. */
const PATIENCE_MS = 30_000;
const ROUND = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const EXACT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 9 });

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
const places = document.querySelectorAll("[data-plot]");
/** The charts by their places. */
const plots = new Map();
let isAsking = false;
if (places.length > 0) void drawAll();
setInterval(() => {
  if (document.visibilityState === "visible" && document.querySelector("[data-live]")) void refresh();
}, EVERY_MS);
addEventListener("resize", () => {
  for (const [place, plot] of plots) plot.setSize(sizeOf(place));
});
// A chart keeps the colours in which it was made.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const place of plots.keys()) drawAgain(place);
});

/** Draws the charts; where that cannot be done, shows their figures. */
async function drawAll() {
  try {
    await loadPlots();
    for (const place of places) plots.set(place, draw(place));
  } catch {
    for (const place of places) place.parentElement.querySelector("details").open = true;
  }
}

/** uPlot needs a language with number formats. On a system without one, Chromium names `en-US@posix`, which has none. */
async function loadPlots() {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en-US" });
  }
  const { promise, resolve, reject } = Promise.withResolvers();
  const script = document.createElement("script");
  Object.assign(script, { src: new URL("uplot.js", import.meta.url).href, onload: resolve, onerror: reject });
  document.head.append(script);
  await promise;
}

const sizeOf = (place) => ({ width: place.clientWidth, height: 220 });

/** The place of the amounts beside a chart, in pixels: 8 for a letter. There are none before the first drawing. */
const widthOf = (_plot, texts) => 15 + 8 * Math.max(7, ...(texts ?? []).map(({ length }) => length));

function draw(place) {
  const { label, byDay, at, values, marks } = JSON.parse(place.dataset.plot);
  const name = (seconds) => {
    const text = new Date(seconds * 1000).toISOString();
    return byDay ? text.slice(5, 10) : text.slice(11, 16);
  };
  const dollars = (amount, digits) => `${amount < 0 ? "-" : ""}$${digits.format(Math.abs(amount))}`;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line") },
  };
  const step = byDay ? 86_400 : 3600;
  // uPlot's own ticks for times go wrong where the browser's clock is put forward or back.
  const toTicks = () => {
    const every = [1, 2, 3, 6, 12].find((steps) => (at.length / steps) * 60 <= place.clientWidth) ?? at.length;
    return at.filter((seconds) => (seconds / step) % every === 0);
  };
  const mark = (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.textAlign = "left";
    ctx.strokeStyle = colour("--coin");
    ctx.fillStyle = colour("--coin");
    ctx.font = `${12 * devicePixelRatio}px system-ui`;
    const written = [];
    // The newest first: a text that would cover another one is left out, as the prices stand in a table below.
    for (const each of marks.toReversed()) {
      const x = Math.round(plot.valToPos(each.at, "x", true));
      ctx.beginPath();
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const isLate = x > bbox.left + bbox.width * 0.8;
      const { width } = ctx.measureText(each.text);
      const from = x + (isLate ? -4 * devicePixelRatio - width : 4 * devicePixelRatio);
      const space = { from, to: from + width + 8 * devicePixelRatio };
      if (written.some(({ from, to }) => space.from < to && from < space.to)) continue;
      written.push(space);
      ctx.fillText(each.text, from, bbox.top + 14 * devicePixelRatio);
    }
    ctx.restore();
  };
  const options = {
    ...sizeOf(place),
    hooks: { draw: [mark] },
    // More may have been paid back than sold.
    scales: {
      x: { time: false, range: (_plot, from, to) => (at.length > 1 ? [from, to] : [from - step / 2, from + step / 2]) },
      y: { range: (_plot, least, most) => [Math.min(0, least * 1.1), most > 0 ? most * 1.1 : Number(least >= 0)] },
    },
    axes: [
      { ...axis, splits: toTicks, values: (_plot, ticks) => ticks.map(name) },
      { ...axis, size: widthOf, values: (_plot, ticks) => ticks.map((tick) => dollars(tick, ROUND)) },
    ],
    series: [
      { label: "Time", value: (_plot, seconds) => (seconds === null ? "" : name(seconds)) },
      {
        label,
        // As everywhere on the page: uPlot's own text has three decimals, in the language of the browser.
        value: (_plot, amount) => (amount === null ? "" : dollars(amount, EXACT)),
        stroke: colour("--accent"),
        width: 2,
        points: { show: values.length < 40 },
      },
    ],
  };
  return new globalThis.uPlot(options, [at, values], place);
}

/** Fetches the page again and replaces its live sections, its time and its charts; not while an earlier request runs. */
async function refresh() {
  if (isAsking) return;
  isAsking = true;
  const told = document.getElementById("_live");
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PATIENCE_MS);
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" }, signal: late.signal });
    if (response.status === 401) return location.reload(); // The session has ended: reloading removes its data from the screen.
    if (!response.ok) throw new Error(String(response.status));
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const newer = next.getElementById(part.id);
      if (newer) renew(part, newer);
    }
    renew(document.querySelector("footer time"), next.querySelector("footer time"));
    for (const [at, newer] of next.querySelectorAll("[data-plot]").entries()) redraw(places[at], newer);
    told.textContent = "";
  } catch {
    told.textContent = "The shop does not answer: these figures are old.";
  } finally {
    clearTimeout(timer);
    isAsking = false;
  }
}

/** Draws a chart again when its values have changed, and leaves its table open or closed. */
function redraw(place, newer) {
  if (place.dataset.plot === newer.dataset.plot) return;
  place.dataset.plot = newer.dataset.plot;
  const [table, newTable] = [place, newer].map(({ parentElement }) => parentElement.querySelector(".scroll"));
  renew(table, newTable);
  if (plots.has(place)) drawAgain(place);
}

function drawAgain(place) {
  plots.get(place).destroy();
  plots.set(place, draw(place));
}

/** Takes over what differs, and nothing else: the focus, a selection and a scrolled table stay as they are. */
function renew(part, newer) {
  if (part.isEqualNode(newer)) return;
  const [children, newChildren] = [[...part.childNodes], [...newer.childNodes]];
  const isAlike = part.cloneNode().isEqualNode(newer.cloneNode()) && children.length === newChildren.length;
  if (isAlike && children.length > 0) for (const [at, child] of children.entries()) renew(child, newChildren[at]);
  else part.replaceWith(document.importNode(newer, true));
}
