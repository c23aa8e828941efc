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
export const toBox = (value) =>
  h("pre", { tabindex: "0" }, h("code", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2)));

/**
 * Something long behind one line.
 * @param {string} title
 * @param {Node} content
 */
export const toMore = (title, content) => h("details", { class: "more" }, h("summary", {}, title), content);
