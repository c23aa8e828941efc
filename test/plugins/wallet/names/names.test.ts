import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { createHost, faultsOf, NOW, problemOf, type Serve, serve } from "../../host.ts";

/** Nobody listens there. */
const DEAD = "http://127.0.0.1:1";

describe("a name of another suffix", () => {
  let resolve: Serve;
  before(async () => {
    const urls = { ethereum: DEAD, solana: DEAD };
    resolve = await serve("resolve_name", wallet, createHost({}, { urls, retries: 0 }));
  });

  it("is answered without an address, and with the suffixes that are resolved", async () => {
    for (const name of ["example.com", "alice.bnb", "sub.alice.sns"]) {
      const answer = await resolve({ name });
      expect(answer, name).to.deep.equal({
        name,
        addresses: [],
        resolved_at: NOW / 1000,
        registry_used: null,
        supported_tlds: [".eth", ".sol"],
        notes: "Only names that end in .eth or .sol are resolved.",
      });
    }
  });

  it("is refused when it has no suffix, with the names that may be meant", async () => {
    expect(await faultsOf(resolve({ name: "vitalik" }))).to.deep.equal([
      "body.name: Value error, name must end with .eth or .sol, such as vitalik.eth or vitalik.sol",
    ]);
    for (const name of ["eth.", ".", " ", "two words", "@alice", "0x123", '""'])
      expect(await faultsOf(resolve({ name })), name).to.have.length(1);
  });

  it("is refused when it is more than a name", async () => {
    const more = ["vitalik.eth/", "vitalik.eth?x=1", "vitalik.eth:", "https://example.com", "1.2.3.4", "a@b.com"];
    const hidden = [
      "\u201cvitalik.eth\u201d",
      "\u00abvitalik.eth\u00bb",
      "vitalik.eth\u200b",
      "vitalik.eth\u0000",
      "\ud800.com",
    ];
    for (const name of [...more, ...hidden])
      expect(await faultsOf(resolve({ name })), name).to.deep.equal([
        "body.name: Value error, name must be a name alone, and end with .eth or .sol",
      ]);
    for (const name of ["bon fida.sol", "bon\u200bfida.sol", "\u202ebonfida.sol"])
      expect(await faultsOf(resolve({ name })), name).to.deep.equal([
        "body.name: Value error, name must not hold white space or invisible characters",
      ]);
  });

  it("is of a suffix in letters of full width as ENSIP-15 says", async () => {
    expect((await problemOf(resolve({ name: "vitalik.\uff45\uff54\uff48" }))).code, "asked").to.equal(
      "upstream-failed",
    );
    expect(await faultsOf(resolve({ name: "vitalik\uff0eeth" }))).to.have.length(1);
    expect(await faultsOf(resolve({ name: "bonfida.\uff53\uff4f\uff4c" }))).to.deep.equal([
      "body.name: Value error, name must end with .sol in plain letters",
    ]);
  });

  it("is refused when it is empty, too long, or no text", async () => {
    for (const name of ["", "a".repeat(256), 7, null])
      expect(await faultsOf(resolve({ name })), String(name)).to.have.length(1);
    expect(await faultsOf(resolve({}))).to.deep.equal(["body.name: Field required"]);
  });
});
