import { readFile } from "node:fs/promises";
import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from "jose";
import { Problem } from "../../api/problem.ts";
import { toAccount } from "../../core/account.ts";
import { isDeep, isObject, tryParseJson } from "../../core/json.ts";
import { isLocalUrl } from "../../core/set/site.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import { ask, field, textField } from "../call/http.ts";
import { toPrintableJson } from "../call/text.ts";
import { EXIT } from "../exit-code.ts";
import { printable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

/** The result for one signed offer or receipt. */
interface Verdict {
  /** By its content, also where the signature is not valid. */
  readonly kind: "offer" | "receipt";
  /** Null when the signature cannot be checked, by this version or now: it proves nothing, nor does it disprove anything. */
  readonly valid: boolean | null;
  /** The signing key, as a DID URL. */
  readonly signed_by: string;
  /** The signed data; null when the signature is not valid. */
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly error?: string;
}

/**
 * Checks all signed offers and receipts in a file (x402 extension `offer-receipt`, format `jws`): the signature against
 * the key that the signer's host publishes (did:web), that this host is the seller, and that the file shows what was
 * signed. Prints one line for each. The extension allows other algorithms, identities and formats as well, which it says that it
 * cannot check. Returns the exit code. @throws Problem `bad-request` when the file holds none.
 */
export async function runVerify({ file, json }: { file: string; json: boolean }, terminal: Terminal): Promise<number> {
  const proofs = findProofs(await read(file));
  if (proofs.length === 0) throw new Problem("bad-request", `${file} holds no signed offer and no signed receipt`);
  const verdicts: Verdict[] = [];
  for (const proof of proofs) verdicts.push(await judge(proof, terminal.signal));
  if (json) terminal.out(toPrintableJson(verdicts));
  else for (const verdict of verdicts) terminal.out(printable(toLine(verdict)));
  if (verdicts.some(({ valid }) => valid === false)) return EXIT.failed;
  return verdicts.every(({ valid }) => valid) ? EXIT.ok : EXIT.unchecked;
}

/** A signature that is allowed, and that this version cannot check. */
class Unchecked extends Error {}

/** Reads JSON, also behind a byte order mark, or base64 of JSON as in the headers PAYMENT-RESPONSE and PAYMENT-REQUIRED. */
async function read(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Problem("bad-request", `cannot read ${file} (${error.code})`);
  });
  return tryParseJson(text.replace(/^\uFEFF/, "")) ?? tryParseJson(Buffer.from(text.trim(), "base64").toString());
}

/** A signature, and the unsigned offers or the receipt around it: the terms of one must equal the signed ones. */
interface Proof {
  /** A JWS, or of EIP-712 what is said to be signed. */
  readonly jws: string | JsonObject;
  readonly beside: readonly JsonObject[];
  /** The call that it is shown for, in the report of `payphone call`. */
  readonly call?: Call;
}

/** What the buyer knows of a call without the seller. */
interface Call {
  readonly url: string;
  readonly payer: string | undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The signed data that challenges and receipts also hold unsigned. */
const SHOWN = ["scheme", "network", "asset", "payTo", "amount", "payer", "transaction", "resourceUrl"] as const;

/** Every signed offer and receipt in a document. The results in a report of `payphone call` are goods, and prove no call. */
function findProofs(document: unknown): Proof[] {
  const url = textField(field(document, "request"), "url");
  if (!isObject(document) || url === undefined) return searchProofs(document);
  const call = { url, payer: textField(document.payment, "payer") };
  const { result: _, job: __, ...told } = document;
  return searchProofs(told).map((proof) => ({ ...proof, call }));
}

/** Every signed offer and receipt in a value, however deep it is. */
function searchProofs(document: unknown): Proof[] {
  const found: Proof[] = [];
  /** Each with the innermost challenge or receipt around it. */
  const open: (readonly [value: unknown, holder: JsonObject])[] = [[document, {}]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, holder] = next;
    if (!isObject(value) && !Array.isArray(value)) continue;
    const jws = signedIn(value);
    if (jws !== undefined && isObject(value)) found.push({ jws, beside: toBeside(value, holder) });
    const around = termsIn(value) ?? holder;
    for (const part of Object.values(value).reverse()) open.push([part, around]);
  }
  return found;
}

