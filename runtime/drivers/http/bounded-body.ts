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
    if (size > maxBytes) throw toTooLarge(title, maxBytes);
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
    let size = 0;
    // Not a generator: when nobody has read from it, cancelling one would leave the connection open.
    const bound = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size > maxBytes) throw toTooLarge(title, maxBytes);
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(bound), response);
  };

const toTooLarge = (title: string, maxBytes: number): Problem =>
  new Problem("upstream-failed", `${title} answered with more than ${maxBytes} bytes`);
