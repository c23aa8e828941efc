import { expect } from "chai";
import { failsWith, request, stageEndpoint, VERSIONS } from "../support/endpoint-stage.ts";
import { openStall } from "./served/support/stall.ts";

const HANDSHAKE = VERSIONS.slice(1);

describe("the MCP endpoint", () => {
  const stage = stageEndpoint();
  const { old } = stage;

  describe("in the handshake's versions", () => {
    it("agrees to each version that it serves, and offers its newest for any other", async () => {
      for (const protocolVersion of HANDSHAKE) {
        const { body, status } = await old("initialize", { protocolVersion, capabilities: {}, clientInfo: {} });
        expect(status).to.equal(200);
        expect(body.result).to.deep.include({ protocolVersion, capabilities: { tools: {} } });
        expect(body.result.instructions).to.match(/x402/);
      }
      for (const protocolVersion of ["2024-11-05", "2026-07-28", "2030-01-01", "x"]) {
        const { body } = await old("initialize", { protocolVersion });
        expect(body.result.protocolVersion).to.equal("2025-11-25");
      }
    });

    it("introduces itself with what each version knows", async () => {
      const fields = {
        "2025-11-25": ["name", "title", "version", "description", "websiteUrl"],
        "2025-06-18": ["name", "title", "version"],
        "2025-03-26": ["name", "version"],
      };
      for (const [protocolVersion, known] of Object.entries(fields)) {
        const { body } = await old("initialize", { protocolVersion });
        expect(body.result.serverInfo, protocolVersion).to.have.all.keys(known);
      }
    });

    it("shows icons from the version on that has them", async () => {
      const icons = [{ src: "https://payphone.test/icon.png", mimeType: "image/png", sizes: ["48x48"] }];
      const other = await openStall({ icons });
      const infoIn = async (protocolVersion: string) =>
        (await other.post(request("initialize", { protocolVersion }))).body.result.serverInfo;
      expect((await infoIn("2025-11-25")).icons).to.deep.equal(icons);
      expect(await infoIn("2025-06-18")).not.to.have.property("icons");
      other.close();
    });

    it("wants to be told which version", async () => {
      failsWith(await old("initialize"), -32602, 200);
      failsWith(await old("initialize", { protocolVersion: 5 }), -32602, 200);
    });

    it("gives no session", async () => {
      const { headers } = await old("initialize", { protocolVersion: "2025-06-18" });
      expect(headers).not.to.have.property("mcp-session-id");
    });

    it("opens no handshake under a header of the stateless version", async () => {
      const answer = await old("initialize", { protocolVersion: "2025-11-25" }, "2026-07-28");
      failsWith(answer, -32020, 400);
    });

    it("answers ping with nothing", async () => {
      for (const version of HANDSHAKE) expect((await old("ping", undefined, version)).body.result).to.deep.equal({});
    });

    it("takes a missing version header for the version that had none", async () => {
      const [named, unnamed] = [await old("tools/list", {}, "2025-03-26"), await old("tools/list", {})];
      expect(unnamed.body).to.deep.equal(named.body);
    });

    it("refuses an unknown version header", async () => {
      for (const version of ["2024-11-05", "x", "", "2025-06-18, 2025-06-18"]) {
        for (const method of ["tools/list", "initialize"]) {
          const answer = await old(method, { protocolVersion: "2025-06-18" }, version);
          failsWith(answer, -32022, 400);
          expect(answer.body.error.data).to.deep.equal({ supported: VERSIONS, requested: version });
        }
      }
    });

    it("answers a method that it does not have with 200, since 404 would end a session", async () => {
      for (const version of HANDSHAKE)
        for (const method of ["resources/list", "notifications/initialized", "__proto__"])
          failsWith(await old(method, {}, version), -32601, 200);
    });

    it("adds nothing of the stateless version to its results", async () => {
      for (const version of HANDSHAKE) {
        for (const { body } of [
          await old("tools/list", {}, version),
          await stage.stall.call("roll", {}, { version }),
        ]) {
          expect(body.result).not.to.have.any.keys("resultType", "ttlMs", "cacheScope");
          expect(JSON.stringify(body.result._meta ?? {})).not.to.include("serverInfo");
        }
      }
    });

    it("answers server/discover to whoever asks", async () => {
      const { body } = await old("server/discover");
      expect(body.result).to.deep.include({ supportedVersions: VERSIONS, resultType: "complete" });
    });
  });
});