function signedIn(value: unknown): Proof["jws"] | undefined {
  const signature = textField(value, "signature");
  if (!isObject(value) || signature === undefined) return undefined;
  if (value.format === "jws") return signature;
  return value.format === "eip712" && isObject(value.payload) ? value.payload : undefined;
}

/** The terms in a value that signed ones are shown with: a challenge or a receipt, or the challenge of an unpaid tool. */
function termsIn(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  if (isObject(value.extensions)) return value;
  const challenge =
    field(value._meta, MCP_KEYS.offers) && (value.structuredContent ?? field(value._meta, MCP_KEYS.challenge));
  return isObject(challenge) ? challenge : undefined;
}

/** The offer that the index names, which is not signed; all of them where it names none. */
function toBeside({ acceptIndex }: JsonObject, holder: JsonObject): readonly JsonObject[] {
  const { accepts, resource } = holder;
  if (!Array.isArray(accepts)) return [holder];
  const named: unknown = accepts[Number(acceptIndex)];
  const offers = isObject(named) ? [named] : accepts.filter(isObject);
  return offers.map((offer) => ({ ...offer, resourceUrl: field(resource, "url") }));
}

/** @throws Error when a document shows other terms than those that were signed, or a term is no plain value. */
function checkShown(said: JsonObject, beside: readonly JsonObject[]): void {
  const odd = [...SHOWN, "validUntil", "issuedAt"].find((name) => said[name] instanceof Object);
  if (odd) throw new Error(`${odd}, which was signed, is no plain value`);
  const differing = beside.map((shown) =>
    SHOWN.find(
      (name) => said[name] && shown[name] !== undefined && toComparable(said[name]) !== toComparable(shown[name]),
    ),
  );
  const [first] = differing;
  if (differing.length === 0) throw new Error("what was signed is not offered in the file");
  if (first === undefined || differing.includes(undefined)) return;
  const why = `${first} is ${beside[0]?.[first]} in the file, and ${said[first]} was signed`;
  throw new Error(differing.length === 1 ? why : `no offer in the file has the terms that were signed: ${why}`);
}

const toComparable = (value: unknown): unknown => (typeof value === "string" ? toAccount(value) : value);

async function judge(proof: Proof, signal: AbortSignal): Promise<Verdict> {
  const { jws } = proof;
  let kid = "nobody";
  try {
    if (typeof jws !== "string") throw new Unchecked("it is signed by EIP-712, and only JWS is known here");
    const { kid: named = kid, alg = "" } = decodeProtectedHeader(jws);
    kid = named;
    checkKnown(kid, alg);
    const found = await findKey(kid, signal).catch((error: unknown) => {
      if (error instanceof Problem) checkSaid(claimedIn(jws), kid, proof); // Its host is silent: the rest can be checked.
      throw error;
    });
    const { payload } = await compactVerify(jws, await importJWK(found, "EdDSA"), { algorithms: ["EdDSA"] });
    const said = checkSaid(JSON.parse(Buffer.from(payload).toString()), kid, proof);
    return { kind: kindOf(said), valid: true, signed_by: kid, payload: said };
  } catch (error) {
    signal.throwIfAborted();
    const valid = error instanceof Unchecked || error instanceof Problem ? null : false;
    return { kind: kindOf(claimedIn(jws)), valid, signed_by: kid, payload: null, error: (error as Error).message };
  }
}

const claimedIn = (jws: Proof["jws"]): unknown =>
  typeof jws === "string" ? tryParseJson(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString()) : jws;

/** @throws Error when it is another seller's than the signer's, or not what the file shows, or for another call. */
function checkSaid(said: unknown, kid: string, { beside, call }: Proof): JsonObject {
  if (!isObject(said) || isDeep(said)) throw new Error("what was signed is no JSON object, or is too deep");
  const seller = sellerOf(kid);
  if (!isOf(seller, said.resourceUrl))
    throw new Error(`${seller.host}${seller.path} has signed for ${said.resourceUrl}, which is another seller's`);
  checkShown(said, beside);
  if (call) checkCall(said, seller, call);
  return said;
}

