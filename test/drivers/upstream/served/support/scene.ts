import { join } from "node:path";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { wrapFetchWithPayment } from "@x402/fetch";
import { expect } from "chai";
import type { Clock } from "../../../../../runtime/api/capabilities.ts";
import { loadSet, type ManifestSet } from "../../../../../runtime/cli/set/load.ts";
import { toAtomic } from "../../../../../runtime/core/set/price.ts";
import type { ReadyReport } from "../../../../../runtime/server/routes/status.ts";
import { sharedSandbox, site, type TestSandbox } from "../../../../support/chains/chains.ts";
import { createFolder } from "../../../../support/folder.ts";
import { startLocalSeller } from "../../../../support/sellers/local-seller.ts";
import { type Seller, startSeller } from "../../../../support/sellers/seller.ts";
import { json, stockClient } from "../../../../support/sellers/stock-buyer.ts";
import { openRecordedSource, type RecordedSource } from "./recorded-source.ts";

/** The project's own services over sources that fail as a test says, sold for money of the embedded chains. */
export interface Scene {
  readonly sandbox: TestSandbox;
  source(id: string): RecordedSource;
  /** The services in the process of the tests, on a store of their own unless the test lends one. */
  open(changes?: Open): Promise<Shop>;
  /** `payphone serve` in a process of its own; so is its folder unless the test lends one. */
  start(changes?: Start): Promise<ServedShop>;
  /** Ends what has been started, and fails if one of them has ever told a secret. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export interface Open {
  /** A source that is waited for a second at most, twice. */
  readonly impatientWith?: string;
  /** Default: all of the project's services. */
  readonly services?: readonly string[];
  /** The shop of another folder. */
  readonly dir?: string;
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

export interface Start {
  readonly dataDir?: string;
  /** Of the first process, when this one stands beside it. */
  readonly baseUrl?: string;
  /** Default: all of the project's services. */
  readonly dir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A seller, and a buyer before it who has USDC on Base. */
export interface Shop {
  readonly url: string;
  /** Calls a service with a payment. Fails when the answer tells a secret. */
  buy(service: string, input: object): Promise<Bought>;
  /** The same call `count` times at once, each with a payment of its own. */
  buyMany(service: string, input: object, count: number): Promise<readonly Bought[]>;
  ready(): Promise<ReadyReport>;
}

/** One that is a process. */
export type ServedShop = Shop & Seller;

export interface Bought {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what is asserted about needs no type
  readonly body: any;
}

const set = await loadSet(join(import.meta.dirname, "../../../../.."));

/** What the providers know us by. */
const KEYS = {
  COINGECKO_API_KEY: "key-of-coingecko-0123456789",
  GOPLUS_API_KEY: "key-of-goplus-0123456789",
  LLM_API_KEY: "key-of-llm-0123456789",
};

/** Opens all sources of the site, and a language model. */
export async function openScene(): Promise<Scene> {
  const sandbox = await sharedSandbox();
  const upstreams = site.upstreams ?? [];
  const opened = await Promise.all(
    [...upstreams.map(({ id }) => id), "llm"].map((id) => openRecordedSource(id, sandbox.description.rpc[id])),
  );
  const source = (id: string): RecordedSource => opened.find((one) => one.id === id) ?? expect.fail(`no source ${id}`);
  const urls = Object.fromEntries(upstreams.map(({ id, variable = "" }) => [variable, source(id).url]));
  const told = { ...KEYS, ...urls, LLM_BASE_URL: source("llm").url, LLM_MODEL: "recorded", LOG_LEVEL: "trace" };
  const secrets = [...Object.values(KEYS), ...opened.map(({ secret }) => secret)];
  const client = await stockClient(sandbox, "base");
  const pay = wrapFetchWithPayment(fetch, client);
  const running: { stop: () => Promise<unknown>; output: () => string }[] = [];

  return {
    sandbox,
    source,
    async open({ impatientWith, services, dir, env, ...rest } = {}) {
      const sold = dir === undefined ? toSet(impatientWith, services) : await loadSet(dir);
      const seller = await startLocalSeller({ sandbox, set: sold, env: { ...told, ...env }, ...rest });
      running.push(seller);
      return toShop(seller);
    },
    async start({ env, ...rest } = {}) {
      const seller = await startSeller({ sandbox, dataDir: createFolder(), env: { ...told, ...env }, ...rest });
      running.push(seller);
      return { ...seller, ...toShop(seller) };
    },
    async clear() {
      await Promise.all(opened.map((one) => one.recover()));
      for (const { stop, output } of running.splice(0)) {
        await stop();
        refuseSecrets(output());
      }
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };

  function toShop(seller: { readonly url: string }): Shop {
    return {
      url: seller.url,
      buy: async (service, input) => toBought(await pay(seller.url + pathOf(service), json(input))),
      async buyMany(service, input, count) {
        const url = seller.url + pathOf(service);
        const required = (await (await fetch(url, json(input))).json()) as PaymentRequired;
        const payments = await Promise.all(Array.from({ length: count }, () => client.createPaymentPayload(required)));
        const calls = payments.map(async (payment) => {
          const headers = { "payment-signature": encodePaymentSignatureHeader(payment) };
          return toBought(await fetch(url, json(input, headers)));
        });
        return Promise.all(calls);
      },
      ready: async () => (await (await fetch(`${seller.url}/ready`)).json()) as ReadyReport,
    };
  }

  async function toBought(response: Response): Promise<Bought> {
    const { status, headers } = response;
    const text = await response.text();
    refuseSecrets(text + JSON.stringify([...headers]));
    return { status, headers, body: JSON.parse(text) };
  }

  function refuseSecrets(text: string): void {
    expect(secrets.filter((secret) => text.includes(secret))).to.deep.equal([]);
  }
}

/** These services, and the one that refunds need; one source, or the language model, is waited for a second at most, twice. */
function toSet(id?: string, services?: readonly string[]): ManifestSet {
  const brief = { timeout_seconds: 1, retries: 1 };
  const upstreams = set.site.upstreams?.map((one) => (one.id === id ? { ...one, ...brief } : one)) ?? [];
  const isSold = (service: string): boolean =>
    services === undefined || services.includes(service) || service === set.site.refunds?.screen;
  const sold = set.manifests.filter((manifest) => isSold(manifest.id));
  const manifests = sold.map(({ llm, ...rest }) => ({
    ...rest,
    ...(llm && { llm: id === "llm" ? { ...llm, ...brief } : llm }),
  }));
  return { ...set, site: { ...set.site, upstreams }, manifests };
}

/** What a service costs on Base, in atomic units. */
export const priceOf = (service: string): bigint => toAtomic(manifestOf(service).price ?? "0", 6);

const pathOf = (service: string): string => manifestOf(service).route.split(" ")[1] as string;

const manifestOf = (service: string) =>
  set.manifests.find(({ id }) => id === service) ?? expect.fail(`there is no service ${service}`);
