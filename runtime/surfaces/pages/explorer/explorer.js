import "./copy.js";
import { setUpTry } from "./try.js";

setUpFilter();
for (const form of document.querySelectorAll("form.try")) setUpTry(/** @type {HTMLFormElement} */ (form));
addEventListener("hashchange", openNamed);
openNamed();

/** Shows the services whose texts contain every word of the filter. */
function setUpFilter() {
  const search = /** @type {HTMLElement} */ (document.getElementById("_search"));
  const filter = /** @type {HTMLInputElement} */ (document.getElementById("_filter"));
  const count = /** @type {HTMLOutputElement} */ (document.getElementById("_count"));
  const services = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".service")]);
  const groups = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".group")]);
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const service of services) service.hidden = !words.every((word) => service.dataset.search?.includes(word));
    for (const group of groups) group.hidden = group.querySelector(".service:not([hidden])") === null;
    const shown = services.filter(({ hidden }) => !hidden).length;
    count.textContent = shown === services.length ? `${shown} services` : `${shown} of ${services.length} services`;
  };
  filter.addEventListener("input", apply);
  search.hidden = false;
  apply();
}

/** Opens the service that the address names, as in `/docs#roll`. */
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}
