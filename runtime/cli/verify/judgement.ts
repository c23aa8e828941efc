import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from "jose";
import { Problem } from "../../api/problem.ts";
import { toAccount } from "../../core/account.ts";
import { isDeep, isObject, type JsonObject, tryParseJson } from "../../core/json.ts";
import { networkNameOf } from "../../core/rails/networks.ts";
import { isLocalUrl } from "../../core/set/site.ts";
import { textField } from "../call/http.ts";
import type { KnownCall, Proof } from "./proofs.ts";
import { claimedSeller, findKey, isUrlOf, type Seller, sellerOf, Unchecked } from "./signer.ts";

/** The result for one signed offer or receipt. */
export interface Judgement {
  /** By its content, also where the signature is not valid. */
  readonly kind: "offer" | "receipt";
  /** Null when the signature cannot be checked, by this version or now: it proves nothing, nor does it disprove anything. */
  readonly valid: boolean | null;
  /** The signing key, as a DID URL. */
  readonly signed_by: string;
  /** The signed data; null when the signature is not valid. */
  readonly payload: JsonObject | null;
  readonly error?: string;
}

/** Checks one signature, and what it signs. Whatever is wrong becomes the result's error. @throws the signal's reason. */
export async function judge(proof: Proof, signal: AbortSignal): Promise<Judgement> {
  const { jws } = proof;
  let kid = "nobody";
  try {
    const { kid: named, alg = "" } = typeof jws === "string" ? decodeProtectedHeader(jws) : {};
    if (typeof named === "string") kid = named; // It may be anything.
    const claimed = claimedIn(jws);
    const { text, key } = await findSigner(jws, { kid, alg }, signal).catch((error: unknown) => {
      // Its signature cannot be checked: the rest can be.
      if (error instanceof Problem || error instanceof Unchecked)
        checkSaid(claimed, claimedSeller(kid, claimed), proof);
      throw error;
    });
    const { payload } = await compactVerify(text, await importJWK(key, "EdDSA"), { algorithms: ["EdDSA"] });
    const said = checkSaid(JSON.parse(Buffer.from(payload).toString()), sellerOf(kid), proof);
    return { kind: kindOf(said), valid: true, signed_by: kid, payload: said };
  } catch (error) {
    signal.throwIfAborted();
    const valid = error instanceof Unchecked || error instanceof Problem ? null : false;
    return { kind: kindOf(claimedIn(jws)), valid, signed_by: kid, payload: null, error: (error as Error).message };
  }
}

/** The offers beside signed ones that no signed offer has the terms of: anybody may have added them. */
export function judgeUnsigned(proofs: readonly Proof[]): readonly Judgement[] {
  // A receipt has the network of an offer, and neither its amount nor its receiver.
  const signed = proofs.filter(({ jws }) => kindOf(claimedIn(jws)) === "offer");
  const isSigned = (offer: JsonObject): boolean =>
    signed.some(({ jws, offers }) => {
      const said = offers.includes(offer) && claimedIn(jws);
      return isObject(said) && findDiffering(said, offer) === undefined;
    });
  const unsigned = [...new Set(signed.flatMap(({ offers }) => offers))].filter((offer) => !isSigned(offer));
  return unsigned.map((offer) => {
    const [amount, asset, network, payTo] = ["amount", "asset", "network", "payTo"].map((name) =>
      textField(offer, name),
    );
    const error = `the offer of ${amount} of ${asset} on ${network} to ${payTo} is not signed`;
    return { kind: "offer", valid: null, signed_by: "nobody", payload: null, error };
  });
}

/** @throws Unchecked, and what `findKey` throws. */
async function findSigner(
  jws: Proof["jws"],
  { kid, alg }: { readonly kid: string; readonly alg: string },
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly key: JWK }> {
  if (typeof jws !== "string") throw new Unchecked("it is signed by EIP-712, and only JWS is known here");
  checkKnown(kid, alg);
  return { text: jws, key: await findKey(kid, signal) };
}

const claimedIn = (jws: Proof["jws"]): unknown =>
  typeof jws === "string" ? tryParseJson(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString()) : jws;

const kindOf = (said: unknown): Judgement["kind"] => (isObject(said) && "amount" in said ? "offer" : "receipt");

/** @throws Unchecked for other algorithms of signatures (RFC 7518 and 8812) and other identities that the extension allows. */
function checkKnown(kid: string, alg: string): void {
  if (/^(?:ES|RS|PS)\d/.test(alg)) throw new Unchecked(`it is signed by ${alg}, and only EdDSA is known here`);
  const [did] = /^did:(?!web:)[a-z\d]+/.exec(kid) ?? [];
  if (did !== undefined) throw new Unchecked(`the key is named by ${did}, and only did:web is known here`);
}

/**
 * @param seller undefined where nothing names one
 * @throws Error when it is another seller's than the signer's, or not what the file shows, or for another call.
 */
function checkSaid(said: unknown, seller: Seller | undefined, { beside, call }: Proof): JsonObject {
  if (!isObject(said) || isDeep(said)) throw new Error("what was signed is no JSON object, or is too deep");
  if (seller && !isUrlOf(seller, said.resourceUrl))
    throw new Error(`${seller.host}${seller.path} has signed for ${said.resourceUrl}, which is another seller's`);
  checkShown(said, beside);
  if (call) checkCall(said, seller, call);
  return said;
}

/** The signed data that challenges and receipts also hold unsigned. */
const SHOWN = ["scheme", "network", "asset", "payTo", "amount", "payer", "transaction", "resourceUrl"] as const;

/** @throws Error when a document shows other terms than those that were signed, or a term is no plain value. */
function checkShown(said: JsonObject, beside: readonly JsonObject[]): void {
  const odd = [...SHOWN, "validUntil", "issuedAt"].find((name) => said[name] instanceof Object);
  if (odd) throw new Error(`${odd}, which was signed, is no plain value`);
  const differing = beside.map((shown) => findDiffering(said, shown));
  const [first] = differing;
  if (differing.length === 0) throw new Error("what was signed is not offered in the file");
  if (first === undefined || differing.includes(undefined)) return;
  const why = `${first} is ${beside[0]?.[first]} in the file, and ${said[first]} was signed`;
  throw new Error(differing.length === 1 ? why : `no offer in the file has the terms that were signed: ${why}`);
}

/** The first term that is shown otherwise than it was signed. */
const findDiffering = (said: JsonObject, shown: JsonObject): string | undefined =>
  SHOWN.find(
    (name) =>
      said[name] &&
      shown[name] !== undefined &&
      toComparable(said[name]) !== toComparable(shown[name]) &&
      !(name === "network" && toNameInV1(said[name]) === shown[name]),
  );

/** The name in x402 version 1 of a well-known network, which receipts of that version show: `base`, `base-sepolia`. */
const toNameInV1 = (network: unknown): string => networkNameOf(String(network)).toLowerCase().replaceAll(" ", "-");

const toComparable = (value: unknown): unknown => (typeof value === "string" ? toAccount(value) : value);

/** @throws Error when another seller than the one that was called has signed, or for another payer. */
function checkCall(said: JsonObject, seller: Seller | undefined, { url, payer }: KnownCall): void {
  // On this machine a shop has another address than its public one.
  if (seller && !(URL.canParse(url) && isLocalUrl(url)) && !isUrlOf(seller, url))
    throw new Error(`${url} was called, and ${seller.host}${seller.path} has signed`);
  if (payer !== undefined) checkShown({ payer: said.payer }, [{ payer }]);
}
