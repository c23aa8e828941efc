import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import type { Request } from "autocannon";
import { startServer } from "./contestant.ts";
import { paid, unpaid } from "./load.ts";
import { median } from "./median.ts";
import { PATHS } from "./shop.ts";

/** What one purchase weighs, in bytes: the unpaid request and its answer, and the paid ones. */
export interface WireRow {
  readonly title: string;
  /** The head of the 402, as nginx counts it. */
  readonly challengeHead: number;
  readonly challengeBody: number;
  /** The head and the body of the request with the payment. */
  readonly paidRequest: number;
  readonly paidAnswer: number;
  /** All four messages of a purchase. */
  readonly purchase: number;
}

/** The bytes of a request and of its answer; the head has the framing of the body with it. */
interface Exchange {
  readonly sent: number;
  readonly answer: { readonly head: number; readonly body: number };
}

/** Both sell the same routes on the same rails; the payer echoes what it was asked for, as stock clients do. */
export async function measureWire(): Promise<WireRow[]> {
  const rows: WireRow[] = [];
  for (const [title, args] of [
    ["payphone", ["payphone", "memory"]],
    ["@x402/express", ["peer"]],
  ] as const) {
    const [name, ...rest] = args;
    const server = await startServer(name, ...rest);
    try {
      const asked = (await unpaid())(PATHS.length);
      const bought = (await paid(server.url))(PATHS.length);
      const sold: (readonly [challenge: Exchange, paying: Exchange])[] = [];
      for (const [at, one] of asked.entries())
        sold.push([await exchange(server.url, one, 402), await exchange(server.url, bought[at] ?? one, 200)] as const);
      const of = (pick: (pair: (typeof sold)[number]) => number): number => median(sold.map(pick));
      rows.push({
        title,
        challengeHead: of(([challenge]) => challenge.answer.head),
        challengeBody: of(([challenge]) => challenge.answer.body),
        paidRequest: of(([, paying]) => paying.sent),
        paidAnswer: of(([, paying]) => paying.answer.head + paying.answer.body),
        purchase: of((pair) => pair.reduce((sum, { sent, answer }) => sum + sent + answer.head + answer.body, 0)),
      });
    } finally {
      await server.stop();
    }
  }
  return rows;
}

/** One request on a connection of its own, and how many bytes went each way. @throws Error for another status. */
async function exchange(url: string, { path = "/", headers, body }: Request, status: number): Promise<Exchange> {
  const options = { method: "POST", agent: false, headers: headers as OutgoingHttpHeaders };
  const call = request(new URL(path, url), options).end(body);
  const [response] = (await once(call, "response")) as [IncomingMessage];
  let received = 0;
  for await (const chunk of response) received += (chunk as Buffer).length;
  if (response.statusCode !== status) throw new Error(`${path} was answered ${response.statusCode}`);
  const { bytesRead = 0, bytesWritten = 0 } = response.socket;
  return { sent: bytesWritten, answer: { head: bytesRead - received, body: received } };
}

export function printWire(rows: readonly WireRow[]): readonly WireRow[] {
  console.log(
    "\n| bytes, the median of 18 routes | head of the 402 | its body | paid request | its answer | a purchase |",
  );
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const { title, challengeHead, challengeBody, paidRequest, paidAnswer, purchase } of rows)
    console.log(`| ${title} | ${[challengeHead, challengeBody, paidRequest, paidAnswer, purchase].join(" | ")} |`);
  return rows;
}
