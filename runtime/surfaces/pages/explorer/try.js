import { h, toBox, toMore } from "./dom.js";
import { readObject } from "./exact.js";
import { markFaults, setUpFields } from "./fields.js";
import { readJob, toJob } from "./job.js";
import { forgetPayment, keepPayment, recallPayments } from "./kept.js";
import { toAdvice, toChallenge, toOutcome } from "./outcome.js";
import { findPayers, toSentence } from "./payers.js";
import { faultsOf, findUnfit, isFinal, isPaid, send, toCall } from "./request.js";
import { signInOf, toSigning } from "./sign-in.js";
import { toPrice } from "./x402.js";

const DO_NOT_PAY_AGAIN = "Do not pay again: the same payment is charged once at most, and only for a result.";
const PAID_BEFORE = "The same payment gets the same answer, without a second charge.";
const TAKEN_PERHAPS =
  "The payment is not taken now. It may have been taken when it was sent before: look into your wallet first.";
const CHANGED = "The form has changed since this was asked. Nothing was signed: send the form again.";
const NO_ANSWER_YET = "An earlier payment of this page has no answer yet. It is charged once at most.";

/**
 * Activates the form of one service: it sends the request, explains the challenge, pays, and shows the answer.
 * @param {HTMLFormElement} form
 */
