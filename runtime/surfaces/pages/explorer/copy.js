// Shows the buttons of class `copy` and makes them work: in the explorer and in reports. Only secure pages can use the
// clipboard; elsewhere the buttons stay hidden.
if (navigator.clipboard)
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(".copy"))) {
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }

/** @param {HTMLButtonElement} button copies its `data-copy`, or else the text before it */
async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy ?? button.previousElementSibling?.textContent ?? "");
  if (button.dataset.copy === undefined) button.textContent = "Copied";
  else button.setAttribute("aria-label", "Copied");
  button.classList.add("copied");
}
