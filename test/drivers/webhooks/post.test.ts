import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { WebhookEvent } from "../../../runtime/core/webhooks/events.ts";
import { createPostWebhook, isWebhookSecret } from "../../../runtime/drivers/webhooks/post.ts";

const SECRET = `whsec_${Buffer.alloc(24, "a").toString("base64")}`;
const SALE: WebhookEvent = { id: "sale_1", type: "sale", at: 1, data: {} };

describe("a webhook that cannot be posted", () => {
  const targets = new Map([["books", { url: "http://127.0.0.1:6000/hooks", secrets: [SECRET] }]]);
  const post = createPostWebhook({ targets, clock: { now: Date.now } });
  const { signal } = new AbortController();

  it("says why its receiver cannot be reached, also at a port that fetch refuses", async () => {
    expect(await post("books", SALE, signal)).to.equal("It could not be reached (bad port)");
  });

  it("is not taken for one that was accepted where this process does not know its receiver", async () => {
    expect(await post("desk", SALE, signal)).to.include("is not configured in this process");
  });
});

describe("a webhook whose receiver never ends its answer", () => {
  it("is accepted, and lets the connection go", async () => {
    const closed = Promise.withResolvers<void>();
    const receiver = createServer((request, response) => {
      request.resume();
      response.on("close", closed.resolve).write("x");
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const post = createPostWebhook({
      targets: new Map([["books", { url, secrets: [SECRET] }]]),
      clock: { now: Date.now },
    });
    const began = performance.now();
    expect(await post("books", SALE, new AbortController().signal)).to.equal(undefined);
    await closed.promise;
    expect(performance.now() - began, "and not when its time is over").to.be.below(15_000);
    receiver.close();
  });
});

describe("the secret of a webhook", () => {
  const ofBytes = (count: number): string => Buffer.alloc(count, "a").toString("base64");

  it("has 24 to 64 bytes, in base64 behind whsec_", () => {
    for (const text of [24, 25, 64].map(ofBytes)) {
      expect(isWebhookSecret(`whsec_${text}`), text).to.equal(true);
      expect(isWebhookSecret(`whsec_${text.replace(/=+$/, "")}`), "without padding").to.equal(true);
    }
    const short = [`whsec_${ofBytes(23)}`, "whsec_", ""];
    const others = [`whsec_${ofBytes(65)}`, ofBytes(24), `whsec_${ofBytes(24)}!`, `whsec_ ${ofBytes(24)}`];
    others.push(`whsec_${ofBytes(25)}=`, `whsec_${ofBytes(24)}===`); // The library that signs fails at them.
    for (const text of [...short, ...others]) expect(isWebhookSecret(text), text).to.equal(false);
  });
});
