import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Reply } from "../reply/reply.ts";

/** Lets the operator in: undefined, or the answer to somebody who is not let in yet. */
export type AdminGate = (request: IncomingMessage, url: URL) => Reply | undefined;

const COOKIE = "payphone_admin";
/** Where it is said how to get in. */
const HOW = "The token of this listener is missing or wrong: `payphone status --token` prints it";

/**
 * A gate that asks for a token: as `Authorization: Bearer`, or once as `?token=`, which is exchanged for a cookie that no
 * script can read and no other site can send. The cookie does not hold the token.
 */
export function createTokenGate(token: string): AdminGate {
  const session = createHmac("sha256", token).update("session").digest("base64url");
  return ({ headers, method }, url) => {
    if (!isOwnName(headers.host)) return misdirected();
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (bearer !== undefined) return isSame(bearer, token) ? undefined : refuse();
    const given = url.searchParams.get("token");
    if (given !== null && (method === "GET" || method === "HEAD")) return isSame(given, token) ? enter(url) : refuse();
    const cookies = (headers.cookie ?? "").split(";").map((part) => part.trim().split("="));
    return cookies.some(([name, value]) => name === COOKIE && isSame(value ?? "", session)) ? undefined : refuse();
  };

  /** The same page without the token in its address, which histories and logs keep. */
  function enter(url: URL): Reply {
    const clean = new URL(url);
    clean.searchParams.delete("token");
    const cookie = `${COOKIE}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000`;
    const location = clean.pathname.replace(/^\/+/, "/") + clean.search; // `//host` would lead elsewhere.
    return {
      status: 303,
      headers: ["Location", location, "Set-Cookie", cookie, "Cache-Control", "no-store"],
      body: "",
    };
  }
}

/**
 * Whether a request names this listener by an address or as this machine. A page elsewhere can lead a browser here under
 * its own name (DNS rebinding), and would then be of one origin with these pages.
 */
function isOwnName(host = ""): boolean {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

/** Compares in the same time whatever was given. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => createHmac("sha256", "compare").update(text).digest());
  return timingSafeEqual(one as Buffer, other as Buffer);
}

const misdirected = (): Reply => ({
  status: 421,
  headers: ["Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store"],
  body: "These pages have no name of their own: ask for them by an address or as localhost\n",
});

const refuse = (): Reply => ({
  status: 401,
  headers: ["Content-Type", "text/plain; charset=utf-8", "WWW-Authenticate", "Bearer", "Cache-Control", "no-store"],
  body: `${HOW}\n`,
});
