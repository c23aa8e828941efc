import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { chownSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { Identity } from "../../../runtime/core/peers/identity.ts";
import { openIdentity, rotateIdentity } from "../../../runtime/drivers/peers/identity.ts";
import { generateIdentityKey, parseIdentityKeys, toKeyText } from "../../../runtime/drivers/peers/identity-keys.ts";
import { itAsRoot } from "../../support/as-root.ts";
import { createFolder } from "../../support/folder.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const SEED = Buffer.from("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "hex");
const PUBLIC = "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";

describe("our identity", () => {
  let folder: string;
  let now: number;
  const clock = { now: () => now };
  beforeEach(() => {
    folder = createFolder();
    now = 1_800_000_000_000;
  });

  const dataDir = (): string => join(folder, "data");
  const file = (): string => join(dataDir(), "a2a-identity.json");
  const open = (options = {}): Promise<Identity> => openIdentity({ dataDir: dataDir(), clock, ...options });
  const idsOf = (identity: Identity): string[] => identity.keys().map(({ key_id, status }) => `${key_id} ${status}`);

  it("signs with plain Ed25519, under the key that it publishes and its thumbprint", async () => {
    const identity = await open();
    const { keyId, sign } = identity.signer();
    const [published] = identity.keys();
    expect(published).to.include({ key_id: keyId, status: "active" });
    const der = Buffer.from(published!.public_key_der_base64, "base64");
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    expect(verify(null, Buffer.from("text"), key, sign("text"))).to.equal(true);
    expect(keyId).to.match(/^[A-Za-z0-9_-]{43}$/);
  });

  describe("in a file", () => {
    it("is made once, for this user alone, and is the same ever after", async () => {
      const first = await open();
      expect((await open()).keys()).to.deep.equal(first.keys());
      expect(statSync(file()).mode & 0o777).to.equal(0o600);
      expect(statSync(dataDir()).mode & 0o777).to.equal(0o700);
      expect(readdirSync(dataDir())).to.deep.equal(["a2a-identity.json"]);
    });

    it("is one, when twenty processes begin at the same time", async () => {
      const all = await Promise.all(Array.from({ length: 20 }, () => open()));
      expect(new Set(all.map((identity) => identity.signer().keyId))).to.have.property("size", 1);
      expect(readdirSync(dataDir())).to.deep.equal(["a2a-identity.json"]);
    });

    for (const damaged of [
      "",
      "{",
      "null",
      "[]",
      "{}",
      '{"keys":[]}',
      '{"keys":[{}]}',
      '{"keys":[{"private_key":"AAAA","signs_from":0}]}',
    ])
      it(`is never replaced quietly: ${JSON.stringify(damaged)} stops the server`, async () => {
        await open();
        writeFileSync(file(), damaged);
        const error = await open().catch((thrown: unknown) => thrown);
        expect(error).to.be.instanceOf(Problem).and.have.property("code", "unavailable");
        expect(String(error))
          .to.include(file())
          .and.match(/damaged/);
        expect(readFileSync(file(), "utf8")).to.equal(damaged);
      });

    it("stops the server when it cannot be kept", async () => {
      writeFileSync(join(folder, "data"), "a file where the folder should be");
      const error = await open().catch((thrown: unknown) => thrown);
      expect(error).to.have.property("code", "unavailable");
      expect(String(error)).to.match(/cannot be read or written \(ENOTDIR\)/);
    });
  });

  describe("in a shared store", () => {
    it("is one for all machines, and leaves no file", async () => {
      const store = createMemoryStore();
      const all = await Promise.all(Array.from({ length: 20 }, () => open({ store })));
      expect(new Set(all.map((identity) => identity.signer().keyId))).to.have.property("size", 1);
      expect((await open({ store })).keys()).to.deep.equal(all[0]!.keys());
      expect(readdirSync(folder)).to.deep.equal([]);
    });
  });

  describe("in the operator's hands", () => {
    it("is the key that the variable holds, in each of its forms, and nothing is written down", async () => {
      const [key] = parseIdentityKeys(SEED.toString("hex"));
      const forms = [
        SEED.toString("hex"),
        SEED.toString("hex").toUpperCase(),
        SEED.toString("base64"),
        toKeyText(key!),
      ];
      for (const form of forms) {
        const identity = await open({ keys: parseIdentityKeys(form) });
        expect(identity.keys().map(({ public_key_der_base64 }) => public_key_der_base64)).to.deep.equal([PUBLIC]);
      }
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    it("is published with all its keys, and signs with the first, whatever the time", async () => {
      const [one, two] = [generateIdentityKey(), generateIdentityKey()].map(toKeyText);
      const before = await open({ keys: parseIdentityKeys(`${one},${two}`) });
      const after = await open({ keys: parseIdentityKeys(`${two}, ${one}`) });
      const [old, next] = before.keys().map(({ key_id }) => key_id);
      expect(before.signer().keyId).to.equal(old);
      expect(after.signer().keyId).to.equal(next);
      now += 10 ** 12;
      expect(idsOf(before)).to.deep.equal([`${old} active`, `${next} active`]);
      expect(idsOf(after)).to.deep.equal([`${next} active`, `${old} active`]);
    });

    const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "der", type: "pkcs8" });
    const wrong: readonly [what: string, text: string, why: RegExp][] = [
      ["nothing", "", /base64 or hex/],
      ["a word", "secret!", /base64 or hex/],
      ["31 bytes", SEED.subarray(1).toString("base64"), /31 bytes of something else/],
      ["another curve", ec.toString("base64"), /Ed25519 key in PKCS #8/],
      ["one key twice", `${SEED.toString("hex")},${SEED.toString("base64")}`, /twice/],
      ["a key and nothing", `${SEED.toString("hex")},`, /base64 or hex/],
    ];
    for (const [what, text, why] of wrong)
      it(`is not ${what}, and the complaint does not repeat it`, () => {
        expect(() => parseIdentityKeys(text))
          .to.throw(RangeError, why)
          .with.property("message")
          .that.does.not.include(text || "nothing to repeat");
      });
  });

  describe("that changes to a new key", () => {
    for (const place of ["file", "store"])
      it(`in the ${place}, is published two hours before it signs, and retires the old key a day and an hour later`, async () => {
        const options = place === "store" ? { store: createMemoryStore() } : {};
        const old = (await open(options)).signer().keyId;
        const signsFrom = await rotateIdentity({ dataDir: dataDir(), clock, ...options });
        expect(signsFrom).to.equal(now / 1000 + 7200);
        const identity = await open(options);
        const next = identity.keys().find(({ key_id }) => key_id !== old)!.key_id;
        expect(idsOf(identity)).to.deep.equal([`${old} active`, `${next} active`]);
        expect(identity.signer().keyId).to.equal(old);
        now = signsFrom * 1000;
        expect(identity.signer().keyId).to.equal(next);
        expect(idsOf(identity)).to.deep.equal([`${next} active`, `${old} active`]);
        now += 90_001_000;
        expect(idsOf(await open(options))).to.deep.equal([`${next} active`, `${old} retired`]);
      });

    it("does not begin where there is none, as in a wrong folder", async () => {
      const error = await rotateIdentity({ dataDir: dataDir(), clock }).catch((thrown: unknown) => thrown);
      expect(error).to.have.property("code", "bad-request");
      expect(String(error)).to.include(`There is no identity yet (${file()}): nothing was changed`);
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    it("does not begin a second change before the first is over", async () => {
      await open();
      await rotateIdentity({ dataDir: dataDir(), clock });
      const error = await rotateIdentity({ dataDir: dataDir(), clock }).catch((thrown: unknown) => thrown);
      expect(String(error)).to.match(/nothing was changed/);
      now += 7_200_000;
      await rotateIdentity({ dataDir: dataDir(), clock });
      expect((await open()).keys()).to.have.length(3);
    });

    itAsRoot("leaves the file to the user that the server runs as, when root changes it", async () => {
      await open();
      const [uid, gid] = [65_534, 65_533];
      for (const path of [file(), dataDir()]) chownSync(path, uid, gid);
      await rotateIdentity({ dataDir: dataDir(), clock });
      expect(statSync(file())).to.include({ uid, gid });
    });

    it("is the operator's business, where the keys are", async () => {
      const keys = parseIdentityKeys(SEED.toString("hex"));
      const error = await rotateIdentity({ keys, dataDir: dataDir(), clock }).catch((thrown: unknown) => thrown);
      expect(error).to.have.property("code", "bad-request");
      expect(String(error)).to.include('"new,old"');
    });
  });
});
