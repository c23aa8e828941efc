/**
 * A payment and the call that it was made for; `isAnswered` once its answer was shown.
 * @typedef {{ call: import("./request.js").Call, payment: string, isAnswered?: boolean }} PaidCall
 */

const KEY = `payment ${location.pathname}`;

let kept = read();

/**
 * The payments of this page in this tab whose answers were not shown, and the last one in any case. They outlive the
 * page.
 * @returns {readonly PaidCall[]} the newest last
 */
export const recallPayments = () => kept;

/**
 * Keeps a payment, in place of those whose answers were shown.
 * @param {PaidCall} paid
 */
export const keepPayment = (paid) =>
  write([...kept.filter((one) => !one.isAnswered && one.payment !== paid.payment), paid]);

/** @param {string} payment */
export const forgetPayment = (payment) => write(kept.filter((one) => one.payment !== payment));

/** @returns {readonly PaidCall[]} */
function read() {
  try {
    return [JSON.parse(sessionStorage.getItem(KEY) ?? "[]")].flat();
  } catch {
    return []; // Storage may be missing or blocked.
  }
}

/** @param {readonly PaidCall[]} payments */
function write(payments) {
  kept = payments;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(payments));
  } catch {
    // Without storage, a payment lives as long as the page.
  }
}
