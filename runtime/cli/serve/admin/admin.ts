import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import type { RequestListener, Server } from "node:http";
import { join } from "node:path";
import type { Log } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import { makeFile, makeFolder } from "../../../drivers/folder.ts";
import { createTokenGate } from "../../../server/admin/gate.ts";
import { createAdminListener } from "../../../server/admin/listener.ts";
import type { AdminRoute } from "../../../server/admin/routes.ts";
import { isLoopback, openServer } from "../../../server/listen.ts";
import { toJsonReply } from "../../../server/reply/reply.ts";
import { createServer } from "../../../server/request/node-http.ts";
import type { Config } from "../../config/config.ts";
import { answers, SOCKET, toOwnSocket, toSocketPath } from "../../process/sockets.ts";

export interface AdminOptions {
  readonly config: Pick<Config, "dataDir" | "admin">;
  readonly routes: readonly AdminRoute[];
  readonly log: Log;
}

/** The operator's socket and port. */
export interface OpenAdmin {
  /** The socket in the data directory; undefined when it could not be created. */
  readonly socket: string | undefined;
  /** `http://host:port` of ADMIN_PORT; undefined when ADMIN_PORT is not set. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const GRACE_MS = 5000;
const VARIABLES = { host: "ADMIN_HOST", port: "ADMIN_PORT" };

/**
 * Opens the socket for commands, and the port for the operator's pages. A socket that cannot be created is only logged:
 * the shop sells without it. @throws Problem `unavailable` when ADMIN_PORT cannot be used.
 */
export async function openAdmin({ config, routes, log }: AdminOptions): Promise<OpenAdmin> {
  const { dataDir, admin } = config;
  let ofPort: string | undefined;
  const tellToken = toTokenRoute(() => ofPort ?? adminToken(config)); // The file may hold that of the next start.
  const local = createAdminListener({ routes: [...routes, tellToken], log });
  const socket = await openSocket(dataDir, local).catch((error: unknown) => {
    log.warn("admin.no-socket", { error });
    return undefined;
  });
  try {
    const { port, host } = admin;
    const token = port === undefined ? "" : adminToken(config); // Before the port: an open one keeps the process alive.
    if (port !== undefined) ofPort = token;
    const pages = port === undefined ? undefined : await openServer({ host, port, variables: VARIABLES });
    const gate = pages && createTokenGate({ token, host, login: admin.login, clock: { now: Date.now }, log });
    if (pages && !isLoopback(host)) log.warn("admin.exposed", { host, note: "anybody who reaches it may try tokens" });
    pages?.attach(createAdminListener({ routes, gate, log }));
    return {
      socket: socket?.path,
      url: pages?.url,
      async close() {
        await Promise.all([socket?.close(), pages?.close({ graceMs: GRACE_MS })]);
      },
    };
  } catch (error) {
    await socket?.close();
    throw error;
  }
}

/** The path on the socket where a process tells its token: its environment or data directory may differ from a command's. */
export const TOKEN_PATH = "/token";

const toTokenRoute = (tell: () => string): AdminRoute => ({
  method: "GET",
  path: TOKEN_PATH,
  isLocal: true,
  handle: () => toJsonReply({ token: tell() }),
});

/** The token for ADMIN_PORT: ADMIN_TOKEN, or one that is kept in the data directory. @throws Problem `unavailable`. */
export function adminToken({ dataDir, admin }: Pick<Config, "dataDir" | "admin">): string {
  if (admin.token !== undefined) return admin.token;
  const file = join(dataDir, "admin.token");
  try {
    const kept = keepToken(file);
    if (kept !== "") return kept;
    rmSync(file); // A power cut or a full disk can leave it empty, and an empty token would let anybody in.
    const made = keepToken(file);
    if (made === "") throw new Error("it is empty");
    return made;
  } catch (error) {
    const { message } = error as Error;
    throw new Problem("unavailable", `No token can be kept in ${file}: set ADMIN_TOKEN (${message})`);
  }
}

/** The token in a file, which is made where there is none. */
function keepToken(file: string): string {
  makeFile(file, randomBytes(32).toString("base64url"));
  return readFileSync(file, "utf8").replaceAll("\0", "").trim();
}

interface OpenSocket {
  readonly path: string;
  close(): Promise<void>;
}

/** Opens a socket that only this user can reach: the first one on which no other process listens. */
async function openSocket(
  dataDir: string,
  listener: RequestListener,
  [name, id] = [SOCKET, process.pid],
): Promise<OpenSocket> {
  makeFolder(dataDir, 0o700); // With Redis, nothing else needs it before.
  const path = join(dataDir, name);
  const server = createServer(listener);
  // Processes of several containers may have the same id.
  if (!(await take(server, toSocketPath(path)))) return openSocket(dataDir, listener, [toOwnSocket(id), id + 1]);
  server.unref();
  return {
    path,
    async close() {
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), GRACE_MS).unref();
      await new Promise<void>((resolve) => server.close(() => resolve())); // Also removes the file.
    },
  };
}

/** Listens on a socket, in place of a dead process; false when another process does, which may have begun just now. */
async function take(server: Server, path: string): Promise<boolean> {
  const left = changedAt(path);
  if (await answers(path)) return false;
  if (left !== undefined && changedAt(path) === left) rmSync(path, { force: true });
  return listen(server, path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      return false;
    },
  );
}

const changedAt = (path: string): bigint | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs;

function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const umask = process.umask(0o177); // Set for the creation only, so that nobody else can ever open the socket.
  server.once("error", reject).listen({ path, exclusive: true }, () => {
    server.off("error", reject).on("error", () => {}); // A connection that the system could not accept.
    resolve();
  });
  process.umask(umask);
  return promise;
}