export function setUpTry(form) {
  const input = /** @type {HTMLTextAreaElement} */ (form.querySelector(".input"));
  const example = /** @type {HTMLSelectElement | null} */ (form.querySelector(".example"));
  const status = /** @type {HTMLElement} */ (form.querySelector(".status"));
  const outcome = /** @type {HTMLElement} */ (form.querySelector(".outcome"));
  const submit = /** @type {HTMLButtonElement} */ (form.querySelector("[type=submit]"));
  form.hidden = false;
  setUpFields(form, input);
  example?.addEventListener("change", () => {
    input.value = example.value;
    input.dispatchEvent(new Event("input"));
  });
  form.addEventListener("keydown", (event) => {
    // A click does nothing while the button is disabled: a payment could be signed beside one that is being sent.
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit.click();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const value = readInput();
    if (value) void work(async () => show(toCall(form.dataset, value)));
  });
  const earlier = recallPayments();
  if (earlier.length > 0) {
    if (earlier.some(({ isAnswered }) => isAnswered)) say("You have paid on this page before.");
    outcome.replaceChildren(...earlier.map((paid) => toRetry(paid, paid.isAnswered ? PAID_BEFORE : NO_ANSWER_YET)));
  }

  /** @returns {Readonly<Record<string, unknown>> | undefined} */
  function readInput() {
    const { value, fault } = readObject(input.value);
    input.setAttribute("aria-invalid", String(fault !== undefined));
    if (fault !== undefined) {
      say(fault);
      put([]);
      const raw = input.closest("details");
      if (raw) raw.open = true;
      input.focus();
    }
    const unfit = value && findUnfit(form.dataset, value);
    if (unfit === undefined) return value;
    say(`${unfit.name} ${unfit.why}`);
    put([]);
    /** @type {HTMLElement | null} */ (form.querySelector(`[data-field="${CSS.escape(unfit.name)}"]`))?.focus();
  }

  /** Whether the form still shows this call. @param {import("./request.js").Call} call */
  function isShown(call) {
    const { value } = readObject(input.value);
    return value !== undefined && JSON.stringify(toCall(form.dataset, value)) === JSON.stringify(call);
  }

  /** @param {string} text */
  function say(text) {
    status.textContent = text;
  }

  /**
   * Shows parts of an answer, and below them the earlier payments that have none.
   * @param {(Node | string)[]} parts
   * @param {string} [own] the payment that the parts are about
   */
  function put(parts, own) {
    const others = recallPayments().filter(({ payment, isAnswered }) => !isAnswered && payment !== own);
    outcome.replaceChildren(...parts, ...others.map((paid) => toRetry(paid, NO_ANSWER_YET)));
  }

  /**
   * Runs a task with the buttons disabled, so that one runs at a time.
   * @param {() => Promise<void>} task
   */
  async function work(task) {
    const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (form.querySelectorAll("button"));
    const pressed = [...buttons].find((button) => button === document.activeElement);
    for (const button of buttons) button.disabled = true;
    await task().catch((error) => {
      say(`This page cannot go on: ${error instanceof Error ? error.message : error}`);
      put([]);
    });
    for (const button of form.querySelectorAll("button")) button.disabled = false;
    // A button loses the focus when it is disabled, and one that paid is gone.
    if (document.activeElement === document.body)
      (pressed?.isConnected ? pressed : buttons[0])?.focus({ preventScroll: true });
  }

  /**
   * Sends a call and shows the answer.
   * @param {import("./request.js").Call} call
   * @param {string} [payment]
   * @param {boolean} [isAgain] whether the same payment was sent before, and its outcome is not known
   */
  async function show(call, payment, isAgain = false) {
    say(
      payment === undefined
        ? "Sending the request without a payment …"
        : "Sending the same request again, with the payment …",
    );
    if (payment !== undefined) keepPayment({ call, payment });
    const answer = await send(call, payment).catch(() => undefined);
    markFaults(form, answer?.status === 422 ? faultsOf(answer.body) : []);
    if (!answer) {
      say("There was no answer: the connection broke, or the seller is gone.");
      put(payment === undefined ? [] : [toRetry({ call, payment })], payment);
    } else if (answer.challenge) {
      if (payment !== undefined) forgetPayment(payment);
      await offer(call, answer.challenge, { whole: answer.body, isRefusal: payment !== undefined });
      if (isAgain) say(TAKEN_PERHAPS);
    } else if (answer.status === 200) {
      if (payment !== undefined) keepPayment({ call, payment, isAnswered: true });
      showResult(answer, payment !== undefined);
    } else {
      // When the first outcome is unknown, a failure now does not prove that nothing was paid; but it says what was paid back.
      const isOver = payment === undefined || (isFinal(answer) && (!isAgain || isPaid(answer.body)));
      if (payment !== undefined && isOver) forgetPayment(payment);
      say(
        isOver && !isPaid(answer.body) ? "The call did not succeed. Nothing was charged." : "The call did not succeed.",
      );
      put([toOutcome(answer), ...(isOver ? [] : [toRetry({ call, payment })])], payment);
    }
  }

  /**
   * Shows a result. The section of a job stays when the form is sent again.
   * @param {import("./request.js").Answer} answer
   * @param {boolean} isPaid
   */
  function showResult(answer, isPaid) {
    put([toOutcome(answer)]);
    const job = readJob(answer.body);
    if (!job) return say("Done.");
    outcome.after(toJob(job, { isPaid, receipt: answer.receipt }));
    say(`The job is ${answer.receipt ? "paid" : "accepted"}. How it stands is shown below.`);
  }

  /**
   * Offers to send the same payment again. A payment that may have been taken is never replaced by a new one.
   * @param {import("./kept.js").PaidCall} paid
   * @param {string} advice
   */
  function toRetry({ call, payment }, advice = DO_NOT_PAY_AGAIN) {
    const again = () => void work(() => show(call, payment, true));
    return h("p", {}, `${advice} `, h("button", { type: "button", click: again }, "Ask again with the same payment"));
  }

  /**
   * Buttons by which wallets sign in, so that nothing is paid.
   * @param {import("./request.js").Call} call
   * @param {import("./sign-in.js").SignIn} asked
   * @param {{ payers: readonly import("./payers.js").Payer[], verb: string }} shown
   */
  function toSignIns(call, asked, { payers, verb }) {
    return payers.flatMap(({ name, signIn }) => {
      if (!signIn) return [];
      const click = () => void work(() => signAndSend(name, signIn));
      return [h("button", { type: "button", class: "pay", click }, `${verb} ${name}`)];
    });

    /**
     * @param {string} name the wallet's
     * @param {(asked: import("./sign-in.js").SignIn) => Promise<string>} sign
     */
    async function signAndSend(name, sign) {
      if (!isShown(call)) return say(CHANGED);
      say(`Signing in with ${name} …`);
      const proof = await sign(asked).catch((error) => say(toSentence(error, "The sign-in")));
      if (proof === undefined) return;
      const answer = await send(call, undefined, proof).catch(() => undefined);
      if (!answer) return say("There was no answer: the connection broke, or the seller is gone.");
      if (answer.challenge) {
        await offer(call, answer.challenge, { whole: answer.body, isRefusal: false });
        return say(`The seller says: ${answer.challenge.error}.`);
      }
      say(answer.status === 200 ? "Done." : "The call did not succeed.");
      put([toOutcome(answer)]);
    }
  }

  /**
   * Shows a challenge, and pays it on request.
   * @param {import("./request.js").Call} call
   * @param {import("./x402.js").Challenge} challenge
   * @param {{ whole: unknown, isRefusal: boolean }} shown `whole`: the answer's body; `isRefusal`: whether it is the answer
   *   to a payment
   */
  async function offer(call, challenge, { whole, isRefusal }) {
    const payers = await findPayers(status);
    const asked = signInOf(challenge);
    if (challenge.accepts.length === 0 && asked) {
      put([toSigning(challenge.error, toSignIns(call, asked, { payers, verb: "Sign in with" }), call.url)]);
      return say("A wallet must sign in. Nothing is to be paid.");
    }
    const canPay = (/** @type {import("./x402.js").Offer} */ one) => payers.some((payer) => payer.canPay(one));
    const parts = toChallenge(challenge, { name: `_${form.dataset.id}-offer`, isRefusal, canPay });
    const able = payers.filter((payer) => challenge.accepts.some(payer.canPay));
    const free = asked ? toSignIns(call, asked, { payers, verb: "Use a free call with" }) : [];
    put([
      h("section", { class: "answer due" }, ...parts, ...free, ...able.map(toButton), toAdvice(able.length)),
      toMore("The whole challenge, as it stands in the body", toBox(whole)),
    ]);
    const first = /** @type {HTMLInputElement | null} */ (outcome.querySelector("input:not(:disabled)"));
    if (first) first.checked = true;
    const refused = isRefusal ? "The payment was not accepted. " : "";
    say(`${refused}The seller asks for ${challenge.accepts.map(toPrice).join(", or ")}.`);

    /** @param {import("./payers.js").Payer} payer */
    function toButton(payer) {
      return h(
        "button",
        { type: "button", class: "pay", click: () => void work(() => pay(payer)) },
        `Pay with ${payer.name}`,
      );
    }

    /** @param {import("./payers.js").Payer} payer */
    async function pay(payer) {
      const chosen = /** @type {HTMLInputElement | null} */ (outcome.querySelector("input:checked"));
      const accepted = challenge.accepts[Number(chosen?.value)];
      if (!accepted) return say("Choose how to pay.");
      if (!isShown(call)) return say(CHANGED);
      say(`Signing ${toPrice(accepted)} with ${payer.name} …`);
      const payment = await payer.pay(challenge, accepted).catch((error) => say(toSentence(error, "The payment")));
      if (payment !== undefined) await show(call, payment);
    }
  }
}
