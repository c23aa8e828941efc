// Shows the buttons of class `copy` and makes them work: in the explorer and in reports. Only secure pages can use the
// clipboard; elsewhere the buttons stay hidden.
if (navigator.clipboard)
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(".copy"))) {
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }

/**
 * Copies a text; where the browser refuses to, selects it.
 * @param {HTMLButtonElement} button copies its `data-copy`, or else the text before it
 */
async function copy(button) {
  const before = button.previousElementSibling;
  const isCopied = await navigator.clipboard
    .writeText(button.dataset.copy ?? before?.textContent ?? "")
    .then(() => true)
    .catch(() => false);
  if (!isCopied && before) getSelection()?.selectAllChildren(before);
  const told = isCopied ? "Copied" : "Not copied: it is selected";
  if (button.dataset.copy === undefined) button.textContent = told;
  else button.setAttribute("aria-label", told);
  button.classList.toggle("copied", isCopied);
}
