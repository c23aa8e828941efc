import { expect } from "chai";
import { createAccessCheck, type McpAccess } from "../../../runtime/surfaces/mcp/access.ts";
import { openStall } from "./served/support/stall.ts";

const PUBLIC: McpAccess = { baseUrl: "https://payphone.example", loopback: false };
const LOCAL: McpAccess = { baseUrl: "http://localhost:4021", loopback: true };

describe("access to the MCP endpoint", () => {
  const isWelcome = (access: McpAccess, host: string | undefined, origin?: string): boolean =>
    createAccessCheck(access)({ host, origin }) === undefined;

  describe("of a public server", () => {
    it("is open to programs, which send no Origin, under any Host", () => {
      for (const host of ["payphone.example", "10.0.0.1:4021", undefined])
        expect(isWelcome(PUBLIC, host)).to.equal(true);
    });

    it("is open to the pages of every origin, since there is no account to abuse", () => {
      const origins = [
        "https://payphone.example",
        "https://agent.example",
        "http://localhost:6274",
        "chrome-extension://abcdef",
        "null",
      ];
      for (const origin of origins) expect(isWelcome(PUBLIC, "payphone.example", origin), origin).to.equal(true);
    });

    it("is closed to what is no origin", () => {
      const bad = [
        "",
        "agent.example",
        "https://",
        "https://a b",
        "https://a/path",
        "https://u@a",
        "https://a, https://b",
      ];
      for (const origin of bad) expect(isWelcome(PUBLIC, "payphone.example", origin), origin).to.equal(false);
    });
  });

  describe("of a server on a loopback address", () => {
    it("is open under the names of this machine, and behind a proxy under whatever name that sends", () => {
      const behindProxy = { ...PUBLIC, loopback: true };
      for (const host of ["localhost:4021", "127.0.0.1", "[::1]:4021", "LOCALHOST"])
        expect(isWelcome(LOCAL, host), host).to.equal(true);
      for (const host of ["payphone.example", "Payphone.Example:443", "upstream_of_nginx", "www.payphone.example"])
        expect(isWelcome(behindProxy, host, "https://agent.example"), host).to.equal(true);
    });

    it("is closed under any other name, which may have been rebound to it", () => {
      const bad = [
        "evil.example",
        "evil.example:4021",
        "localhost.evil.example",
        "evil.example@localhost",
        "localhost/evil",
        "localhost:",
        "localhost:x",
        "127.0.0.1.evil.example",
        "",
        undefined,
      ];
      for (const host of bad) expect(isWelcome(LOCAL, host), host).to.equal(false);
    });

    it("is open to pages of this machine, and closed to those of others", () => {
      const at = (origin: string) => isWelcome(LOCAL, "localhost:4021", origin);
      for (const origin of ["http://localhost:4021", "http://localhost:6274", "http://127.0.0.1", "http://[::1]:5173"])
        expect(at(origin), origin).to.equal(true);
      for (const origin of [
        "http://evil.example",
        "http://evil.example:4021",
        "null",
        "chrome-extension://localhost",
        "localhost:6274",
      ])
        expect(at(origin), origin).to.equal(false);
    });
  });

  it("is refused with 403 before anything is read, and without an id", async () => {
    const stall = await openStall({ baseUrl: "http://localhost:4021", loopback: true });
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    for (const headers of [
      { host: "evil.example" } as Record<string, string>,
      { host: "localhost:4021", origin: "https://evil.example" },
    ]) {
      const { status, body } = await stall.post(ping, headers);
      expect(status).to.equal(403);
      expect(body.error.code).to.equal(-32600);
      expect(body).not.to.have.property("id");
    }
    expect((await stall.post(ping, { host: "localhost:4021" })).status).to.equal(200);
    stall.close();
  });
});
