import type { Document } from "../../surfaces/document.ts";
import { isKnown, toEtag } from "../reply/etag.ts";
import type { Reply } from "../reply/reply.ts";
import { toDataHeaders } from "../request/headers.ts";
import type { Answer, Methods } from "./resource.ts";

/** Documents as paths that answer GET, with strong ETags. */
export const createDocuments = (documents: ReadonlyMap<string, Document>): ReadonlyMap<string, Methods> =>
  new Map([...documents].map(([path, document]) => [path, { GET: toNegotiated(document) }]));

/** Whoever names no type that there is gets the document itself. */
function toNegotiated({ alternatives = [], ...document }: Document): Answer {
  if (alternatives.length === 0) return toAnswer(document);
  const forms = [document, ...alternatives];
  const types = forms.map(({ type }) => type.split(";")[0] ?? type);
  const answers = forms.map((form) => toAnswer({ ...form, headers: { ...form.headers, Vary: "Accept" } }));
  return (request, response) => {
    const at = types.indexOf(request.accepts(types) || "");
    return (answers[at] ?? (answers[0] as Answer))(request, response);
  };
}

function toAnswer({ type, body, headers: own = {} }: Document): Answer {
  const etag = toEtag(body);
  const headers = override([...toDataHeaders(type, "public, max-age=60"), "ETag", etag], own);
  const full: Reply = { status: 200, headers, body };
  const unchanged: Reply = { status: 304, headers };
  return ({ headers: asked }) => (isKnown(asked, etag) ? unchanged : full);
}

function override(usual: readonly string[], own: Readonly<Record<string, string>>): readonly string[] {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = usual.flatMap((name, at) =>
    at % 2 === 0 && !names.has(name.toLowerCase()) ? [name, usual[at + 1] as string] : [],
  );
  return [...kept, ...Object.entries(own).flat()];
}
