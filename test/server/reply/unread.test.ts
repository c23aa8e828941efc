import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { type Door, openDoor, toService } from "../../support/http.ts";

/** More than a system buffers for a connection. */
const FILE = "x".repeat(20_000_000);
const [ONE, OTHER] = ["203.0.113.1", "203.0.113.2"];

describe("answers that their clients do not read", () => {
  let door: Door;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    const invoke = async () => ({ kind: "result", output: FILE }) as const;
    door = await openDoor([toService({ id: "file", route: "GET /v1/file" })], {
      invoke,
      mostUnread: 70_000_000,
      trustProxy: 1,
    });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await door.close({ graceMs: 0 });
  });

  /** Asks for the file, and reads no more of it than its beginning until the returned function is called. */
  async function ask(client: string): Promise<() => Promise<number>> {
    const socket = connect(door.port, "127.0.0.1").on("error", () => undefined);
    sockets.push(socket);
    socket.write(`GET /v1/file HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\nConnection: close\r\n\r\n`);
    const [chunk] = (await once(socket, "data")) as [Buffer];
    socket.pause();
    let bytes = chunk.length;
    return async () => {
      const closed = once(socket, "close");
      socket.on("data", (more: Buffer) => (bytes += more.length)).resume();
      await closed;
      return bytes;
    };
  }

  it("are given up beyond their bytes: the oldest of the address that holds most, and nobody else's", async () => {
    const others = await ask(OTHER);
    const reads = [await ask(ONE), await ask(ONE), await ask(ONE)];
    const [oldest = 0, ...newer] = await Promise.all(reads.map((read) => read()));
    expect(oldest).to.be.below(FILE.length);
    for (const bytes of [...newer, await others()]) expect(bytes).to.be.above(FILE.length);
    expect(door.lines.filter(({ event }) => event === "http.failed")).to.have.lengthOf(1);
  });

  it("count until they are read, so that any number can be had one after another", async () => {
    const slow = await ask(ONE);
    for (let count = 0; count < 4; count += 1) expect(await (await ask(ONE))()).to.be.above(FILE.length);
    expect(await slow(), "the one that waits meanwhile").to.be.above(FILE.length);
    expect(door.lines.filter(({ event }) => event === "http.failed")).to.deep.equal([]);
  });
});
