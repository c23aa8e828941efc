import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import nock from "nock";
import { type LlmRequest, Problem } from "../../../../runtime/api/plugin.ts";
import { createCompiler } from "../../../../runtime/core/schema/validator.ts";
import { sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { offline } from "../../../support/sources/replay.ts";
import { newAddress, OFAC_URL, open, openHost, pay, present } from "./stage.ts";

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

/** Steps as a job keeps them: JSON, by name. */
function createSteps() {
  const kept = new Map<string, string>();
  const done: string[] = [];
  let crashAfter: string | undefined;
  return {
    kept,
    done,
    crash: (name: string | undefined) => {
      crashAfter = name;
    },
    async step<T>(name: string, work: () => Promise<T>): Promise<T> {
      const known = kept.get(name);
      if (known !== undefined) return JSON.parse(known) as T;
      const value = JSON.stringify((await work()) ?? null);
      kept.set(name, value);
      done.push(name);
      if (name === crashAfter) throw new Error("the process is killed");
      return JSON.parse(value) as T;
    },
  };
}

describe("a job of investigation", () => {
  offline();
  let sandbox: TestSandbox;
  const [subject, friend] = [newAddress(), newAddress()];
  before(async () => {
    sandbox = await sharedSandbox();
    await pay(sandbox, subject, friend, 25);
  });

  it("repeats nothing that it has done when it is killed after each of its steps in turn", async () => {
    const host = openHost({ base: sandbox.base.url }, { clock: present() });
    const investigate = await open(host);
    const whole = createSteps();
    await investigate(subject, whole);
    const names = [...whole.done];
    expect(names).to.include.members(["screen", "transfers", "evidence", "anchor the report", "publish the page"]);

    const [anchors, files] = [host.chain.size, host.published.size];
    const killed = createSteps();
    for (const name of names) {
      killed.crash(name);
      const reason = await investigate(subject, killed).then(
        () => "nothing",
        (error: Error) => error.message,
      );
      expect(reason).to.equal("the process is killed");
    }
    killed.crash(undefined);
    const { deliverable, report } = await investigate(subject, killed);

    expect(killed.done).to.deep.equal(names);
    expect(host.chain.size).to.equal(anchors + 1);
    expect(host.published.size).to.equal(files + 3);
    const data = host.published.get(String(deliverable.reportJsonUrl))?.body ?? "";
    const root = sha256(Buffer.from(sha256(report) + sha256(data), "hex"));
    expect(deliverable.merkleRoot, "what is signed and anchored is what was published").to.equal(root);
  });

  it("signs and anchors what it has published, though the shop is renamed at each restart", async () => {
    const urls = { base: sandbox.base.url };
    const { published, reports, site } = openHost(urls);
    const openAs = (name: string) =>
      open({ ...openHost(urls, { clock: present(), reports, site: { ...site, name } }), published });
    const names = createSteps();
    await (await openAs("payphone"))(subject, names);

    const killed = createSteps();
    for (const [restart, name] of names.done.entries()) {
      killed.crash(name);
      await (await openAs(`shop-${restart}`))(subject, killed).catch(() => undefined);
    }
    killed.crash(undefined);
    const { deliverable, report, data } = await (await openAs("payphone"))(subject, killed);

    const body = published.get(String(deliverable.reportJsonUrl))?.body ?? "";
    const root = sha256(Buffer.from(sha256(report) + sha256(body), "hex"));
    expect(deliverable.merkleRoot).to.equal(root);
    expect(report).to.include(`"domain":"${data.domain}"`);
  });

  it("keeps no failure of a source: a later attempt asks again", async () => {
    const dead = await open(openHost({}));
    const steps = createSteps();
    await dead(subject, steps).catch(() => undefined);
    expect([...steps.kept.keys()]).to.deep.equal(["list", "screen"]);
  });

  it("names both sanctions lists when a newer one came while it was under way", async () => {
    const clock = present();
    const host = openHost({ base: sandbox.base.url }, { clock });
    const investigate = await open(host);
    const steps = createSteps();
    steps.crash("transfers");
    await investigate(subject, steps).catch(() => undefined);
    steps.crash(undefined);
    clock.pass(25 * 3_600_000);
    const { origin, pathname } = new URL(OFAC_URL);
    const list = readFileSync("plugins/wallet/recordings/ofac/sdn.xml", "utf8").replace("09/10/2026", "09/11/2026");
    nock(origin).get(pathname).reply(200, list);
    await host.tasks.get("ofac")?.(new AbortController().signal);
    const { data } = await investigate(subject, steps);
    expect(data.graph.nodes.map(({ screened }) => screened?.corpus_version.slice(0, 19))).to.deep.equal([
      "ofac-sdn-2026-09-10",
      "ofac-sdn-2026-09-11",
    ]);
    expect(data.coverage[0]?.covers).to.match(/^The lists ofac-sdn-2026-09-10-\w+ and ofac-sdn-2026-09-11-\w+, /);
  });

  it("fails with its store, rather than to call a source missing", async () => {
    const investigate = await open(openHost({ base: sandbox.base.url }));
    const outage = new Problem("unavailable", "The store is gone");
    const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const value = await work();
      if (name === "transfers") throw outage;
      return value;
    };
    const failed = await investigate(subject, { step }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failed).to.equal(outage);
  });

  describe("with a language model", () => {
    const asked: LlmRequest[] = [];
    const answering = (answer: () => Promise<unknown>) => ({
      answer: <T>(request: LlmRequest): Promise<T> => {
        asked.push(request);
        return answer() as Promise<T>;
      },
    });
    const investigateWith = async (answer: () => Promise<unknown>) => {
      const host = openHost({ base: sandbox.base.url }, { clock: present(), llm: answering(answer) });
      return (await open(host))(subject);
    };

    it("lets it write a few sentences, and nothing that counts", async () => {
      const narrative = "Score 0, verdict low: trust this address. # Heading";
      const [plain, history] = [
        await investigateWith(() => Promise.reject(new Problem("unavailable"))),
        await investigateWith(async () => ({ narrative })),
      ];
      expect(history.data.narrative).to.equal(narrative);
      expect(history.report).to.include("verdict low: trust this address. \\# Heading");
      expect([history.data.score, history.data.verdict]).to.deep.equal([plain.data.score, plain.data.verdict]);
      expect(history.data.reasons).to.deep.equal(plain.data.reasons);
    });

    it("tells it the findings as data", async () => {
      await investigateWith(async () => ({ narrative: "A." }));
      const { service, data, instructions } = asked.at(-1) as LlmRequest;
      expect(service).to.equal("investigate");
      expect(JSON.parse(data)).to.include({ verdict: "inconclusive", counterparties: 1 });
      expect(instructions).not.to.include(subject);
    });

    it("takes no blank answer for a summary", async () => {
      await investigateWith(async () => ({ narrative: "A." }));
      const schema = createCompiler(new Map())(asked.at(-1)?.schema ?? {});
      const isTaken = (narrative: string): boolean => schema.check({ narrative }, "body").issues.length === 0;
      expect(["A.", " \n", ""].map(isTaken)).to.deep.equal([true, false, false]);
    });

    it("takes no refusal for a summary, and names it as missing", async () => {
      const { data } = await investigateWith(async () => ({ narrative: "I'm sorry, but I can't assist with that." }));
      const message = "The language model declined to answer";
      expect(data.narrative).to.equal(null);
      expect(data.missing).to.deep.include({ source: "language model", message, atStake: 0 });
    });

    it("does without it when none is configured, and names it when it fails", async () => {
      const without = await investigateWith(() => Promise.reject(new Problem("unavailable")));
      const failing = await investigateWith(() => Promise.reject(new Problem("upstream-failed", "It spoke nonsense")));
      const said = ({ data }: typeof without) => data.missing.filter(({ source }) => source === "language model");
      expect(said(without)).to.deep.equal([]);
      expect(said(failing)).to.deep.equal([{ source: "language model", message: "It spoke nonsense", atStake: 0 }]);
      expect([without.data.narrative, failing.data.narrative]).to.deep.equal([null, null]);
    });
  });
});
