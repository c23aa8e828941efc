import { readdirSync } from "node:fs";
import { expect } from "chai";
import { type OpenPeerDoor, openOwnIdentity, openPeerDoor } from "../../../../runtime/cli/serve/peer-door.ts";
import { silentLog } from "../../../../runtime/core/silent-log.ts";
import { createMemoryLimiter } from "../../../../runtime/drivers/memory-limiter.ts";
import { createFolder } from "../../../support/folder.ts";
import type { Loose } from "../../mcp/served/support/stall.ts";
import { BASE_URL, type Door, openDoor } from "./support/door.ts";

describe("the door between agents, as the server opens it", () => {
  let folder: string;
  let door: Door;
  let opened: OpenPeerDoor;
  const open = async (redisUrl?: string, url?: string, facilitator?: string): Promise<OpenPeerDoor> => {
    const { services, invoke, exchanges, store, clock } = door;
    const config = {
      dataDir: folder,
      publicBaseUrl: BASE_URL,
      redisUrl,
      env: {},
      identityKeys: undefined,
      facilitator: { url, headers: {}, cdp: undefined },
    };
    const rails = door.site.rails.map((rail) => ({ ...rail, ...(facilitator !== undefined && { facilitator }) }));
    const site = { ...door.site, rails };
    const identity = await openOwnIdentity({ config, store, clock });
    const sold = { site, services, invoke, baseUrl: BASE_URL, exchanges, identity, store, clock, log: silentLog };
    const links = { documentation: `${BASE_URL}/docs` };
    return openPeerDoor({ ...sold, config, createLimiter: createMemoryLimiter, links });
  };
  before(async () => {
    folder = createFolder();
    door = await openDoor();
    opened = await open();
  });
  after(async () => {
    await opened.close();
    door.close();
  });

  const read = ({ documents }: OpenPeerDoor, path: string): Loose => JSON.parse(documents.get(path)!.body.toString());

  it("has its card and its keys beside it", () => {
    expect([...opened.doors.keys()]).to.deep.equal(["/v1/a2a"]);
    expect([...opened.documents.keys()]).to.deep.equal([
      "/.well-known/agent-card.json",
      "/.well-known/agent.json",
      "/.well-known/jwks.json",
      "/.well-known/did.json",
    ]);
    const card = read(opened, "/.well-known/agent-card.json");
    expect(card.documentationUrl).to.equal(`${BASE_URL}/docs`);
    const { kid } = JSON.parse(Buffer.from(card.signatures[0].protected, "base64url").toString());
    expect(read(opened, "/.well-known/jwks.json").keys.map((key: Loose) => key.kid)).to.deep.equal([kid]);
  });

  it("has the same card where clients of A2A 0.2 look for it", () => {
    const { documents } = opened;
    expect(documents.get("/.well-known/agent.json")).to.equal(documents.get("/.well-known/agent-card.json"));
  });

  it("keeps its identity in the data directory, or in the store that machines share", async () => {
    expect(readdirSync(folder)).to.deep.equal(["a2a-identity.json"]);
    const again = await open();
    expect(read(again, "/.well-known/jwks.json")).to.deep.equal(read(opened, "/.well-known/jwks.json"));
    const shared = await open("redis://elsewhere.example");
    expect(read(shared, "/.well-known/jwks.json")).not.to.deep.equal(read(opened, "/.well-known/jwks.json"));
    expect(await door.store.get("a2a:identity")).to.have.property("keys");
    await Promise.all([again.close(), shared.close()]);
  });

  it("tells peers who settles, and no more of its address than the host", async () => {
    const facilitatorOf = (from: OpenPeerDoor): string =>
      read(from, "/.well-known/agent-card.json").extensions["payphone:x402"].facilitator;
    expect(facilitatorOf(opened)).to.equal("in-process");
    const remote = await open(undefined, "https://facilitator.example/v2?key=secret");
    expect(facilitatorOf(remote)).to.equal("https://facilitator.example");
    const own = await open(undefined, "https://facilitator.example/v2", "in-process");
    expect(facilitatorOf(own), "where another rail has a remote one").to.equal("in-process");
    await Promise.all([remote.close(), own.close()]);
  });
});
