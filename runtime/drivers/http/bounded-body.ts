import { Problem } from "../../api/problem.ts";

type Body = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Passes a body on, up to `maxBytes`.
 * @param title names the source in the error.
 * @throws Problem `upstream-failed` as soon as there are more bytes.
 */
export async function* toBounded(
  body: Body,
  title: string,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Problem("upstream-failed", `${title} answered with more than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** Reads a whole body. @throws as `toBounded`; whatever the body throws. */
export async function readBounded(body: Body, title: string, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of toBounded(body, title, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** `fetch` whose answers fail as `toBounded` does after `maxBytes`, for clients that read them as a whole. */
export const createBoundedFetch =
  (title: string, maxBytes: number) =>
  async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    const body = response.body && ReadableStream.from(toBounded(response.body, title, maxBytes));
    return new Response(body, response);
  };
