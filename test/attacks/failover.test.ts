import { expect } from "chai";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { type SandboxFacilitator, startFacilitator } from "../../runtime/sandbox/facilitator.ts";
import { type Files, makeDirectory, TOSS } from "../core/set/served-directory.ts";
import { toShop } from "../rails/shop.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { type FacilitatorProxy, type Mishap, startFacilitatorProxy } from "../support/chains/facilitator-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalSeller, startLocalSeller } from "../support/sellers/local-seller.ts";
import { json, receiptOf, stockFetch } from "../support/sellers/stock-buyer.ts";

const CALLS = 30;
const AT_ONCE = 8;
const PRICE = 10_000n;

const FACILITATORS = `facilitators:
  - { id: first, variable: FIRST_URL }
  - { id: second, variable: SECOND_URL }
`;

const SITE = "manifests/_site.yaml";

/** The shop, paid on Solana alone. */
function onSolana(): Files {
  const site = TOSS[SITE] ?? "";
  const [base, solana, polygon, limits] = ["  - id: base", "  - id: solana", "  - id: polygon", "limits:"].map((part) =>
    site.indexOf(part),
  );
  const rail = site.slice(solana, polygon).replace("    facilitator: remote\n", "");
  return { ...TOSS, [SITE]: [site.slice(0, base), rail, FACILITATORS, site.slice(limits)].join("") };
}

/** It sends the settlement, and dies before it says so. */
const diesAfterSending: Mishap = async (forward, response) => {
  await forward();
  response.destroy();
};
const diesBeforeSending: Mishap = async (_forward, response) => void response.destroy();

/** As x402's library answers whose key has no gas. */
const hasNoGas: Mishap = async (_forward, response) => {
  const errorMessage =
    "The total cost (gas * gas fee + value) of executing this transaction exceeds the balance of the account.";
  const refusal = { errorReason: "invalid_exact_evm_transaction_failed", errorMessage, network: "eip155:8453" };
  const answer = { success: false, transaction: "", ...refusal };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
};

