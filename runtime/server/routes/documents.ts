import type { Document } from "../../surfaces/http/document.ts";
import { toEncodedBody } from "../reply/encoded.ts";
import { isKnown, toEtag } from "../reply/etag.ts";
import { toDataHeaders } from "../reply/headers.ts";
import type { Reply } from "../reply/reply.ts";
import type { Methods, Responder } from "./resource.ts";

/** The documents as paths that answer GET, with strong ETags. */
export const createDocuments = (documents: ReadonlyMap<string, Document>): ReadonlyMap<string, Methods> =>
  new Map([...documents].map(([path, document]) => [path, { GET: toNegotiatedResponder(document) }]));

/** Callers that accept none of the types get the document itself. */
function toNegotiatedResponder({ alternatives = [], ...document }: Document): Responder {
  if (alternatives.length === 0) return toResponder(document, []);
  const forms = [document, ...alternatives];
  const types = forms.map(({ type }) => type.split(";")[0] ?? type);
  const responders = forms.map((form) => toResponder(form, ["Accept"]));
  return (request, response) => {
    const at = types.indexOf(request.accepts(types) || "");
    return (responders[at] ?? (responders[0] as Responder))(request, response);
  };
}

/** @param chosenBy the request headers by which this form of the document was negotiated. */
function toResponder({ type, body, headers: own = {} }: Document, chosenBy: readonly string[]): Responder {
  const tag = toEtag(body);
  const encoded = toEncodedBody(type, body);
  const vary = encoded ? [...chosenBy, "Accept-Encoding"] : chosenBy;
  const usual = [...toDataHeaders(type, "public, max-age=60"), ...(vary.length > 0 ? ["Vary", vary.join(", ")] : [])];
  const headers = override(usual, own);
  const plain = toReplies([...headers, "ETag", tag]);
  if (!encoded) return ({ headers: asked }) => (isKnown(asked, tag) ? plain.unchanged : plain.full(body));
  return async (request) => {
    const coding = encoded.choose(request);
    if (!coding) return isKnown(request.headers, tag) ? plain.unchanged : plain.full(body);
    // Each encoded form has a strong ETag of its own (RFC 9110, section 8.8.3.3).
    const ownTag = tag.replace(/"$/, `-${coding}"`);
    const { unchanged, full } = toReplies([...headers, "ETag", ownTag, "Content-Encoding", coding]);
    return isKnown(request.headers, ownTag) ? unchanged : full(await encoded.read(coding));
  };
}

function toReplies(headers: readonly string[]): { unchanged: Reply; full: (body: Buffer) => Reply } {
  return { unchanged: { status: 304, headers }, full: (body) => ({ status: 200, headers, body }) };
}

/** A document as a reply without content negotiation. */
export const toDocumentReply = ({ type, body, headers = {} }: Document, status: number): Reply => ({
  status,
  headers: override(toDataHeaders(type, "no-store"), headers),
  body,
});

function override(usual: readonly string[], own: Readonly<Record<string, string>>): readonly string[] {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = usual.flatMap((name, at) =>
    at % 2 === 0 && !names.has(name.toLowerCase()) ? [name, usual[at + 1] as string] : [],
  );
  return [...kept, ...Object.entries(own).flat()];
}
