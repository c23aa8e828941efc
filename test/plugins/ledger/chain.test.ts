import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { encodeFunctionData, type Hex, parseAbi, parseSignature } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import ledger from "../../../plugins/ledger/index.ts";
import { encode, openTokenStage, payee, sign, type TokenStage, toTransfer } from "../../sandbox/evm/token-stage.ts";
import { createFolder } from "../../support/folder.ts";
import { createHost, serve } from "../host.ts";

const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";
const multicall = parseAbi(["function tryAggregate(bool requireSuccess, (address target, bytes callData)[] calls)"]);

interface Answer {
  readonly totals: Readonly<Record<string, unknown>>;
  readonly groups: readonly Readonly<Record<string, unknown>>[];
  readonly registry_version: string;
}

describe("a spend summary of real transfers", () => {
  let stage: TokenStage;
  let payer: PrivateKeyAccount;
  let folder: string;
  before(async () => {
    stage = await openTokenStage();
    folder = createFolder();
  });
  after(() => stage.chain.stop());
  beforeEach(async () => {
    payer = await stage.createPayer();
  });

  async function ask(input: object, env: Record<string, string> = {}): Promise<Answer> {
    const host = createHost({ clock: { now: () => Date.now() + 60_000 }, env }, { urls: { base: stage.chain.url } });
    const summary = await serve("ledger_summary", ledger, host);
    return (await summary({ wallet: payer.address, ...input })) as unknown as Answer;
  }

  /** Mines a call of the token by anybody, without a key. */
  async function impersonate(from: Hex, data: Hex, to: Hex = stage.token.address): Promise<void> {
    await stage.chain.setBalance(from, 10n ** 18n);
    await stage.chain.rpc("anvil_impersonateAccount", [from]);
    const hash = await stage.chain.rpc("eth_sendTransaction", [{ from, to, data }]);
    await stage.chain.rpc("evm_mine", []); // An empty block, where the transaction has got its own already.
    const receipt = (await stage.chain.rpc("eth_getTransactionReceipt", [hash])) as { status: string };
    expect(receipt.status).to.equal("0x1");
  }

  const forms: Record<string, () => Promise<void>> = {
    "e3ee160e, transferWithAuthorization with v, r and s": async () => {
      const authorization = await stage.authorize(payer);
      const { v, r, s } = parseSignature(await sign(payer, "TransferWithAuthorization", authorization));
      const data = encode("transferWithAuthorization", [...Object.values(authorization), Number(v), r, s]);
      expect(data.slice(2, 10)).to.equal("e3ee160e");
      await stage.send(data);
    },
    "cf092995, transferWithAuthorization with bytes": async () => {
      const data = await toTransfer(payer, await stage.authorize(payer));
      expect(data.slice(2, 10)).to.equal("cf092995");
      await stage.send(data);
    },
    "ef55bec6, receiveWithAuthorization with v, r and s": async () => {
      const authorization = await stage.authorize(payer);
      const { v, r, s } = parseSignature(await sign(payer, "ReceiveWithAuthorization", authorization));
      const data = encode("receiveWithAuthorization", [...Object.values(authorization), Number(v), r, s]);
      expect(data.slice(2, 10)).to.equal("ef55bec6");
      await impersonate(payee, data);
    },
    "88b7ab63, receiveWithAuthorization with bytes": async () => {
      const authorization = await stage.authorize(payer);
      const signature = await sign(payer, "ReceiveWithAuthorization", authorization);
      const data = encode("receiveWithAuthorization", [...Object.values(authorization), signature]);
      expect(data.slice(2, 10)).to.equal("88b7ab63");
      await impersonate(payee, data);
    },
    "cf092995 in another contract's calldata": async () => {
      const callData = await toTransfer(payer, await stage.authorize(payer));
      const calls = [{ target: stage.token.address, callData }];
      const data = encodeFunctionData({ abi: multicall, functionName: "tryAggregate", args: [true, calls] });
      await impersonate(payee, data, MULTICALL3);
    },
  };
  for (const [form, pay] of Object.entries(forms))
    it(`finds the x402 payment in ${form}, for its payer and for its payee`, async () => {
      await pay();
      const { totals, groups } = await ask({});
      expect(totals).to.deep.equal({ usdc: "0.0001", tx_count: 1, unique_recipients: 1, identified_pct: 0 });
      expect(groups[0]).to.deep.include({ recipient: payee, label: payee, category: "x402", service_id: null });
      const inbound = await ask({ wallet: payee, direction: "inbound" });
      expect(inbound.groups[0]).to.deep.include({ recipient: payee, category: "x402" });
    });

  it("leaves out plain transfers and allowances, unless they are asked for", async () => {
    await impersonate(payer.address, encode("transfer", [payee, 30n]));
    await impersonate(payer.address, encode("approve", [payee, 20n]));
    await impersonate(payee, encode("transferFrom", [payer.address, payee, 20n]));
    expect((await ask({})).totals.tx_count).to.equal(0);
    const { totals, groups } = await ask({ include_unfiltered: true });
    expect(totals).to.deep.include({ usdc: "0.00005", tx_count: 2 });
    expect(groups[0]).to.deep.include({ label: "other_transfer", category: "other_transfer", recipient: payee });
  });

  it("takes no plain transfer for a payment because an authorization was used in its transaction", async () => {
    const other = privateKeyToAccount(generatePrivateKey()).address;
    await impersonate(payer.address, encode("transfer", [MULTICALL3, 500n]));
    const calls = [
      {
        target: stage.token.address,
        callData: await toTransfer(payer, await stage.authorize(payer, { to: MULTICALL3 })),
      },
      { target: stage.token.address, callData: encode("transfer", [other, 7n]) },
    ];
    const data = encodeFunctionData({ abi: multicall, functionName: "tryAggregate", args: [true, calls] });
    await impersonate(payee, data, MULTICALL3);
    const { groups } = await ask({ wallet: MULTICALL3, direction: "both", include_unfiltered: true });
    expect(groups.find(({ recipient }) => recipient === other)).to.equal(undefined);
    expect(groups.find(({ category }) => category === "x402")).to.deep.include({ usdc: "0.0001", tx_count: 1 });
    expect(groups.find(({ category }) => category === "other_transfer")).to.deep.include({ usdc: "0.000507" });
  });

  it("counts neither transfers of nothing, which anybody can make, nor those to oneself", async () => {
    await impersonate(payee, encode("transferFrom", [payer.address, payee, 0n]));
    await impersonate(payer.address, encode("transfer", [payer.address, 10n]));
    await stage.send(await toTransfer(payer, await stage.authorize(payer, { to: payer.address })));
    expect((await ask({ include_unfiltered: true })).totals).to.deep.include({ usdc: "0", tx_count: 0 });
  });

  it("names the site itself, and says so in the registry's version", async () => {
    await stage.send(await toTransfer(payer, await stage.authorize(payer)));
    const { groups, totals, registry_version } = await ask({}, { BASE_PAYMENT_ADDRESS: payee });
    expect(groups[0]).to.deep.include({ label: "payphone", service_id: "pay.test", recipient: payee });
    expect(totals.identified_pct).to.equal(100);
    const recipients = [payee.toLowerCase()];
    const path = join(folder, "own.json");
    writeFileSync(path, JSON.stringify({ version: "mine", services: [{ id: "a", label: "A", recipients }] }));
    const named = await ask({}, { BASE_PAYMENT_ADDRESS: payee, LEDGER_REGISTRY: path });
    expect([named.groups[0]?.label, named.registry_version]).to.deep.equal(["A", "mine"]);
    expect(registry_version).to.equal(`${(await ask({})).registry_version}+${payee.slice(2, 10).toLowerCase()}`);
  });

  describe("with an operator's registry", () => {
    const register = (file: unknown): Record<string, string> => {
      const path = join(folder, "registry.json");
      writeFileSync(path, JSON.stringify(file));
      return { LEDGER_REGISTRY: path };
    };

    it("names services whatever the way of paying, and says how much of the money they got", async () => {
      const second = privateKeyToAccount(generatePrivateKey()).address;
      const recipients = [payee, second].map((address) => address.toLowerCase());
      const env = register({ version: "mine-1", services: [{ id: "api.example.com", label: "Example", recipients }] });
      await stage.send(await toTransfer(payer, await stage.authorize(payer)));
      await impersonate(payer.address, encode("transfer", [second, 50n]));
      await stage.send(await toTransfer(payer, await stage.authorize(payer, { to: MULTICALL3, value: 300n })));
      const { totals, groups, registry_version } = await ask({}, env);
      expect(totals).to.deep.equal({ usdc: "0.00045", tx_count: 3, unique_recipients: 3, identified_pct: 33.33 });
      expect(groups[0]).to.deep.include({ service_id: null, usdc: "0.0003" });
      expect(groups[1]).to.deep.include({ label: "Example", service_id: "api.example.com", recipient: null });
      expect(groups[1]).to.deep.include({ usdc: "0.00015", tx_count: 2, avg_call_price: "0.000075" });
      expect(registry_version).to.equal("mine-1");
      const days = (await ask({ group_by: "day" }, env)).groups;
      expect(days.map(({ service_id, recipient, tx_count }) => [service_id, recipient, tx_count])).to.deep.equal([
        [null, null, 3],
      ]);
    });

    it("names the site as one service, at its present address and at a former one", async () => {
      const former = privateKeyToAccount(generatePrivateKey()).address;
      const own = { id: "pay.test", label: "payphone", recipients: [former.toLowerCase()] };
      const env = { ...register({ version: "mine-3", services: [own] }), BASE_PAYMENT_ADDRESS: payee };
      await stage.send(await toTransfer(payer, await stage.authorize(payer)));
      await impersonate(payer.address, encode("transfer", [former, 50n]));
      const { groups } = await ask({}, env);
      expect(groups).to.have.length(1);
      expect(groups[0]).to.include({ label: "payphone", service_id: "pay.test", recipient: null, usdc: "0.00015" });
    });

    it("takes no recipient for a service that the registry says is none", async () => {
      const other = { id: "bridge", label: "A bridge", category: "other_transfer", recipients: [payee.toLowerCase()] };
      const env = register({ version: "mine-2", services: [other] });
      await stage.send(await toTransfer(payer, await stage.authorize(payer)));
      expect((await ask({}, env)).totals.tx_count).to.equal(0);
      const { groups } = await ask({ include_unfiltered: true }, env);
      expect(groups[0]).to.deep.include({ label: "A bridge", category: "other_transfer", service_id: "bridge" });
    });

    for (const [fault, file] of Object.entries({
      "no version": { services: [] },
      "no services": { version: "1" },
      "a category of its own": {
        version: "1",
        services: [{ id: "a", label: "A", category: "bridge", recipients: [`0x${"a".repeat(40)}`] }],
      },
      "a recipient that is no address": { version: "1", services: [{ id: "a", label: "A", recipients: ["0x1"] }] },
    }))
      it(`does not start with a registry that has ${fault}`, async () => {
        const env = register(file);
        const failure = await ask({}, env).catch((error: Error) => error.message);
        expect(failure).to.match(/^LEDGER_REGISTRY names .*registry\.json, which is no registry: /);
      });

    it("does not start with a registry that is not there", async () => {
      const failure = await ask({}, { LEDGER_REGISTRY: "/nowhere.json" }).catch((error: Error) => error.message);
      expect(failure).to.equal("LEDGER_REGISTRY names /nowhere.json, which cannot be read as JSON");
    });
  });
});
