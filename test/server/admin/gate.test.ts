import type { IncomingMessage } from "node:http";
import { expect } from "chai";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createTokenGate } from "../../../runtime/server/admin/gate.ts";
import { createLogBook } from "../../support/http.ts";

const TOKEN = "a-token-of-a-test-0123456789";

describe("the gate of the admin listener", () => {
  it("ends a session after a week, whatever the browser keeps, and when the token changes", async () => {
    let now = Date.UTC(2026, 4, 1);
    const open = (token: string) => createTokenGate({ token, clock: { now: () => now }, log: silentLog });
    const gate = open(TOKEN);
    const ask = (path: string, cookie?: string, from = gate) => {
      const request = { method: "GET", headers: { host: "localhost", cookie }, socket: {}, rawHeaders: [] };
      return from(request as unknown as IncomingMessage, new URL(path, "http://admin.invalid"));
    };
    const { headers = [] } = ask(`/.//evil.example/?token=${TOKEN}`) ?? {};
    expect(headers[headers.indexOf("Location") + 1], "leads nowhere else").to.equal("/evil.example/");
    const [cookie = ""] = (headers[headers.indexOf("Set-Cookie") + 1] as string).split(";");
    expect(ask("/", cookie)).to.equal(undefined);
    expect(ask("/", cookie, open(`${TOKEN}-new`))?.status).to.equal(401);
    const [name, value = ""] = cookie.split("=");
    const [end, proof] = value.split(".");
    expect(ask("/", `${name}=${Number(end) + 1}.${proof}`)?.status, "a later end").to.equal(401);
    now += 7 * 24 * 3_600_000;
    expect(ask("/", cookie)?.status).to.equal(401);
  });

  it("lets in by the name that the operator has given, and by no other", () => {
    const gate = createTokenGate({ token: TOKEN, host: "admin.Example", clock: { now: Date.now }, log: silentLog });
    const ask = (host: string | undefined) => {
      const request = { headers: { host, authorization: `Bearer ${TOKEN}` }, socket: {} } as IncomingMessage;
      return gate(request, new URL("http://admin.invalid/"))?.status;
    };
    for (const host of ["admin.example:4022", "Admin.Example", "10.0.0.5:4022"])
      expect(ask(host), host).to.equal(undefined);
    for (const host of ["evil.example", "x.admin.example", "", undefined]) expect(ask(host), host).to.equal(421);
  });

  it("logs wrong tokens once a minute, also after the clock was set back", () => {
    const { lines, ...log } = createLogBook();
    const request = { headers: { host: "localhost", authorization: "Bearer wrong" }, socket: {} } as IncomingMessage;
    const clock = { at: 0, now: () => clock.at };
    const gate = createTokenGate({ token: TOKEN, clock, log });
    for (clock.at of [3_600_000, 3_601_000, 3_660_000, 0]) gate(request, new URL("http://admin.invalid/"));
    expect(lines.map(({ times }) => times)).to.deep.equal([1, 2, 1]);
  });
});
