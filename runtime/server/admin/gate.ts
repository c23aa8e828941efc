import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Clock, Log } from "../../api/capabilities.ts";
import type { Reply } from "../reply/reply.ts";
import { createLoginCheck, type LoginHeader } from "./login-header.ts";
import { asksForPage, PLAIN_POLICY, toSignInPage } from "./plain-pages.ts";

/** Authenticates the operator: returns undefined when the request may pass, otherwise the reply to send. */
export type AdminGate = (request: IncomingMessage, url: URL) => Reply | undefined;

export interface AdminGateOptions {
  readonly token: string;
  /** Where the operator lets it listen; when it is a name, the pages are asked for by it. */
  readonly host?: string | undefined;
  /** When omitted, no proxy is trusted. */
  readonly login?: LoginHeader | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Tells the operator where to find the token. */
const HOW = "The token of this listener is missing or wrong: `payphone status --token` prints it";
const SESSION_SECONDS = 7 * 24 * 60 * 60;
/** Wrong tokens are logged at most once in this time. */
const QUIET_MS = 60_000;

/**
 * A gate that asks for a token, sent as `Authorization: Bearer`, or once as `?token=`. The query parameter is exchanged
 * for a cookie (HttpOnly, SameSite=Strict; Secure where `X-Forwarded-Proto` says https). The cookie does not hold the
 * token, and it expires.
 */
export function createTokenGate({ token, host, login, clock, log }: AdminGateOptions): AdminGate {
  const isLoggedIn = login ? createLoginCheck(login) : () => false;
  // Browsers send cookies to every port of a host, so each shop on one machine needs a cookie name of its own.
  const name = `payphone_admin_${sign(token, "name").slice(0, 8)}`;
  let wrong = 0;
  let toldAt = Number.NEGATIVE_INFINITY;

  return (request, url) => {
    const { headers } = request;
    if (!isOwnName(headers.host, host)) return misdirected();
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (bearer !== undefined) return isSame(bearer, token) ? undefined : refuse(request, url, "wrong");
    const given = url.searchParams.get("token")?.trim(); // It may be copied with a blank.
    if (given !== undefined) return isSame(given, token) ? enter(request, url) : refuse(request, url, "wrong");
    if (isLoggedIn(request) || hasSession(headers.cookie)) return undefined;
    return refuse(request, url, "missing");
  };

  /** Redirects to the same page without the token, because browser histories and logs keep URLs. */
  function enter({ headers }: IncomingMessage, url: URL): Reply {
    const clean = new URL(url);
    clean.searchParams.delete("token");
    const end = Math.floor(clock.now() / 1000) + SESSION_SECONDS;
    const value = `${end}.${sign(token, `session ${end}`)}`;
    const secure = headers["x-forwarded-proto"] === "https" ? "; Secure" : ""; // A false one harms its sender only.
    const cookie = `${name}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${SESSION_SECONDS}${secure}`;
    const location = clean.pathname.replace(/^\/+/, "/") + clean.search; // `//host` would lead elsewhere.
    return {
      status: 303,
      headers: ["Location", location, "Set-Cookie", cookie, "Cache-Control", "no-store"],
      body: "",
    };
  }

  function hasSession(cookies = ""): boolean {
    const now = clock.now() / 1000;
    return cookies.split(";").some((part) => {
      const [, end = "", proof = ""] = new RegExp(`^ *${name}=(\\d{1,12})\\.([\\w-]+) *$`).exec(part) ?? [];
      return Number(end) > now && isSame(proof, sign(token, `session ${end}`));
    });
  }

  function refuse(request: IncomingMessage, url: URL, why: "wrong" | "missing"): Reply {
    const isWrong = why === "wrong";
    if (isWrong) tell(request.socket.remoteAddress);
    const isPage = asksForPage(request);
    const [type, body] = isPage
      ? ["text/html; charset=utf-8", toSignInPage(isWrong, url.searchParams)]
      : ["text/plain; charset=utf-8", `${HOW}\n`];
    const shared = ["WWW-Authenticate", "Bearer", "Cache-Control", "no-store"];
    const policy = isPage ? ["Content-Security-Policy", PLAIN_POLICY] : [];
    const again = isPage && !isWrong && isLed(request) ? ["Refresh", "0"] : [];
    return { status: 401, headers: ["Content-Type", type, ...shared, ...policy, ...again], body };
  }

  function tell(from: string | undefined): void {
    wrong += 1;
    if (Math.abs(clock.now() - toldAt) < QUIET_MS) return; // Absolute: the clock may have been set back.
    log.warn("admin.wrong-token", { times: wrong, from });
    toldAt = clock.now();
    wrong = 0;
  }
}

/**
 * Whether the Host header is an IP address, localhost, or the name that the operator has given. Otherwise a foreign page could
 * point its own host name here (DNS rebinding) and would share an origin with these pages.
 */
function isOwnName(host = "", own?: string): boolean {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  if (name === own?.toLowerCase()) return true;
  return name === "localhost" || name.endsWith(".localhost") || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

/**
 * Whether a link on another site has led here. Browsers then hold the session's cookie back (SameSite=Strict), and send it
 * when the page that they got asks again.
 */
const isLed = ({ method, headers }: IncomingMessage): boolean =>
  method === "GET" && headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-dest"] === "document";

const sign = (token: string, text: string): string => createHmac("sha256", token).update(text).digest("base64url");

/** Compares in constant time. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => createHmac("sha256", "compare").update(text).digest());
  return timingSafeEqual(one as Buffer, other as Buffer);
}

const misdirected = (): Reply => ({
  status: 421,
  headers: ["Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store"],
  body: "Ask for these pages by an address, as localhost, or by a name that ADMIN_HOST gives them\n",
});
