/**
 * A payment and the call that it was made for.
 * @typedef {{ call: import("./request.js").Call, payment: string }} PaidCall
 */

const KEY = `payment ${location.pathname}`;

/** The last payment of this page in this tab. It outlives the page. @returns {PaidCall | undefined} */
export function recallPayment() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") ?? undefined;
  } catch {
    return undefined; // Storage may be missing or blocked.
  }
}

/** @param {PaidCall | undefined} paid undefined to forget it */
export function keepPayment(paid) {
  try {
    if (paid) sessionStorage.setItem(KEY, JSON.stringify(paid));
    else sessionStorage.removeItem(KEY);
  } catch {
    // Without storage, a payment lives as long as the page.
  }
}
