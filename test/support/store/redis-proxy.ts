import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";

/**
 * How one command is handled. `pass`: it arrives and is answered. `refuse`: the connection breaks before it arrives.
 * `cut`: it arrives, and the connection breaks before the answer. `mute`: it arrives, and nothing is answered on its
 * connection any more. `late`: it arrives after its client has given up.
 */
export type CommandFate = "pass" | "refuse" | "cut" | "mute" | "late";

/** A proxy between a Redis and its clients. */
export interface RedisProxy {
  readonly url: string;
  /** Sets how all further commands are handled; by default all pass. */
  intervene(decide: (words: readonly string[]) => CommandFate): void;
  /** Holds all data in both directions until `resume`, which then delivers it. */
  pause(): void;
  resume(): void;
  /** Breaks all connections. */
  cut(): void;
  stop(): Promise<void>;
}

/** Longer than a client waits. */
const LATE_MS = 2500;

/** Starts a proxy on loopback, in front of the Redis at `target`. */
export async function startRedisProxy(target: string): Promise<RedisProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isPaused = false;
  let decide: (words: readonly string[]) => CommandFate = () => "pass";

  const server = createServer((client) => {
    const redis = dial(Number(port), hostname);
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
      if (isPaused) socket.pause();
    }
    join(client, redis, (words) => decide(words));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intervene: (judge) => {
      decide = judge;
    },
    pause() {
      isPaused = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isPaused = false;
      for (const socket of sockets) socket.resume();
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Forwards commands to Redis and replies to the client, each according to its fate. */
function join(client: Socket, redis: Socket, decide: (words: readonly string[]) => CommandFate): void {
  /** The fates of the commands that wait for their replies. */
  const waiting: CommandFate[] = [];
  const held: Buffer[] = [];
  let isMute = false;
  client.on("close", () => held.length === 0 && redis.destroy());
  redis.on("close", () => client.destroy());
  split(client, (command) => {
    const fate = held.length > 0 ? "late" : decide(wordsOf(command));
    if (fate === "refuse") return void client.destroy();
    if (fate === "late") {
      if (held.push(command) === 1) setTimeout(() => redis.end(Buffer.concat(held)), LATE_MS);
      isMute = true;
      return;
    }
    waiting.push(fate);
    redis.write(command);
  });
  split(redis, (reply) => {
    const fate = waiting.shift();
    if (fate === "cut") client.destroy();
    if (fate === "mute") isMute = true;
    if (!isMute && !client.destroyed) client.write(reply);
  });
}

/** Calls back with each whole value that a socket has received. */
function split(socket: Socket, onValue: (value: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = endOf(rest, 0); end !== undefined && !socket.destroyed; end = endOf(rest, 0)) {
      onValue(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

/** The end of a value of the Redis serialization protocol; undefined while the value is incomplete. */
function endOf(bytes: Buffer, at: number): number | undefined {
  const line = bytes.indexOf("\r\n", at);
  if (line < 0) return undefined;
  const kind = String.fromCharCode(bytes[at] as number);
  const size = Number(bytes.toString("latin1", at + 1, line));
  let end: number | undefined = line + 2;
  if (kind === "$" && size >= 0) end += size + 2;
  if (kind === "*") for (let left = size; left > 0 && end !== undefined; left -= 1) end = endOf(bytes, end);
  return end !== undefined && end <= bytes.length ? end : undefined;
}

/** The words of a command, which is an array of texts. */
function wordsOf(command: Buffer): string[] {
  const words: string[] = [];
  for (let at = command.indexOf("$"); at >= 0 && at < command.length; ) {
    const line = command.indexOf("\r\n", at);
    const size = Number(command.toString("latin1", at + 1, line));
    words.push(command.toString("utf8", line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return words;
}
