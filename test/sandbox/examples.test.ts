import { join } from "node:path";
import { expect } from "chai";
import { loadSet } from "../../runtime/cli/set/load.ts";
import type { Manifest } from "../../runtime/core/set/manifest.ts";
import { eventually } from "../support/eventually.ts";
import type { SandboxServer } from "../support/sellers/sandbox-server.ts";
import { sharedSandboxServer } from "../support/sellers/shared-sandbox-server.ts";
import { buyerFetch, json, type PayingFetch, receiptOf } from "../support/sellers/stock-buyer.ts";

const { manifests, site } = await loadSet(join(import.meta.dirname, "../.."));
const sold = manifests.filter(({ price }) => price !== undefined);
const sourced = sold.filter(({ upstreams, llm }) => upstreams || llm);
const pathOf = ({ route }: Manifest): string => route.split(" ")[1] as string;
const questionOf = (input: unknown): string => `?${new URLSearchParams(input as Record<string, string>)}`;

describe("the offline sandbox", () => {
  let server: SandboxServer;
  let pay: PayingFetch;
  before(async () => {
    server = await sharedSandboxServer();
    pay = await buyerFetch(server);
  });

  for (const manifest of sold)
    for (const [at, { input, output }] of manifest.examples.entries())
      it(`sells the stock client example ${at + 1} of ${manifest.id}, as its manifest has it`, async () => {
        const response = await pay(server.url + pathOf(manifest), json(input));
        expect(response.status, await response.clone().text()).to.equal(200);
        expect(receiptOf(response)).to.include({ success: true });
        const answer = (await response.json()) as Status;
        if (output === undefined) return;
        const result = manifest.job ? (await follow(answer.status_url)).deliverable : answer;
        expect(withoutChance(result)).to.deep.equal(withoutChance(output));
      });

  it("verifies the receipt that the manifest of attest shows, and answers as that of attest_verify shows", async () => {
    const verify = async (receipt: unknown): Promise<object> =>
      (await fetch(`${server.url}/v1/attest/verify`, json(receipt))).json() as Promise<object>;
    const [shown] = exampleOf("attest");
    expect(await verify(shown)).to.include({ signature_valid: true, merkle_root: (shown as Receipt).merkle_root });
    const [answer, input] = exampleOf("attest_verify");
    expect(await verify(input)).to.deep.equal(answer);
  });

  for (const manifest of sourced)
    it(`says in a header where the data of ${manifest.id} comes from`, async () => {
      const response = await pay(server.url + pathOf(manifest), json(manifest.examples[0]?.input));
      const named = manifest.upstreams?.map((id) => `${id}=${originOf(id)}`) ?? [];
      const marks = [...named, ...(manifest.llm ? ["llm=recorded"] : [])];
      expect(response.headers.get("x-payphone-upstreams")).to.equal(marks.join(", "));
    });

  for (const manifest of sold.filter(({ aliases }) => aliases?.some((route) => route.startsWith("GET "))))
    it(`answers the GET form of ${manifest.id} as its POST form`, async () => {
      const [{ input } = { input: {} }] = manifest.examples;
      const [posted, got] = [
        await pay(server.url + pathOf(manifest), json(input)),
        await pay(server.url + pathOf(manifest) + questionOf(input)),
      ];
      expect(got.status).to.equal(200);
      expect(withoutTime(await got.json())).to.deep.equal(withoutTime(await posted.json()));
    });

  it("places a fault that a plugin finds where the input came from", async () => {
    const asked = `${server.url}/v1/price/token`;
    for (const [response, place] of [
      [await pay(`${asked}?chain=base`), "query"],
      [await pay(asked, json({ chain: "base" })), "body"],
    ] as const) {
      const { detail } = (await response.json()) as { detail: { loc: string[] }[] };
      expect([response.status, detail[0]?.loc[0]]).to.deep.equal([422, place]);
    }
  });

  it("refuses what nobody recorded, says what is missing, and charges nothing", async () => {
    const response = await pay(`${server.url}/v1/price/token`, json({ symbol: "RAREST" }));
    const { code, detail } = (await response.json()) as { code: string; detail: string };
    expect([response.status, code]).to.deep.equal([502, "upstream-failed"]);
    expect(detail).to.match(
      /^The sandbox works offline and has no recording of CoinGecko for GET .* start it with --live and the source's id \(--online: all sources\)\.$/,
    );
    expect(response.headers.get("payment-response")).to.equal(null);
  });

  it("says so where a question is about the blocks of a recording, and not the recorded one", async () => {
    const [{ input } = { input: {} }] = manifests.find(({ id }) => id === "ledger_summary")?.examples ?? [];
    const asked = json({ ...(input as object), direction: "both" });
    const response = await pay(`${server.url}/v1/ledger/summary`, asked);
    const { code, detail } = (await response.json()) as { code: string; detail: string };
    expect([response.status, code]).to.deep.equal([502, "upstream-failed"]);
    expect(detail).to.match(
      /^The sandbox works offline, and has .* blocks .* Base node: .* set BASE_RPC_URL .* --live base\.$/,
    );
    expect(response.headers.get("payment-response")).to.equal(null);
  });
});

/** The sandbox's own chains are embedded; all other sources are recorded. */
const originOf = (id: string): string => (site.rails.some((rail) => rail.id === id) ? "embedded" : "recorded");

type Receipt = { readonly merkle_root: string };

/** The first output that a manifest shows, and its input. */
function exampleOf(id: string): [output: unknown, input: unknown] {
  const shown = manifests.find((manifest) => manifest.id === id)?.examples.find(({ output }) => output !== undefined);
  return [shown?.output, shown?.input];
}

type Status = { readonly status: string; readonly status_url: string; readonly deliverable?: unknown };

/** The end of a job. */
const follow = (url: string): Promise<Status> =>
  eventually(
    async () => (await (await fetch(url)).json()) as Status,
    ({ status }) => status === "DELIVERED" || status === "FAILED",
    250,
  );

/** Moments, chance, the keys of this sandbox, and hashes and addresses that follow from them: only their type is compared. */
const CHANCE =
  /(_at|age_seconds|tx|url|^signature|^signer|^signedBy|^result(_hash)?|^registry_version|^merkle_?root|_sha256)$/i;

function withoutChance(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value) =>
    CHANCE.test(key) && value !== null ? typeof value : value,
  );
}

/** Timestamps differ between two calls. */
function withoutTime(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value) => (/_at$|^(cache_)?age_seconds$/.test(key) ? 0 : value));
}
