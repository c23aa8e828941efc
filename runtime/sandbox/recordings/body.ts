import { sha256 } from "../../core/digest.ts";
import { tryParseJson } from "../../core/json.ts";
import type { WireRequest } from "../../drivers/upstream/transport.ts";

/** A request body as recordings describe it. */
export interface RecordedBody {
  /** The JSON or the text. A form with files is a list of its parts; of each file, only the digest is kept. */
  readonly body?: unknown;
  readonly type?: string;
}

/** Describes the body of a request, so that equal bodies have equal descriptions. */
export async function describeBody({ body, headers }: Pick<WireRequest, "body" | "headers">): Promise<RecordedBody> {
  if (body === undefined || body.length === 0) return {};
  const type = headers["content-type"] ?? "";
  const media = type.split(";")[0]?.trim().toLowerCase() ?? "";
  if (media === "multipart/form-data") return { body: await toParts(body, type), type: media };
  if (typeof body !== "string") return { body: toDigest(body), type: media };
  const json = tryParseJson(body);
  return json === undefined ? { body, type: media } : { body: json };
}

async function toParts(body: string | Uint8Array, type: string): Promise<object> {
  const bytes = typeof body === "string" ? body : new Uint8Array(body);
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const parts = [...form].map(async ([name, value]) =>
    typeof value === "string"
      ? [name, value]
      : [name, { name: value.name, media: value.type, ...toDigest(await value.bytes()) }],
  );
  const byName = Map.groupBy(await Promise.all(parts), ([name]) => name);
  const values = [...byName].map(([name, all]) => [name, all.length === 1 ? all[0]?.[1] : all.map(([, one]) => one)]);
  return Object.fromEntries(values);
}

const toDigest = (bytes: Uint8Array): { readonly bytes: number; readonly sha256: string } => ({
  bytes: bytes.byteLength,
  sha256: sha256(bytes),
});
