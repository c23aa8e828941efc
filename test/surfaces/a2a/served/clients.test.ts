import { createPublicKey } from "node:crypto";
import { type AgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { expect } from "chai";
import type { Loose } from "../../mcp/served/support/stall.ts";
import { CLIENTS, type OfficialClient } from "./support/clients.ts";
import { type ServedDoor, serveDoor } from "./support/serve.ts";

const INPUT = { low: 3, high: 6 };

describe("the official A2A client", () => {
  let served: ServedDoor;
  before(async () => {
    served = await serveDoor();
  });
  after(() => served.close());

  for (const [name, open] of CLIENTS)
    describe(name, () => {
      let client: OfficialClient;
      before(async () => {
        client = await open(served.url);
      });

      it("gets the result of a free service", async () => {
        const task = await client.begin("free", INPUT);
        expect(client.state(task)).to.equal("completed");
        expect(client.dataOf(task)).to.deep.equal({ value: 3 });
      });

      it("gets the faults of a refused input", async () => {
        expect(client.state(await client.begin("free", { low: "x" }))).to.equal("rejected");
      });

      it("pays for a task within it, and gets the result and the receipt", async () => {
        const waiting = await client.begin("roll", INPUT);
        expect(client.state(waiting)).to.equal("input-required");
        const { metadata } = waiting.status.message;
        expect(metadata["x402.payment.status"]).to.equal("payment-required");
        const paid = await client.pay(waiting, served.door.pay(metadata["x402.payment.required"]));
        expect(paid.id).to.equal(waiting.id);
        expect(client.state(paid)).to.equal("completed");
        expect(client.dataOf(paid)).to.deep.equal({ value: 3 });
        expect(paid.status.message.metadata["x402.payment.receipts"][0]).to.include({ success: true });
        expect(client.state(await client.get(waiting.id))).to.equal("completed");
      });

      it("cancels a task", async () => {
        const waiting = await client.begin("roll", INPUT);
        expect(client.state(await client.cancel(waiting.id))).to.equal("canceled");
      });

      it("knows our errors by their names", async () => {
        const nameOf = (call: Promise<unknown>): Promise<string> =>
          call.then(
            () => "no error",
            ({ name }: Error) => name,
          );
        expect(await nameOf(client.get("00000000-0000-4000-8000-000000000000"))).to.match(/TaskNotFound/);
        const ended = await client.begin("free", INPUT);
        expect(await nameOf(client.cancel(ended.id))).to.match(/TaskNotCancelable/);
        expect(await nameOf(client.pay(ended, {}))).to.match(/UnsupportedOperation/);
        expect(await client.begin("nope", INPUT).then(() => "", String)).to.match(/There is no skill "nope"/);
      });
    });

  it("1.3.0 verifies the card that the server serves, with the keys that the server serves", async () => {
    const card = (await (await fetch(`${served.url}/.well-known/agent-card.json`)).json()) as AgentCard;
    const { debug } = console; // The library tells of each signature that is not over its own form.
    console.debug = () => {};
    try {
      await verifyAgentCardSignature(async (kid, jku) => {
        const { keys } = (await (await fetch(jku as string)).json()) as Loose;
        return createPublicKey({ key: keys.find((key: Loose) => key.kid === kid), format: "jwk" });
      })(card);
    } finally {
      console.debug = debug;
    }
  });

  it("finds the card unchanged by its ETag", async () => {
    const url = `${served.url}/.well-known/agent-card.json`;
    const { headers } = await fetch(url);
    expect((await fetch(url, { headers: { "if-none-match": headers.get("etag") ?? "" } })).status).to.equal(304);
  });
});
