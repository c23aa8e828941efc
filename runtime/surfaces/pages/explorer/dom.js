/**
 * An element with its attributes and children. Texts stay texts: nothing is ever parsed as markup.
 * @param {string} tag
 * @param {Readonly<Record<string, string | boolean | EventListener | undefined>>} attributes a function listens to the event of its name; true is an attribute without a value
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
 * JSON in a box that the keyboard can scroll.
 * @param {unknown} value
 */
export const toBox = (value) => h("pre", { tabindex: "0" }, h("code", {}, toText(value)));

/**
 * The same for what was bought: texts that are addresses of this origin are links.
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

/** A whole text of JSON that needs no escapes. Splitting by it leaves the addresses at the odd places. */
const ADDRESS = /(?<=")(https?:\/\/[^"\\]+)(?=")/;

/**
 * A link that leaves the page open. Other origins' addresses stay texts: whoever wrote them is not the seller.
 * @param {string} address
 */
export const toOwnLink = (address) =>
  URL.parse(address)?.origin === location.origin ? h("a", { href: address, target: "_blank" }, address) : address;

/** @param {unknown} value */
const toText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/**
 * Something long behind one line.
 * @param {string} title
 * @param {Node} content
 */
export const toMore = (title, content) => h("details", { class: "more" }, h("summary", {}, title), content);
