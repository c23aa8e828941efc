import "./copy.js";
import { setUpTry } from "./try.js";

const CHOICE = "code";

setUpSearch();
setUpTabs();
showCurrent();
for (const form of document.querySelectorAll("form.try")) setUpTry(/** @type {HTMLFormElement} */ (form));
addEventListener("hashchange", goToNamed);
addEventListener("pagehide", keepShown);
goToNamed();

/** Shows the services whose texts contain every word of the search, in all lists of the page. */
function setUpSearch() {
  const search = document.getElementById("_search");
  const filter = /** @type {HTMLInputElement | null} */ (document.getElementById("_filter"));
  const count = document.getElementById("_count");
  if (!search || !filter || !count) return;
  const lists = [...document.querySelectorAll("nav, main")].map((list) => ({
    entries: /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".entry")]),
    groups: /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".group")]),
  }));
  const apply = () => {
    const words = filter.value.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().split(/\s+/);
    const counts = lists.map(({ entries, groups }) => {
      for (const entry of entries) entry.hidden = !words.every((word) => entry.dataset.search?.includes(word));
      for (const group of groups) group.hidden = group.querySelector(".entry:not([hidden])") === null;
      return [entries.filter(({ hidden }) => !hidden).length, entries.length];
    });
    const [shown = 0, all = 0] = counts.find(([, entries]) => entries) ?? [];
    count.textContent =
      shown === all ? `${all} service${all === 1 ? "" : "s"}` : shown > 0 ? `${shown} of ${all} services` : toNothing();
  };
  const toNothing = () => `Nothing was found for \u201c${filter.value.trim()}\u201d. Try fewer or other words.`;
  filter.addEventListener("input", apply);
  search.hidden = false;
  apply();
}

/** Scrolls the list beside the page to the current service. */
function showCurrent() {
  const side = document.querySelector(".side");
  const current = /** @type {HTMLElement | null} */ (document.querySelector(".side a[aria-current]"));
  if (side && current) side.scrollTop = current.offsetTop - side.clientHeight / 2;
}

/** Shows code in the language that was chosen last, on any page. */
function setUpTabs() {
  const tabs = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(".tabs input"));
  for (const tab of tabs) {
    tab.checked ||= tab.value === recall();
    tab.addEventListener("change", () => remember(tab.value));
  }
}

/** Reads the last choice. The browser's storage may be missing or blocked. */
function recall() {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

/** @param {string} title */
function remember(title) {
  try {
    localStorage.setItem(CHOICE, title);
  } catch {
    // Without storage, the choice holds for this page only.
  }
}

/** Redirects addresses such as `/docs#roll` to the service's page. */
function goToNamed() {
  const path = `/docs/${location.hash.slice(1)}`;
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a"));
  const named = [...links].find(({ pathname }) => pathname.endsWith(path)); // The server may be mounted below a path.
  if (named && named.pathname !== location.pathname) location.replace(named.href);
}

/**
 * Makes what is shown the default. Safari resets inputs with `autocomplete=off` when Back shows the page as it was
 * left: the form would send more than it shows.
 */
function keepShown() {
  const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[autocomplete=off]"));
  for (const input of inputs) input.defaultValue = input.value;
}