/** @throws Unchecked for other algorithms of signatures (RFC 7518 and 8812) and other identities that the extension allows. */
function checkKnown(kid: string, alg: string): void {
  if (/^(?:ES|RS|PS)\d/.test(alg)) throw new Unchecked(`it is signed by ${alg}, and only EdDSA is known here`);
  const [did] = /^did:(?!web:)[a-z\d]+/.exec(kid) ?? [];
  if (did !== undefined) throw new Unchecked(`the key is named by ${did}, and only did:web is known here`);
}

const kindOf = (said: unknown): Verdict["kind"] => (isObject(said) && "amount" in said ? "offer" : "receipt");

/** @throws Error when another seller than the one that was called has signed, or for another payer. */
function checkCall(said: JsonObject, seller: Seller, { url, payer }: Call): void {
  // On this machine a shop has another address than its public one.
  if (!(URL.canParse(url) && isLocalUrl(url)) && !isOf(seller, url))
    throw new Error(`${url} was called, and ${seller.host}${seller.path} has signed`);
  if (payer !== undefined) checkShown({ payer: said.payer }, [{ payer }]);
}

/** A host, and the path of its base URL: `/paid`, or an empty text. */
interface Seller {
  readonly host: string;
  readonly path: string;
}

function isOf({ host, path }: Seller, address: unknown): boolean {
  const url = URL.parse(String(address));
  return url?.host === host && url.pathname.startsWith(`${path}/`);
}

/** The seller in a did:web key. @throws Error when the key is not a did:web URL. */
function sellerOf(kid: string): Seller {
  const [, host, path = ""] = /^did:web:([^:#/]+)((?::[\w.~-]+)*)(?:#|$)/.exec(kid) ?? [];
  if (host === undefined) throw new Error(`"${kid}" is no key of a host (did:web)`);
  return { host: decodeURIComponent(host), path: path.replaceAll(":", "/") };
}

/**
 * The public key that the host publishes (did:web, section 3.2). Fetched over https, except from this machine.
 * @throws Problem `upstream-failed` when the host does not answer.
 */
async function findKey(kid: string, signal: AbortSignal): Promise<JWK> {
  const { host, path } = sellerOf(kid);
  const scheme = isLocalUrl(`https://${host}`) ? "http" : "https";
  const url = `${scheme}://${host}${path || "/.well-known"}/did.json`;
  const { status, json } = await ask({ method: "GET", url, body: undefined }, { signal, timeoutMs: 10_000 });
  if (status >= 500 || status === 429) throw new Problem("upstream-failed", `${url} answers ${status}`);
  const methods = field(json, "verificationMethod");
  const method = Array.isArray(methods) ? methods.find((one) => textField(one, "id") === kid) : undefined;
  const jwk = field(method, "publicKeyJwk");
  if (method !== undefined && jwk === undefined)
    throw new Unchecked(`${url} has "${kid}" in another form than as a JWK`);
  if (!isObject(jwk)) throw new Error(`${url} has no key "${kid}"`);
  return jwk;
}

function toLine({ kind, valid, signed_by, payload, error }: Verdict): string {
  if (valid === null) return `CANNOT BE CHECKED: ${error}`;
  if (!valid || payload === null) return `NOT VALID: ${error}`;
  const { resourceUrl, network, amount, asset, payTo, payer, transaction, validUntil, issuedAt } = payload;
  const says =
    kind === "offer"
      ? `${amount} of ${asset} on ${network} to ${payTo} buys ${resourceUrl}${toTime(", until", validUntil)}`
      : `${payer} has paid for ${resourceUrl} on ${network}${transaction ? ` in ${transaction}` : ""}${toTime(", at", issuedAt)}`;
  return `valid ${kind}: ${says}; signed by ${signed_by}`;
}

/** A signed time (Unix seconds) after a word; empty when there is none, which the extension allows for offers. */
function toTime(word: string, seconds: unknown): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? "" : `${word} ${date.toISOString()}`;
}
