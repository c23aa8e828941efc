const toManifest = (id: string, proxy: string, input: string, example: string): string => `id: ${id}
title: ${id}
description: Passes something on.
route: POST /v1/${id}
price: "0.002"
proxy:
  upstream: store
${proxy.replaceAll(/^/gm, "  ")}
input: ${input}
output: { type: object, properties: { ok: { type: boolean } } }
tags: []
examples:
  - input: ${example}
`;

const FILE = `{ type: object, properties: { data: { type: string }, name: { type: string }, media: { type: string } }, required: [data] }`;
const FIELDS = `title: { type: string }, tags: { type: array, items: { type: string } }, about: { type: object, additionalProperties: true, properties: {} }`;
const TEXT = "{ type: object, properties: { text: { type: string } }, required: [text] }";
const FILTER = `{ type: object, properties: { filter: { type: object, additionalProperties: true, properties: {} } } }`;
/** Manifests of proxied services, by id: each sends another kind of request. */
export const LINES: Readonly<Record<string, string>> = {
  upload: toManifest(
    "upload",
    "request: POST /files/{title}\nencoding: multipart\nfiles: [file, more]\nbody: input",
    `{ type: object, properties: { file: ${FILE}, more: { type: array, items: { type: string } }, count: { type: integer }, counts: { type: array, items: { type: integer } }, ${FIELDS} }, required: [title] }`,
    "{ title: a, file: { data: aGk= } }",
  ),
  attach: toManifest(
    "attach",
    'request: POST /form\nencoding: multipart\nfiles: [file]\nbody: { file: aGk=, v: 1.10, of: { v: 1.10 }, "filter[*]": "{filter}" }',
    FILTER,
    "{ filter: { a: 1 } }",
  ),
  bytes: toManifest(
    "bytes",
    'request: PUT /raw\nencoding: bytes\nbody: "{data}"\nheaders: { content-type: "{media}" }',
    "{ type: object, properties: { data: { type: string }, media: { type: string } }, required: [data] }",
    "{ data: aGk= }",
  ).replace("proxy:", "charge: first\nproxy:"),
  form: toManifest(
    "form",
    'request: POST /form\nencoding: form\nbody: { mode: payment, "filter[*]": "{filter}" }',
    FILTER,
    "{ filter: { a: 1 } }",
  ),
  text: toManifest(
    "text",
    'request: POST /raw\nencoding: text\nbody: "<a>{text}</a>"\nheaders: { content-type: application/xml }',
    TEXT,
    "{ text: a }",
  ),
  patch: toManifest(
    "patch",
    "request: POST /json\nbody: input\nheaders: { content-type: application/merge-patch+json }",
    TEXT,
    "{ text: a }",
  ),
  bare: toManifest(
    "bare",
    'request: POST /json\nbody: "{text}"\nheaders: { content-type: application/merge-patch+json }',
    TEXT.replace(", required: [text]", ""),
    "{ text: a }",
  ),
  encoded: toManifest("encoded", 'request: "GET /projects/{text%2F}/issues"', TEXT, "{ text: group/project }"),
  kept: toManifest("kept", 'request: "GET /contents/{+text}"', TEXT, "{ text: docs/a.md }"),
  deep: toManifest(
    "deep",
    'request: GET /list\nquery: { "filter[*]": "{filter}", limit: 3 }',
    FILTER,
    "{ filter: { a: 1 } }",
  ),
  open: toManifest("open", 'request: GET /list\nquery: { "*": "{filter}", limit: 3 }', FILTER, "{ filter: { a: 1 } }"),
  pairs: toManifest(
    "pairs",
    'request: "GET /colours/{filter}"\nquery: { one: "{filter}" }\nheaders: { x-one: "{filter}" }',
    FILTER.replace(/ }$/, ", required: [filter] }"),
    "{ filter: { r: 1 } }",
  ),
  judged: toManifest(
    "judged",
    "request: GET /judge/{text}\nanswer: { failed: /error, error: /error/message }",
    TEXT,
    "{ text: a }",
  ),
};
