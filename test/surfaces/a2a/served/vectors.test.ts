import { createPublicKey } from "node:crypto";
import { expect } from "chai";
import { canonicalOf, digestOf } from "../../../../runtime/core/digest.ts";
import { toPublicDer } from "../../../../runtime/core/peers/identity.ts";
import { signPayload, toSignedText } from "../../../../runtime/core/peers/signature.ts";
import vectors from "../../../fixtures/a2a/vectors.json" with { type: "json" };
import type { Loose } from "../../mcp/served/support/stall.ts";
import { type Door, MANIFESTS, openDoor } from "./support/door.ts";
import { toIdentity, toKey, toPeerKeys } from "./support/peer.ts";

const AUDIENCE = "https://api.anchor-x402.com";
const PROOF = ["digest", "signed", "signature_algorithm", "key_id", "signature"];

const withoutProof = (signed: object): Loose =>
  Object.fromEntries(Object.entries(signed).filter(([name]) => !PROOF.includes(name)));

describe("the recipe between peers", () => {
  const { now, peer_seed_hex, peer_public_key_der_base64, server_seed_hex, server_public_key_der_base64 } = vectors;
  const server = toIdentity(server_seed_hex, "srv-2026-01");
  const card = { extensions: { peer: { key_id: "peer-2026-01", public_key_der_base64: peer_public_key_der_base64 } } };
  let door: Door;

  before(async () => {
    const [roll] = MANIFESTS as [(typeof MANIFESTS)[number]];
    door = await openDoor({
      manifests: [{ ...roll, id: "screen_wallet", route: "GET /v1/screen", price: "0.02" }],
      identity: server,
      baseUrl: AUDIENCE,
      at: now * 1000,
      createId: () => vectors.quote.exchange_id,
      peerKeys: toPeerKeys({ "https://peer.example": card }),
    });
  });
  after(() => door.close());

  it("publishes the keys of its seeds", () => {
    expect(toPublicDer(toKey(peer_seed_hex))).to.equal(peer_public_key_der_base64);
    expect(toPublicDer(toKey(server_seed_hex))).to.equal(server_public_key_der_base64);
    expect(
      createPublicKey(toKey(peer_seed_hex)).export({ format: "der", type: "spki" }).subarray(-32).toString("hex"),
    ).to.equal(vectors.peer_public_raw_hex);
  });

  for (const { name, request, canonical, digest, signature } of vectors.cases as Loose[]) {
    it(`has the canonical form, the digest and the signature of the vector ${name}`, () => {
      const { aud, origin, key_id, nonce, exp, body = null } = request.params;
      const signed = { aud, origin, key_id, nonce, exp, body, method: request.method };
      expect(canonicalOf(signed)).to.equal(canonical);
      expect(toSignedText(signed)).to.equal(digest).and.have.length(71);
      const made = toIdentity(peer_seed_hex, key_id).signer().sign(digest);
      expect(made.toString("base64")).to.equal(signature).and.equal(request.params.signature);
    });

    it(`is spoken at the door: ${name} is taken, and once`, async () => {
      const { result, error } = (await door.post(request)).body;
      if (name === "receipt") expect(error.code, "nobody was quoted that exchange").to.equal(-32005);
      else expect(result, JSON.stringify(error)).to.be.an("object");
      expect((await door.post(request)).body.error.code).to.equal(-32002);
    });
  }

  it("signs the vectors' quote and receipt to the byte", () => {
    for (const [signed, canonical] of [
      [vectors.quote, vectors.quote_payload_canonical],
      [vectors.receipt, vectors.receipt_payload_canonical],
    ] as const) {
      const payload = withoutProof(signed);
      expect(canonicalOf(payload)).to.equal(canonical);
      expect(signPayload(payload, server.signer())).to.deep.equal(signed);
    }
  });

  it("quotes what the vector's server quotes, in words of its own", async () => {
    const { instructions: _theirs, ...theirs } = withoutProof(vectors.quote);
    const stored = await door.exchanges.read(vectors.quote.exchange_id);
    expect(stored).to.include({ peer: theirs.peer, skill: theirs.skill, quotedAt: theirs.quoted_at });
    const again = (vectors.cases as Loose[]).find(({ name }) => name === "quote").request;
    const fresh = await openDoor({
      manifests: door.services.map(({ manifest }) => manifest),
      identity: server,
      baseUrl: AUDIENCE,
      at: now * 1000,
      createId: () => vectors.quote.exchange_id,
      peerKeys: toPeerKeys({ "https://peer.example": card }),
    });
    const { instructions, ...ours } = withoutProof((await fresh.post(again)).body.result);
    expect(ours).to.deep.equal(theirs);
    expect(instructions).to.be.a("string");
    fresh.close();
  });

  it("digests lists as the vector's root does", () => {
    expect(digestOf(vectors.root.members)).to.equal(vectors.root.root);
  });
});
