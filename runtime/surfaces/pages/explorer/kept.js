/**
 * A payment and the call that it was made for; `isAnswered` once its answer was shown.
 * @typedef {{ call: import("./request.js").Call, payment: string, isAnswered?: boolean }} PaidCall
 */

const KEY = `payment ${location.pathname}`;

/** What storage did not take: it may be missing, blocked or full. @type {readonly PaidCall[] | undefined} */
let unstored;

/**
 * The payments of this page in this tab whose answers were not shown, and the last one in any case. They outlive the
 * page, and are read each time: Back can bring a page as it was, before the tab has paid at the same address.
 * @returns {readonly PaidCall[]} the newest last
 */
export function recallPayments() {
  if (unstored) return unstored;
  try {
    return [JSON.parse(sessionStorage.getItem(KEY) ?? "[]")].flat();
  } catch {
    return [];
  }
}

/**
 * Keeps a payment, in place of those whose answers were shown.
 * @param {PaidCall} paid
 */
export const keepPayment = (paid) =>
  write([...recallPayments().filter((one) => !one.isAnswered && one.payment !== paid.payment), paid]);

/** @param {string} payment */
export const forgetPayment = (payment) => write(recallPayments().filter((one) => one.payment !== payment));

/** @param {readonly PaidCall[]} payments */
function write(payments) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(payments));
    unstored = undefined;
  } catch {
    unstored = payments; // They live as long as the page.
  }
}
