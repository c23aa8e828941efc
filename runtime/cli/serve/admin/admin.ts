import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect } from "node:net";
import { join, relative } from "node:path";
import type { Log } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import { createTokenGate } from "../../../server/admin/gate.ts";
import { createAdminListener } from "../../../server/admin/listener.ts";
import type { AdminRoute } from "../../../server/admin/routes.ts";
import { openServer } from "../../../server/listen.ts";
import type { Config } from "../../config/config.ts";

export interface AdminOptions {
  readonly config: Pick<Config, "dataDir" | "admin">;
  readonly routes: readonly AdminRoute[];
  readonly log: Log;
}

/** What the operator reaches. */
export interface OpenAdmin {
  /** The socket in the data directory; undefined where none can be made. */
  readonly socket: string | undefined;
  /** `http://host:port` of ADMIN_PORT; undefined when that is not set. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const GRACE_MS = 5000;
const LOOPBACK = /^(?:127\.|localhost$|::1$|\[::1\]$)/;
/** Linux takes 107 bytes, macOS 103. */
const LONGEST_SOCKET = 103;

/**
 * Opens the socket that the commands use, and the port of the operator's pages. A socket that cannot be made is logged: the
 * shop sells without. @throws Problem `unavailable` when ADMIN_PORT cannot be used.
 */
export async function openAdmin({ config, routes, log }: AdminOptions): Promise<OpenAdmin> {
  const { dataDir, admin } = config;
  const local = createAdminListener({ routes, log });
  const socket = await openSocket(dataDir, local).catch((error: unknown) => {
    log.warn("admin.no-socket", { error });
    return undefined;
  });
  try {
    const { port, host } = admin;
    const pages = port === undefined ? undefined : await openServer({ host, port });
    const terms = { token: adminToken(config), login: admin.login, clock: { now: Date.now }, log };
    const gate = pages && createTokenGate(terms);
    if (pages && !LOOPBACK.test(host))
      log.warn("admin.exposed", { host, note: "anybody who reaches it may try tokens" });
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

/** What lets the operator in at ADMIN_PORT: ADMIN_TOKEN, or a token that the data directory keeps. @throws Problem `unavailable`. */
export function adminToken({ dataDir, admin }: Pick<Config, "dataDir" | "admin">): string {
  if (admin.token !== undefined) return admin.token;
  const file = join(dataDir, "admin.token");
  try {
    writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST")
      throw new Problem("unavailable", `No token can be kept in ${file}: set ADMIN_TOKEN (${message})`);
  }
  return readFileSync(file, "utf8").trim();
}

/** The name of a process's socket: the first process of a data directory has `admin.sock`, others have their id in it. */
const SOCKET = "admin.sock";

interface OpenSocket {
  readonly path: string;
  close(): Promise<void>;
}

/** A socket that this user alone can reach. One that a dead process has left is replaced. */
async function openSocket(dataDir: string, listener: RequestListener): Promise<OpenSocket> {
  const isTaken = await answers(toSocketPath(join(dataDir, SOCKET)));
  const path = join(dataDir, isTaken ? `admin-${process.pid}.sock` : SOCKET);
  const address = toSocketPath(path);
  rmSync(path, { force: true });
  const server = createServer(listener);
  await listen(server, address);
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

function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const umask = process.umask(0o177); // The file is made in this turn: nobody else can reach it from its first moment on.
  server.once("error", reject).listen({ path, exclusive: true }, () => {
    server.off("error", reject);
    resolve();
  });
  process.umask(umask);
  return promise;
}

/** Whether a process listens at a socket. */
export function answers(path: string): Promise<boolean> {
  if (!existsSync(path)) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ path }, () => resolve(true)).once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** The shorter way to a socket: its address has little room. */
export function toSocketPath(path: string): string {
  const near = relative(process.cwd(), path);
  return Buffer.byteLength(path) > LONGEST_SOCKET && near.length < path.length ? near : path;
}
