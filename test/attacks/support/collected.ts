import { eventually } from "../../support/eventually.ts";
import type { Seller } from "../../support/sellers/seller.ts";

/** Lets a seller be asked what nothing can free any more. */
export const INSPECTED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/** The resident memory of a seller with `INSPECTED`, in bytes, once V8 has freed what it can (Chrome DevTools Protocol). */
export async function collectedMemory(seller: Pick<Seller, "output">): Promise<number> {
  const address = await eventually(() => /^Debugger listening on (ws:\S+)$/m.exec(seller.output())?.[1]);
  const socket = new WebSocket(address ?? "");
  try {
    await once(socket, "open");
    await ask(socket, 1, "HeapProfiler.collectGarbage");
    const expression = "process.memoryUsage.rss()";
    const { result } = (await ask(socket, 2, "Runtime.evaluate", { expression })) as { result: { value: number } };
    return result.value;
  } finally {
    socket.close();
  }
}

async function ask(socket: WebSocket, id: number, method: string, params: object = {}): Promise<unknown> {
  socket.send(JSON.stringify({ id, method, params }));
  for (;;) {
    const { data } = (await once(socket, "message")) as MessageEvent;
    const answer = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
    if (answer.id === id) return answer.result;
  }
}

const once = (socket: WebSocket, name: "open" | "message"): Promise<Event> =>
  new Promise((resolve, reject) => {
    socket.addEventListener(name, resolve, { once: true });
    socket.addEventListener("error", () => reject(new Error("the inspector cannot be reached")), { once: true });
  });
