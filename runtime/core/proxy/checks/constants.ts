import { isObject } from "../../json.ts";
import type { Path } from "../../schema/nodes.ts";
import type { Draft } from "../../set/draft.ts";
import { type Fault, faultAtKey } from "../../set/faults.ts";
import type { ProxyManifest } from "../../set/manifest.ts";
import { CREDENTIAL, CREDENTIAL_FORM } from "../credential.ts";
import { parseTemplate } from "../template.ts";
import { BELONGS } from "./head.ts";

/** Names that in a body may mean something else, such as a token on a chain. */
const AMBIGUOUS = /^(?:key|token|signature|sig|appid)$/i;
/** A long text of letters and digits. */
const RANDOM = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{20,}$/i;

const OF_BODY =
  "a credential belongs in a variable, and is sent in a header or the query, as key in _site.yaml says; an API that wants it " +
  "in the body needs a plugin";

/** Refuses constants that are credentials, judged by their form and, in the body, also by their name. */
export const checkConstants = (draft: Draft, { request, query, headers, body }: ProxyManifest): Fault[] =>
  [...constantsIn({ request, query, headers, body }, ["proxy"])].flatMap(({ path, text, isWhole }) => {
    const name = String(path.at(-1));
    const isOfBody = path[1] === "body";
    if (!isOfBody && path.length > 2 && CREDENTIAL.test(name)) return []; // The fault is already known.
    const isNamed = isOfBody && isWhole && CREDENTIAL.test(name) && (!AMBIGUOUS.test(name) || RANDOM.test(text));
    if (!isNamed && !CREDENTIAL_FORM.test(text)) return [];
    return [faultAtKey(draft, path, "secret-in-set", isOfBody ? OF_BODY : BELONGS)];
  });

interface Constant {
  readonly path: Path;
  readonly text: string;
  /** Whether nothing is filled in. */
  readonly isWhole: boolean;
}

function* constantsIn(value: unknown, path: Path): Generator<Constant> {
  if (typeof value === "string") {
    const parts = parseTemplate(value);
    const text = parts.map((part) => (typeof part === "string" ? part : " ")).join("");
    if (text !== "") yield { path, text, isWhole: parts.every((part) => typeof part === "string") };
  } else if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* constantsIn(item, [...path, at]);
  else if (isObject(value)) for (const [key, part] of Object.entries(value)) yield* constantsIn(part, [...path, key]);
}
