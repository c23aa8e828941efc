/** A credential of an upstream. */
export const KEY = "k-3f9a62c1d7";

/** A service that passes a text on. */
export const toManifest = (id: string, request: string, parts: string): string => `id: ${id}
title: ${id}
description: Passes a text on.
route: POST /v1/${id}
price: "0.002"
proxy:
  upstream: inner
  request: ${request}
${parts}input: { type: object, properties: { text: { type: string } }, required: [text] }
output: { type: object, properties: { ok: { type: boolean } }, required: [ok] }
tags: []
examples:
  - input: { text: plain }
`;

/** The same at no price. */
export const toFree = (manifest: string): string => manifest.replace(/^price.*\n/m, "");
