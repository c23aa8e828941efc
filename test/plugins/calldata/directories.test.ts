import { expect } from "chai";
import { toSelector } from "../../../plugins/calldata/abi/signature.ts";
import { createFourbyte, createOpenchain, type Directory } from "../../../plugins/calldata/directories/directories.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";
import { createHost, problemOf } from "../host.ts";

/** Signatures that share a selector. */
const SELECTOR = "0xa9059cbb";
const TRANSFER = "transfer(address,uint256)";
const SPAM = ["many_msg_babbage(bytes1)", "func_2093253501(bytes)", "join_tg_invmru_haha_fd06787(address,bool)"];

interface Dialect {
  readonly open: (source: ScriptedSource) => Directory;
  /** An answer that lists the names, the first of them as the most trustworthy. */
  readonly toAnswer: (names: readonly unknown[], selector?: string) => unknown;
  readonly query: Readonly<Record<string, string>>;
}

const dialects: Record<string, Dialect> = {
  Openchain: {
    open: ({ url }) => createOpenchain(createHost({}, { urls: { openchain: url }, retries: 0 }).upstream("openchain")),
    toAnswer: (names, selector = SELECTOR) => ({
      ok: true,
      result: {
        function: { [selector]: names.map((name, at) => ({ name, hasVerifiedContract: at === 0 })).reverse() },
      },
    }),
    query: { function: SELECTOR, filter: "true" },
  },
  "4byte.directory": {
    open: ({ url }) => createFourbyte(createHost({}, { urls: { fourbyte: url }, retries: 0 }).upstream("fourbyte")),
    toAnswer: (names) => ({ results: names.map((text_signature, id) => ({ id, text_signature })).reverse() }),
    query: { hex_signature: SELECTOR, ordering: "created_at" },
  },
};

for (const [name, { open, toAnswer, query }] of Object.entries(dialects))
  describe(`what ${name} has for a selector`, () => {
    let source: ScriptedSource;
    let find: (selector?: string) => ReturnType<Directory>;
    const look = async (selector?: string): Promise<readonly string[]> => (await find(selector)).signatures;
    beforeEach(async () => {
      source = await openSource();
      find = (selector = SELECTOR) => open(source)(selector, new AbortController().signal);
    });
    afterEach(() => source.close());
    const answers = (answer: unknown): void =>
      source.script(typeof answer === "string" ? answer : JSON.stringify(answer));

    it("is asked for by the selector", async () => {
      answers(toAnswer([]));
      expect(await look()).to.deep.equal([]);
      expect(source.asked.map(({ path }) => Object.fromEntries(new URL(path, source.url).searchParams))).to.deep.equal([
        query,
      ]);
    });

    it("begins with the most trustworthy signature, wherever that stands in the answer", async () => {
      answers(toAnswer([TRANSFER, ...SPAM]));
      const listed = await look();
      expect(listed[0]).to.equal(TRANSFER);
      expect(listed).to.have.members([TRANSFER, ...SPAM]);
    });

    it("says how many signatures are of verified contracts", async () => {
      answers(toAnswer(["transfer(address, uint256)", TRANSFER, ...SPAM]));
      expect((await find()).verified).to.equal(0);
      answers(toAnswer([TRANSFER, ...SPAM]));
      expect((await find()).verified).to.equal(name === "Openchain" ? 1 : 0);
    });

    it("is not believed where a signature has another selector, or is none", async () => {
      const strange = ["approve(address,uint256)", "transfer(address, uint256)", "Transfer", ""];
      for (const text of strange) expect(toSelector(text)).not.to.equal(SELECTOR);
      answers(toAnswer([...strange, TRANSFER]));
      expect(await look()).to.deep.equal([TRANSFER]);
    });

    it("is not believed where a signature has types that no encoding knows", async () => {
      const strange = "transfer(address,amount)";
      answers(toAnswer([strange], toSelector(strange)));
      expect(await look(toSelector(strange))).to.deep.equal([]);
    });

    it("is at most 32 signatures", async () => {
      answers(toAnswer([TRANSFER, ...Array<string>(100).fill(SPAM[0] as string)]));
      const listed = await look();
      expect(listed).to.have.length(32);
      expect(listed[0]).to.equal(TRANSFER);
    });

    const malformed: Record<string, unknown> = {
      "an entry without a text": toAnswer([TRANSFER, undefined]),
      "an entry that is no text": toAnswer([[TRANSFER]]),
      "an empty object": {},
      "a list": [],
      "a list of something else": toAnswer([null]),
      null: null,
      text: '"transfer"',
      "no JSON": "<html></html>",
    };
    for (const [what, answer] of Object.entries(malformed))
      it(`is a failure, and not nothing, when it answers with ${what}`, async () => {
        answers(answer);
        const { code, message } = await problemOf(look());
        expect([code, message.startsWith(`${name} `)]).to.deep.equal(["upstream-failed", true]);
      });

    it("is a failure when it refuses, whatever else it says", async () => {
      source.script({ status: 403, body: JSON.stringify(toAnswer([TRANSFER])) });
      expect((await problemOf(look())).message).to.equal(`${name} answered with 403`);
    });
  });

describe("what Openchain says of itself", () => {
  it("is believed: an answer that is not ok is a failure", async () => {
    const source = await openSource();
    source.script(JSON.stringify({ ok: false, result: { function: { [SELECTOR]: null } } }));
    const { open } = dialects.Openchain as Dialect;
    const { code } = await problemOf(open(source)(SELECTOR, new AbortController().signal));
    await source.close();
    expect(code).to.equal("upstream-failed");
  });
});