describe("a facilitator that dies under load", () => {
  let sandbox: TestSandbox;
  let first: FacilitatorProxy;
  let second: FacilitatorProxy;
  let seller: LocalSeller;
  const settlers: SandboxFacilitator[] = [];

  /** Sells with these facilitators, in this order; all of the site's where none are named. */
  async function open(named = ""): Promise<void> {
    sandbox = await sharedSandbox();
    [first, second] = await Promise.all([
      startFacilitatorProxy(sandbox.description.facilitator),
      startFacilitatorProxy(sandbox.description.facilitator),
    ]);
    const site = toShop([], [FACILITATORS]);
    const file = "manifests/_site.yaml";
    const dir = await makeDirectory({ ...site, [file]: site[file]?.replace("    facilitator: remote\n", named) ?? "" });
    const env = { FIRST_URL: first.url, SECOND_URL: second.url, FACILITATOR_URL: "" };
    seller = await startLocalSeller({ sandbox, set: await loadSet(dir), env });
  }
  afterEach(async () => {
    await seller.stop();
    await Promise.all([first.stop().catch(() => {}), second.stop(), ...settlers.splice(0).map(({ stop }) => stop())]);
  });

  /** Buys many calls, and does something once a third of them is answered: what they were told and what has arrived. */
  async function buyUnder(
    accident: () => Promise<void>,
  ): Promise<{ answers: (200 | string)[]; transactions: number; paid: bigint }> {
    const received = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!);
    const before = await received();
    const pay = await stockFetch(sandbox, "base");
    const answers: (200 | string)[] = [];
    const transactions = new Set<string>();
    let left = CALLS;
    const buyer = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const response = await pay(`${seller.url}/v1/toss`, json({ coins: 2 }));
        answers.push(response.status === 200 ? 200 : await response.text());
        if (response.status === 200) transactions.add(receiptOf(response).transaction);
        if (answers.length === CALLS / 3) await accident();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, buyer));
    return { answers, transactions: transactions.size, paid: (await received()) - before };
  }

  for (const [what, mishap] of Object.entries({
    "while nothing is sent any more": diesBeforeSending,
    "after it has sent what it never confirms": diesAfterSending,
  }))
    it(`loses no call and settles none twice, ${what}`, async () => {
      await open();
      const { answers, transactions, paid } = await buyUnder(async () => {
        first.mishaps = { settle: mishap, verify: diesBeforeSending };
      });
      expect(answers).to.deep.equal(Array(CALLS).fill(200));
      expect([transactions, paid]).to.deep.equal([CALLS, BigInt(CALLS) * PRICE]);
      expect(second.asked.verify).to.be.greaterThan(0);
    });

  it("is followed by the next one for each settlement, while it verifies and has no gas", async () => {
    await open();
    const { answers, transactions, paid } = await buyUnder(async () => {
      first.mishaps = { settle: hasNoGas };
    });
    expect(answers).to.deep.equal(Array(CALLS).fill(200));
    expect([transactions, paid]).to.deep.equal([CALLS, BigInt(CALLS) * PRICE]);
    expect([first.asked.verify, second.asked.verify]).to.deep.equal([CALLS, 0]);
    expect(second.asked.settle).to.be.greaterThan(0);
  });

  it("is asked for a second opinion while it blames the signatures, as x402's library does when its node is away", async () => {
    await open();
    const blame = { isValid: false, invalidReason: "invalid_exact_evm_signature" };
    const { answers, transactions, paid } = await buyUnder(async () => {
      first.mishaps = { verify: async (_forward, response) => void response.end(JSON.stringify(blame)) };
    });
    expect(answers).to.deep.equal(Array(CALLS).fill(200));
    expect([transactions, paid]).to.deep.equal([CALLS, BigInt(CALLS) * PRICE]);
    second.mishaps = first.mishaps;
    const refused = await (await stockFetch(sandbox, "base"))(`${seller.url}/v1/toss`, json({ coins: 2 }));
    expect([refused.status, await refused.text()]).to.match(/^402,.*"error":"invalid_signature: /);
  });

  it("is not put out by a buyer whose signature it alone refuses: the one that takes it settles that", async () => {
    await open();
    const blame = JSON.stringify({ isValid: false, invalidReason: "invalid_exact_evm_signature" });
    first.mishaps = { verify: async (_forward, response) => void response.end(blame) };
    const pay = await stockFetch(sandbox, "base");
    const buy = async (): Promise<number> => (await pay(`${seller.url}/v1/toss`, json({ coins: 2 }))).status;
    expect(await buy()).to.equal(200);
    const counts = (): readonly number[] => [first, second].flatMap(({ asked }) => [asked.verify, asked.settle]);
    expect(counts()).to.deep.equal([1, 0, 1, 1]);
    first.mishaps = {};
    expect(await buy()).to.equal(200);
    expect(counts(), "other payments").to.deep.equal([2, 1, 1, 1]);
  });

  it("is followed by payphone itself, where the rail says so", async () => {
    await open("    facilitator: [first, in-process]\n");
    const { answers, transactions, paid } = await buyUnder(() => first.stop());
    expect(answers).to.deep.equal(Array(CALLS).fill(200));
    expect([transactions, paid]).to.deep.equal([CALLS, BigInt(CALLS) * PRICE]);
    expect(second.asked).to.deep.equal({ verify: 0, settle: 0, supported: 0 });
  });

  it("loses no call when its process is gone", async () => {
    await open();
    const { answers, transactions, paid } = await buyUnder(() => first.stop());
    expect(answers).to.deep.equal(Array(CALLS).fill(200));
    expect([transactions, paid]).to.deep.equal([CALLS, BigInt(CALLS) * PRICE]);
    const { warnings } = (await (await fetch(`${seller.url}/ready`)).json()) as { warnings: string[] };
    expect(warnings).to.include("The facilitator first does not answer and is passed over");
  });

  it("takes its quotes along on Solana, where it pays the fees: whoever asks again pays by the next one, once", async () => {
    sandbox = await sharedSandbox();
    const chains = { solana: sandbox.solana };
    settlers.push(...(await Promise.all([startFacilitator({ chains }), startFacilitator({ chains })])));
    [first, second] = (await Promise.all(settlers.map(({ url }) => startFacilitatorProxy(url)))) as [
      FacilitatorProxy,
      FacilitatorProxy,
    ];
    const env = { FIRST_URL: first.url, SECOND_URL: second.url, FACILITATOR_URL: "" };
    seller = await startLocalSeller({ sandbox, set: await loadSet(await makeDirectory(onSolana())), env });
    const pay = await stockFetch(sandbox, "solana");
    const received = (): bigint => sandbox.solana.tokenBalance(sandbox.env.SOLANA_PAYMENT_ADDRESS!);
    const before = received();
    const transactions = new Set<string>();
    const refused: string[] = [];
    let left = CALLS;
    const buyer = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const bought = await eventually(
          async () => {
            const response = await pay(`${seller.url}/v1/toss`, json({ coins: 2 }));
            if (response.status !== 200) refused.push(await response.text());
            return response;
          },
          ({ status }) => status === 200,
        );
        transactions.add(receiptOf(bought).transaction);
        if (transactions.size === CALLS / 3) first.mishaps = { settle: diesBeforeSending, verify: diesBeforeSending };
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, buyer));
    expect([transactions.size, received() - before]).to.deep.equal([CALLS, BigInt(CALLS) * PRICE]);
    expect(second.asked.settle).to.be.greaterThan(0);
    for (const text of refused)
      expect(text).to.match(/"code":"(?:facilitator-unavailable|settlement-unknown|unavailable)"/);
  });
});
