import { h, readAddress, toLinkedBox, toOwnLink } from "./dom.js";
import { toTransaction } from "./outcome.js";
import { send } from "./request.js";

/** Time between two polls. A seller allows two polls per second and job. */
const PAUSE_MS = 2000;
const ENDS = new Set(["DELIVERED", "FAILED", "UNKNOWN"]);

/**
 * An accepted job.
 * @typedef {{ job_id: string, status: "accepted", status_url: string }} AcceptedJob
 */

/**
 * The state of a job.
 * @typedef {{ status: string, deliverable: unknown, eta_seconds: number | null, step: string | null, error: string | null, refund_tx: string | null, refund_pending: string | null }} JobStatus
 */

/**
 * Reads the job from an answer, if there is one.
 * @param {unknown} body
 * @returns {AcceptedJob | undefined}
 */
export function readJob(body) {
  const job = /** @type {Partial<AcceptedJob>} */ (body ?? {});
  const isJob = job.status === "accepted" && typeof job.status_url === "string";
  return isJob ? /** @type {AcceptedJob} */ (job) : undefined;
}

/**
 * A section that shows the state of a job until it ends. Polling is free and goes on while the page is open.
 * @param {AcceptedJob} job
 * @param {{ isPaid: boolean, receipt: import("./x402.js").Receipt | undefined }} payment a gateway may have taken the receipt
 * @returns {HTMLElement}
 */
export function toJob({ job_id, status_url }, payment) {
  const link = toOwnLink(status_url);
  const progress = h("p", { role: "status" }, "It waits in line.");
  const about = h("dt", {}, "Time left");
  const told = h("dd", {}, "not known yet");
  const section = h(
    "section",
    { class: "answer due" },
    h("h3", {}, `Job ${job_id}`),
    progress,
    h("dl", { class: "receipt" }, h("dt", {}, "Status"), h("dd", {}, link), about, told),
  );
  // The page may call its own origin only, and the base URL may be another origin.
  if (typeof link === "string") say("This page may not ask at another address than its own. Ask there how it stands.");
  else void follow();
  return section;

  async function follow() {
    for (;;) {
      const answer = await send({ method: "GET", url: status_url, body: undefined }).catch(() => undefined);
      const job = answer?.status === 200 ? readStatus(answer.body) : undefined;
      if (job && ENDS.has(job.status)) return conclude(job);
      if (job) told.textContent = toTime(job.eta_seconds);
      say(
        job ? toProgress(job) : `${answer ? `The answer was ${answer.title}` : "There was no answer"}: asking again.`,
      );
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }

  /**
   * Does not write unchanged text again, because screen readers would read it again.
   * @param {string} text
   */
  function say(text) {
    if (progress.textContent !== text) progress.textContent = text;
  }

  /** @param {JobStatus} job */
  function conclude(job) {
    const isDelivered = job.status === "DELIVERED";
    section.className = isDelivered ? "answer good" : "answer bad";
    say(toEnd(job));
    if (isDelivered) {
      about.remove();
      told.remove();
      section.append(...toFiles(job.deliverable), toLinkedBox(job.deliverable));
    } else {
      about.textContent = "Refund";
      told.replaceChildren(toRefund(job, payment));
    }
  }
}

/**
 * Reads the state of a job from an answer; undefined for a gateway's page in its place.
 * @param {unknown} body
 */
function readStatus(body) {
  const job = /** @type {JobStatus} */ (body ?? {});
  return typeof job.status === "string" ? job : undefined;
}

/**
 * Links to the delivered files, by file name.
 * @param {unknown} deliverable
 */
function toFiles(deliverable) {
  const links = Object.values(deliverable ?? {}).flatMap((value) => {
    const url = typeof value === "string" ? readAddress(value) : undefined;
    const name = url?.origin === location.origin ? url.pathname.split("/").at(-1) : "";
    return name ? [h("li", {}, h("a", { href: value, target: "_blank" }, name))] : [];
  });
  return links.length === 0 ? [] : [h("ul", { class: "files" }, links)];
}

/** @param {JobStatus} job */
const toProgress = ({ status, step }) =>
  status === "DISPATCHING" ? "It waits in line." : `It is being worked on${step === null ? "." : `: ${step}`}`;

/** @param {number | null} seconds */
function toTime(seconds) {
  if (seconds === null) return "not known";
  return seconds > 0 ? `about ${seconds} s` : "longer than expected; any moment now";
}

/** @param {JobStatus} job */
function toEnd({ status, error }) {
  if (status === "DELIVERED") return "Delivered.";
  const reason = error ?? "no reason was given";
  return status === "FAILED" ? `The job has failed: ${reason}` : `The seller cannot say how the job stands: ${reason}`;
}

/**
 * Explains the refund of a failed job.
 * @param {JobStatus} job
 * @param {Parameters<typeof toJob>[1]} payment
 */
function toRefund({ refund_tx, refund_pending }, { isPaid, receipt }) {
  if (!isPaid) return "none is due: the job was free";
  if (refund_tx) return receipt ? toTransaction(receipt.network, refund_tx) : refund_tx;
  if (refund_pending === "manual") return "the seller pays it back by hand (refund_pending: manual)";
  if (document.querySelector(".kept")) return "none: the price of a job that fails is not paid back here";
  return "none is known of yet; look at the status again later";
}
