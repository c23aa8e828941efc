import { isObject, type JsonObject } from "../../core/json.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import { field, textField } from "../call/http.ts";

/** A signature, and the unsigned offers or the receipt around it: the terms of one must equal the signed ones. */
export interface Proof {
  /** A JWS, or of EIP-712 what is said to be signed. */
  readonly jws: string | JsonObject;
  readonly beside: readonly JsonObject[];
  /** All offers of the challenge that it is a part of. */
  readonly offers: readonly JsonObject[];
  /** The call that it is shown for, in the report of `payphone call`. */
  readonly call?: KnownCall;
}

/** What the buyer knows of a call without the seller. */
export interface KnownCall {
  readonly url: string;
  readonly payer: string | undefined;
}

/** Every signed offer and receipt in a document. The results in a report of `payphone call` are goods, and prove no call. */
export function findProofs(document: unknown): Proof[] {
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
    if (jws !== undefined && isObject(value))
      found.push({ jws, beside: toBeside(value, holder), offers: offersIn(holder) });
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
  const offers = isObject(named) ? [named] : offersIn(holder);
  return offers.map((offer) => ({ ...offer, resourceUrl: field(resource, "url") }));
}

const offersIn = ({ accepts }: JsonObject): readonly JsonObject[] =>
  Array.isArray(accepts) ? accepts.filter(isObject) : [];
