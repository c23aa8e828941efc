/**
 * Creates an element with attributes and children. Texts are never parsed as markup.
 * @param {string} tag
 * @param {Readonly<Record<string, string | boolean | EventListener | undefined>>} attributes a function listens to the event of that name; true sets an attribute without a value
 * @param {...(Node | string | undefined | readonly Node[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== undefined));
  return element;
}

/**
 * JSON in a box that can be scrolled by keyboard.
 * @param {unknown} value
 */
export const toBox = (value) => h("pre", { tabindex: "0" }, h("code", {}, toText(value)));

/**
 * Like `toBox`, with addresses of this origin as links.
 * @param {unknown} value
 */
export function toLinkedBox(value) {
  const parts = toText(value).split(ADDRESS);
  return h(
    "pre",
    { tabindex: "0" },
    h("code", {}, ...parts.map((part, at) => (at % 2 === 1 ? toOwnLink(part) : part))),
  );
}

/** A JSON string that is an address without escapes. `split` leaves the addresses at odd indexes. */
const ADDRESS = /(?<=")(https?:\/\/[^"\\]+)(?=")/;

/**
 * A link that opens in a new tab. Addresses of other origins stay texts, because they may not be the seller's.
 * @param {string} address
 */
export const toOwnLink = (address) =>
  readAddress(address)?.origin === location.origin ? h("a", { href: address, target: "_blank" }, address) : address;

/**
 * What `URL.parse` does, which browsers older than 2024 lack.
 * @param {string} address
 */
export function readAddress(address) {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}

/** @param {unknown} value */
const toText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/**
 * Collapsible content.
 * @param {string} title
 * @param {Node} content
 */
export const toMore = (title, content) => h("details", { class: "more" }, h("summary", {}, title), content);
