import { canonicalOf } from "../../core/digest.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Identity } from "../../core/peers/identity.ts";

/** The fields of an A2A 1.0 card; those of nested messages are listed under the field that holds them. */
const CARD = [
  "name",
  "description",
  "supportedInterfaces",
  "provider",
  "version",
  "documentationUrl",
  "capabilities",
  "defaultInputModes",
  "defaultOutputModes",
  "skills",
  "iconUrl",
];
const NESTED: Readonly<Record<string, readonly string[]>> = {
  supportedInterfaces: ["url", "protocolBinding", "protocolVersion"],
  provider: ["url", "organization"],
  capabilities: ["streaming", "pushNotifications", "extensions", "extendedAgentCard"],
  extensions: ["uri", "description", "required", "params"],
  skills: ["id", "name", "description", "tags", "examples", "inputModes", "outputModes"],
};

/**
 * Signs a card twice, since no signature fits both forms: the RFC 8785 form of the card as it is, and the form that A2A
 * 1.0's libraries make of it, without unknown fields, false required fields and empty values.
 * Each signature is a detached JWS (0.3, section 5.5.6; 1.0, section 8.4.2).
 * @param jku the URL of the JSON Web Key Set with our keys.
 */
export function signCard(card: object, identity: Identity, jku: string): object {
  const { keyId: kid, sign } = identity.signer();
  const header = toBase64Url(JSON.stringify({ alg: "EdDSA", typ: "JOSE", kid, jku }));
  const signatures = [card, toLibraryForm(card)].map((form) => ({
    protected: header,
    signature: sign(`${header}.${toBase64Url(canonicalOf(form))}`).toString("base64url"),
  }));
  return { ...card, signatures };
}

/** The form over which A2A 1.0's libraries sign and verify a card (1.0, section 8.4.1). */
export const toLibraryForm = (card: object): object => withoutEmpty(project(card as JsonObject, CARD)) ?? {};

function project(message: JsonObject, fields: readonly string[]): JsonObject {
  const kept = fields.filter(
    (name) => message[name] !== undefined && !(name === "required" && message[name] === false),
  );
  return Object.fromEntries(kept.map((name) => [name, projectField(message[name], NESTED[name])]));
}

function projectField(value: unknown, fields: readonly string[] | undefined): unknown {
  if (!fields) return value;
  if (Array.isArray(value)) return value.map((item) => projectField(item, fields));
  return isObject(value) ? project(value, fields) : value;
}

/** The value without empty strings, lists and objects; undefined when nothing is left. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter((item) => item !== undefined);
    return kept.length > 0 ? kept : undefined;
  }
  if (!isObject(value)) return value === "" || value === null ? undefined : value;
  const kept = Object.entries(value).flatMap(([name, part]) => {
    const left = withoutEmpty(part);
    return left === undefined ? [] : [[name, left]];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

const toBase64Url = (text: string): string => Buffer.from(text).toString("base64url");
