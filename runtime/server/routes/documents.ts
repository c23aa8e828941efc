import type { Document } from "../../surfaces/http/document.ts";
import { isKnown, toEtag } from "../reply/etag.ts";
import { toDataHeaders } from "../reply/headers.ts";
import type { Reply } from "../reply/reply.ts";
import type { Methods, Responder } from "./resource.ts";

/** The documents as paths that answer GET, with strong ETags. */
export const createDocuments = (documents: ReadonlyMap<string, Document>): ReadonlyMap<string, Methods> =>
  new Map([...documents].map(([path, document]) => [path, { GET: toNegotiatedResponder(document) }]));

/** Callers that accept none of the types get the document itself. */
function toNegotiatedResponder({ alternatives = [], ...document }: Document): Responder {
  if (alternatives.length === 0) return toResponder(document);
  const forms = [document, ...alternatives];
  const types = forms.map(({ type }) => type.split(";")[0] ?? type);
  const responders = forms.map((form) => toResponder({ ...form, headers: { ...form.headers, Vary: "Accept" } }));
  return (request, response) => {
    const at = types.indexOf(request.accepts(types) || "");
    return (responders[at] ?? (responders[0] as Responder))(request, response);
  };
}

function toResponder({ type, body, headers: own = {} }: Document): Responder {
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
