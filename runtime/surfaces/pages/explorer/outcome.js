import { h, toBox, toLinkedBox, toMore } from "./dom.js";
import { faultsOf } from "./request.js";
import { FACTS, railOf, toAmount, toPrice } from "./x402.js";

/**
 * An answer other than a challenge, for people.
 * @param {import("./request.js").Answer} answer
 * @returns {HTMLElement}
 */
export function toOutcome({ status, title, body, file, receipt, milliseconds }) {
  const good = status === 200;
  const faults = status === 422 ? faultsOf(body) : [];
  return h(
    "section",
    { class: good ? "answer good" : "answer bad" },
    h("h3", {}, `${title} in ${milliseconds} ms`),
    ...(faults.length > 0 ? [toFaults(faults)] : []),
    ...(good || faults.length > 0 ? [] : [h("p", {}, detailOf(body))]),
    ...(receipt ? [toReceipt(receipt)] : []),
    ...(file ? [h("p", {}, h("a", { href: file.url, download: "" }, `Save the file (${file.type})`))] : []),
    good ? toLinkedBox(body) : toMore("The whole answer", toBox(body)),
  );
}

/**
 * The seller's explanation of a failure.
 * @param {unknown} body
 */
function detailOf(body) {
  const { detail, error, title } = /** @type {Readonly<Record<string, unknown>>} */ (body ?? {});
  return [detail, error, title].find((text) => typeof text === "string") ?? "The answer says no more.";
}

/**
 * Every fault of the input.
 * @param {ReturnType<typeof faultsOf>} faults
 */
function toFaults(faults) {
  return h(
    "div",
    {},
    h("p", {}, "The input was refused before anybody was charged:"),
    h(
      "ul",
      {},
      faults.map(({ loc, msg }) => h("li", {}, h("code", {}, loc.slice(1).join(".") || "input"), ` ${msg}`)),
    ),
  );
}

/** @param {import("./x402.js").Receipt} receipt */
function toReceipt({ success, transaction, network, payer, amount, errorReason, asset }) {
  const rail = railOf(network, asset);
  const row = (/** @type {string} */ name, /** @type {Node | string} */ value) => [
    h("dt", {}, name),
    h("dd", {}, value),
  ];
  return h(
    "dl",
    { class: "receipt" },
    ...row("Payment", success ? "settled" : `not settled: ${errorReason ?? "no reason was given"}`),
    ...(success && rail && amount ? row("Amount", toAmount(amount, rail)) : []),
    ...row("Network", rail?.title ?? network),
    ...(transaction ? row("Transaction", toTransaction(network, transaction)) : []),
    ...(payer ? row("Payer", payer) : []),
  );
}

/**
 * A transaction, linked to its block explorer. A sandbox's transactions are on no explorer.
 * @param {string} network CAIP-2
 * @param {string} transaction
 */
export function toTransaction(network, transaction) {
  const link = FACTS.sandbox
    ? undefined
    : FACTS.rails.find((rail) => rail.network === network)?.explorer.replace("{tx}", transaction);
  return link ? h("a", { href: link, rel: "noreferrer noopener", target: "_blank" }, transaction) : transaction;
}

/**
 * A challenge: an explanation, and the offers to choose from.
 * @param {import("./x402.js").Challenge} challenge
 * @param {{ name: string, isRefusal: boolean, canPay: (offer: import("./x402.js").Offer) => boolean }} options `name` of the
 *   radio group, unique on the page; `isRefusal`: a payment was refused; `canPay`: which offers can be chosen
 */
export function toChallenge(challenge, { name, isRefusal, canPay }) {
  return [
    h("h3", {}, isRefusal ? "402: the payment was not accepted" : "402 Payment Required"),
    h(
      "p",
      {},
      isRefusal
        ? `The seller says: ${challenge.error}. Nothing was delivered, and these are fresh offers.`
        : "This is the seller's real challenge. Nothing has run and nothing is owed. Any one of these payments is accepted:",
    ),
    h(
      "fieldset",
      { class: "offers" },
      h("legend", {}, "How to pay"),
      challenge.accepts.map((offer, at) => toChoice(offer, { name, at, canPay: canPay(offer) })),
    ),
  ];
}

/**
 * @param {import("./x402.js").Offer} offer
 * @param {{ name: string, at: number, canPay: boolean }} choice
 */
function toChoice(offer, { name, at, canPay }) {
  const id = `${name}-${at}`;
  return h(
    "p",
    {},
    h("input", { type: "radio", id, name, value: String(at), disabled: !canPay }),
    h(
      "label",
      { for: id },
      h("strong", {}, toPrice(offer)),
      h("small", {}, ` to ${toShort(offer.payTo)}, within ${offer.maxTimeoutSeconds} s`),
    ),
  );
}

/** A hint about paying. @param {number} payers how many can pay */
export function toAdvice(payers) {
  if (FACTS.sandbox)
    return h("p", { class: "hint" }, "The sandbox's own buyer signs. It has plenty of play money on every rail.");
  const isKept = document.querySelector(".kept") !== null; // The page says that a job that fails is not paid back.
  const failed = isKept ? "." : "; a call that fails is not charged, or is paid back.";
  const money = FACTS.test ? "test money, which is worth nothing" : "real money";
  const signed = `This is ${money}. Your wallet shows what you sign${failed}`;
  const none = "No browser wallet that can pay was found. The code on this page pays from a wallet of your own.";
  return h("p", { class: "hint" }, payers > 0 ? signed : none);
}

/** @param {string} address */
const toShort = (address) => (address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address);
