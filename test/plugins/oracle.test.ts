import { createHash, randomBytes } from "node:crypto";
import { base58 } from "@scure/base";
import { Connection, Keypair } from "@solana/web3.js";
import { expect } from "chai";
import oracle from "../../plugins/oracle/index.ts";
import type { Anchor, Hex } from "../../runtime/api/plugin.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { createAnchor } from "../../runtime/drivers/anchor.ts";
import { createEvmClient } from "../../runtime/drivers/evm/client.ts";
import { createEvmReads } from "../../runtime/drivers/evm/reads.ts";
import { createEvmSender } from "../../runtime/drivers/evm/sender/sender.ts";
import { createSolanaClient } from "../../runtime/drivers/solana/client.ts";
import { createSolanaSender } from "../../runtime/drivers/solana/sender.ts";
import { createTreasury } from "../../runtime/drivers/treasury.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { type LlmServer, openLlmServer, refuse, say } from "../support/sources/llm-server.ts";
import { offline, replay } from "../support/sources/replay.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";
import { createHost, faultsOf, NOW, problemOf, readManifest, type Serve, serve } from "./host.ts";
import { createServicesLlm } from "./services-llm.ts";

const VERDICT = { answer: "YES", explanation: "It is odd, and no smaller prime divides it." };
const QUESTION = "Is 7 a prime number?";
const toRoot = (question: string, { answer, asked_at }: Record<string, unknown>): string =>
  createHash("sha256").update(`${question}|${answer}|${asked_at}`, "utf8").digest("hex");

describe("an oracle by the recorded answers of OpenAI's API", () => {
  offline();

  it("answers its manifest's examples, whose own answer has the root that it says", async () => {
    const url = "https://llm.test/v1";
    const recorded = replay(url, "plugins/oracle/recordings/llm/oracle.json", ["success"]);
    const ask = await serve("oracle", oracle, createHost({ llm: createServicesLlm(url) }));
    const answers: string[] = [];
    for (const { input, output } of readManifest("oracle").examples) {
      const { question } = input as { question: string };
      const verdict = await ask(input);
      answers.push(String(verdict.answer));
      for (const one of [verdict, output].filter((given) => given !== undefined) as Record<string, unknown>[])
        expect(one.merkle_root).to.equal(toRoot(question, one));
    }
    expect(answers).to.deep.equal(["YES", "MAYBE"]);
    recorded.assertDone();
  });
});

describe("an oracle", () => {
  let server: LlmServer;
  let host: ReturnType<typeof createHost>;
  let written: string[];
  before(async () => {
    server = await openLlmServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.asked.length = 0;
    server.behave(say(VERDICT));
    written = [];
  });

  /** @param write what becomes of a root. */
  function open(write?: Anchor["write"]): Promise<Serve> {
    host = createHost({ llm: createServicesLlm(server.url) });
    const anchor: Anchor = {
      write(hash, signal) {
        written.push(hash);
        return (write ?? host.anchor.write)(hash, signal);
      },
      ready: host.anchor.ready,
    };
    return serve("oracle", oracle, { ...host, anchor });
  }

  it("anchors question, answer and time, and says all of them", async () => {
    const verdict = await (await open())({ question: QUESTION });
    expect(verdict).to.deep.include({ ...VERDICT, asked_at: NOW / 1000, merkle_root: written[0] });
    expect(verdict.merkle_root).to.equal(toRoot(QUESTION, verdict));
    expect(verdict.base_tx).to.equal([...host.chain.keys()][0]);
    expect(verdict.solana_tx).to.equal("s".repeat(88));
  });

  it("hashes the question as it was sent, with its spaces, and asks the model exactly that", async () => {
    const question = "  Ist Zürich|Bern größer? \n";
    const verdict = await (await open())({ question });
    expect(verdict.merkle_root).to.equal(toRoot(question, verdict));
    expect(server.asked[0]?.body.messages[1]?.content).to.contain(`\n${question}\n`);
  });

  it("anchors the answer, not the explanation: the model is asked for these two alone", async () => {
    await (await open())({ question: QUESTION });
    const { schema } = server.asked[0]?.body.response_format?.json_schema ?? {};
    expect(schema).to.have.property("required").that.deep.equals(["answer", "explanation"]);
  });

  it("says null for Solana when that side failed", async () => {
    const base = { tx: "0x1", explorer_url: "https://explorer.test/0x1" };
    const ask = await open(async () => ({ base, solana: null, anchored_at: 1 }));
    expect(await ask({ question: QUESTION })).to.include({ base_tx: "0x1", solana_tx: null });
  });

  it("anchors nothing when the model gives no verdict of the three", async () => {
    const ask = await open();
    for (const behaviour of [say({ ...VERDICT, answer: "PERHAPS" }), say({ ...VERDICT, answer: "yes" }), refuse(403)]) {
      server.behave(behaviour);
      expect(await problemOf(ask({ question: QUESTION }))).to.have.property("code", "upstream-failed");
    }
    expect(written).to.deep.equal([]);
  });

  it("takes 1 to 1000 characters, and no lone surrogate: its hash could not be made again", async () => {
    const ask = await open();
    await ask({ question: "🦄".repeat(1000) });
    for (const question of ["", "\u200b\u2060", " \n", "x".repeat(1001), null, 7])
      expect(await problemOf(ask({ question }))).to.have.property("code", "invalid-input");
    expect(await faultsOf(ask({ question: "a\ud800" }))).to.deep.equal([
      "body.question: Value error, question must be well-formed Unicode: it holds a lone surrogate",
    ]);
    expect(server.asked).to.have.length(1);
  });

  describe("on the embedded chains", () => {
    const treasury = createTreasury({
      evmKey: `0x${randomBytes(32).toString("hex")}`,
      solanaKey: base58.encode(Keypair.generate().secretKey),
    });
    let sandbox: TestSandbox;
    before(async () => {
      sandbox = await sharedSandbox();
      await sandbox.base.setBalance(await treasury.evmAddress(), 10n ** 18n);
      sandbox.solana.airdrop(treasury.solanaAddress, 10n ** 9n);
    });

    it("can be proved on both: the root is the calldata on Base and the memo on Solana", async () => {
      const { base, solana } = sandbox;
      const client = createEvmClient({ url: base.url, chainId: 8453 });
      const shared = { treasury, store: createMemoryStore(), clock: Date, log: silentLog, pollMs: 25 };
      const evmSender = createEvmSender({ ...shared, client, feeCapWei: 10n ** 16n });
      const svm = createSolanaClient({ url: solana.url, network: solana.network });
      const solanaSender = createSolanaSender({ ...shared, client: svm, network: solana.network });
      const explorers = { base: "https://base.test/{tx}", solana: "https://solana.test/{tx}" };
      const anchor = createAnchor({ client, evmSender, solanaSender, treasury, explorers, log: silentLog });
      const verdict = await (await open(anchor.write))({ question: QUESTION });
      evmSender.close();
      const root = toRoot(QUESTION, verdict);
      const mined = await createEvmReads(client).transaction(verdict.base_tx as Hex, new AbortController().signal);
      expect(mined).to.include({ input: `0x${root}`, status: "success" });
      const node = new Connection(solana.url, "confirmed");
      const memo = await node.getTransaction(verdict.solana_tx as string, { maxSupportedTransactionVersion: 0 });
      expect(memo?.meta?.logMessages?.join("\n")).to.include(root);
    });
  });
});
