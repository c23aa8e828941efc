import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { canonicalizeAgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { canonicalOf } from "../../../runtime/core/digest.ts";
import { createIdentity } from "../../../runtime/core/peers/identity.ts";
import { readCardKeys, toPeerKey } from "../../../runtime/core/peers/keys.ts";
import { toAgentCard, toJwks } from "../../../runtime/surfaces/a2a/agent-card.ts";
import { toLibraryForm } from "../../../runtime/surfaces/a2a/agent-card-signatures.ts";
import { toSkill } from "../../../runtime/surfaces/a2a/skills.ts";
import schema from "../../fixtures/a2a/agent-card-0.3.0.schema.json" with { type: "json" };
import type { Loose } from "../mcp/served/support/stall.ts";
import { BASE_URL, type Door, MANIFESTS, openDoor } from "./served/support/door.ts";
import { toKey } from "./served/support/peer.ts";

describe("the agent card", () => {
  let door: Door;
  let card: Loose;
  let jwks: Loose;
  const make = (identity = door.identity): Loose => {
    const { services, site } = door;
    const links = { documentation: `${BASE_URL}/docs`, icon: `${BASE_URL}/icon.png` };
    const options = { services, site, baseUrl: BASE_URL, facilitator: "https://facilitator.example", identity, links };
    return JSON.parse(JSON.stringify(toAgentCard(options)));
  };
  before(async () => {
    door = await openDoor();
    card = make();
    jwks = toJwks(door.identity);
  });
  after(() => door.close());

  const findKey = async (kid: string, jku?: string): Promise<KeyObject> => {
    expect(jku).to.equal(`${BASE_URL}/.well-known/jwks.json`);
    return createPublicKey({ key: jwks.keys.find((key: Loose) => key.kid === kid), format: "jwk" });
  };
  const isSignedOver = async (form: string, { protected: header, signature }: Loose): Promise<boolean> => {
    const { kid, jku, ...rest } = JSON.parse(Buffer.from(header, "base64url").toString());
    expect(rest).to.deep.equal({ alg: "EdDSA", typ: "JOSE" });
    const signed = Buffer.from(`${header}.${Buffer.from(form).toString("base64url")}`);
    return verify(null, signed, await findKey(kid, jku), Buffer.from(signature, "base64url"));
  };
  const silently = async (work: () => Promise<void>): Promise<unknown> => {
    const { debug } = console; // The library tells of each signature that is not over its own form.
    console.debug = () => {};
    try {
      return await work().then(() => "verified", String);
    } finally {
      console.debug = debug;
    }
  };

  it("is one of 0.3.0", () => {
    const isValid = new Ajv2020().compile(schema);
    expect(isValid(card), JSON.stringify(isValid.errors)).to.equal(true);
    expect(card).to.include({ protocolVersion: "0.3.0", url: `${BASE_URL}/v1/a2a`, preferredTransport: "JSONRPC" });
    expect(card.additionalInterfaces).to.deep.equal([{ url: `${BASE_URL}/v1/a2a`, transport: "JSONRPC" }]);
  });

  it("is one of 1.0, too", () => {
    expect(card.supportedInterfaces).to.deep.equal([
      { url: `${BASE_URL}/v1/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${BASE_URL}/v1/a2a`, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ]);
    expect(card.capabilities).to.include({ streaming: false, pushNotifications: false, extendedAgentCard: false });
  });

  it("names no security scheme, for none is enforced", () => {
    for (const name of ["security", "securitySchemes", "securityRequirements"]) expect(card).not.to.have.property(name);
  });

  it("says of a skill that answers a file what file it is", () => {
    const [roll] = door.services;
    const skill = toSkill({ ...roll!, manifest: { ...roll!.manifest, media: { type: "image/png", max_bytes: 1024 } } });
    expect(skill.outputModes).to.deep.equal(["image/png"]);
  });

  it("lists every service as a skill, with what it costs and examples that can be sent", async () => {
    expect(card.skills.map(({ id }: Loose) => id)).to.deep.equal(["roll", "seal", "twin", "listing", "free"]);
    const [roll] = card.skills;
    expect(roll).to.deep.include({ name: "The roll", tags: ["dice"], outputModes: ["application/json"] });
    expect(roll.description).to.equal("The service roll. Costs 0.001 USD a call, paid with x402.");
    const example = card.skills.at(-1).examples[0];
    const { result } = await door.call("message/send", {
      message: { messageId: "m", role: "user", parts: [{ kind: "text", text: example }] },
    });
    expect(result.status.state).to.equal("completed");
  });

  it("declares the x402 extension under both addresses, and that nobody must know it", () => {
    const declared = card.capabilities.extensions.filter(({ uri }: Loose) => uri.includes("a2a-x402"));
    expect(declared.map(({ uri, required }: Loose) => [uri, required])).to.deep.equal([
      ["https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2", false],
      ["https://github.com/google-a2a/a2a-x402/v0.1", false],
    ]);
  });

  it("says how to sign for us, and holds our keys where peers look for them", () => {
    const [declared] = card.capabilities.extensions.filter(({ uri }: Loose) => uri.startsWith("urn:payphone:"));
    expect(declared.params).to.deep.equal(card.extensions["payphone:a2a"]);
    expect(declared.params).to.deep.include({
      audience: BASE_URL,
      endpoint: `${BASE_URL}/v1/a2a`,
      signature_algorithm: "ed25519",
    });
    const found = toPeerKey(readCardKeys(card), { origin: BASE_URL, keyId: "srv-2026-01" });
    expect(found).to.include({ kind: "key" });
    expect((found as Loose).key.equals(createPublicKey(toKey("11".repeat(32))))).to.equal(true);
  });

  it("is signed as it stands: over its canonical form without the signatures", async () => {
    const { signatures, ...rest } = card;
    expect(signatures).to.have.length(2);
    expect(await isSignedOver(canonicalOf(rest), signatures[0])).to.equal(true);
    expect(await isSignedOver(canonicalOf({ ...rest, name: "Somebody else" }), signatures[0])).to.equal(false);
  });

  it("is signed as the SDK reads it: it verifies there, and no longer when it was changed", async () => {
    const { signatures, ...rest } = card;
    expect(canonicalizeAgentCard(card)).to.equal(canonicalOf(toLibraryForm(rest)));
    expect(await isSignedOver(canonicalizeAgentCard(card), signatures[1])).to.equal(true);
    const check = verifyAgentCardSignature(findKey);
    expect(await silently(() => check(card))).to.equal("verified");
    for (const change of [
      { name: "Somebody else" },
      { skills: [] },
      { capabilities: { ...card.capabilities, streaming: true } },
    ])
      expect(await silently(() => check({ ...card, ...change }))).to.match(/No valid signatures/);
  });

  it("has the SDK's form whatever is in it: what is empty or false without being optional is left out", () => {
    const cards: object[] = [
      { name: "", description: null, skills: [], provider: { url: "", organization: "" } },
      { name: "a", unknown: 1, capabilities: { streaming: false, pushNotifications: true, extensions: [] } },
      {
        capabilities: {
          extensions: [{ uri: "a", required: true, params: { a: [], b: {}, c: 0, d: false, e: [{ f: "" }] } }],
        },
      },
      { skills: [{ id: "a", tags: ["é", ""], examples: [], security: [] }], iconUrl: "", documentationUrl: "x" },
      { supportedInterfaces: [{ url: "a", protocolBinding: "JSONRPC", protocolVersion: "1.0", other: 1 }] },
      {},
    ];
    for (const any of [...cards, { ...card, signatures: undefined }])
      expect(canonicalOf(toLibraryForm(any))).to.equal(canonicalizeAgentCard(any as Loose));
  });

  it("shows a service that was added, with nothing else changed", async () => {
    const [roll] = MANIFESTS;
    const added = { ...roll!, id: "added", title: "The added", route: "POST /v1/added", price: "0.05" };
    const richer = await openDoor({ manifests: [...MANIFESTS, added] });
    const { services, site, identity } = richer;
    const options = { services, site, baseUrl: BASE_URL, facilitator: "https://f.example/?key=secret", identity };
    const { skills, extensions } = toAgentCard(options) as Loose;
    expect(skills.map(({ id }: Loose) => id)).to.deep.equal([...MANIFESTS.map(({ id }) => id), "added"]);
    expect(extensions["payphone:x402"].facilitator, "no key in a URL is shown").to.equal("https://f.example");
    const { result } = await richer.call("message/send", {
      message: { messageId: "m", role: "user", parts: [{ text: "added" }] },
    });
    expect(result.status.state).to.equal("input-required");
    richer.close();
  });

  it("has the same bytes for the same services, key and time", () => {
    expect(make()).to.deep.equal(card);
  });

  it("shows the keys of a change: the new one before it signs, the old one until nothing depends on it, and then as retired", () => {
    const start = 1_800_000_000;
    let now = start;
    const identity = createIdentity(
      [
        { keyId: "old", privateKey: toKey("11".repeat(32)), signsFrom: 0 },
        { keyId: "new", privateKey: toKey("22".repeat(32)), signsFrom: start + 7200 },
      ],
      { now: () => now * 1000 },
    );
    const seen = (seconds: number): unknown => {
      now = start + seconds;
      const { signatures, extensions } = make(identity);
      const signer = JSON.parse(Buffer.from(signatures[0].protected, "base64url").toString()).kid;
      const keys = extensions["payphone:a2a"].keys.map(({ key_id, status }: Loose) => `${key_id} ${status}`);
      return [signer, ...keys, toJwks(identity)].map((part) => (part as Loose).keys?.length ?? part);
    };
    expect(seen(0)).to.deep.equal(["old", "old active", "new active", 2]);
    expect(seen(7199)).to.deep.equal(["old", "old active", "new active", 2]);
    expect(seen(7200)).to.deep.equal(["new", "new active", "old active", 2]);
    expect(seen(7200 + 90_000)).to.deep.equal(["new", "new active", "old active", 2]);
    expect(seen(7200 + 90_001)).to.deep.equal(["new", "new active", "old retired", 1]);
  });
});
