import { createServer } from "node:http";
import type { FacilitatorClient } from "@x402/core/server";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware } from "@x402/express";
import { bazaarResourceServerExtension, declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { ExactSvmScheme } from "@x402/svm/exact/server";
import express from "express";
import { ANSWER, INPUT, MANIFESTS, PATHS, PAY_TO, PRICE, SITE } from "../shop.ts";
import { SETTLED, SUPPORTED, VERIFIED } from "../stub-facilitator.ts";
import { announce } from "./announce.ts";

/** The stock x402 middleware on Express, selling the same routes. `node peer.ts [facilitator URL]`. */
const [url] = process.argv.slice(2);
const stub = {
  verify: async () => VERIFIED,
  settle: async () => SETTLED,
  getSupported: async () => SUPPORTED,
} as unknown as FacilitatorClient;

const [base, solana] = SITE.rails.map(({ network }) => network) as ["eip155:8453", `solana:${string}`];
const resources = new x402ResourceServer(url ? new HTTPFacilitatorClient({ url }) : stub)
  .register(base, new ExactEvmScheme())
  .register(solana, new ExactSvmScheme())
  .registerExtension(bazaarResourceServerExtension);
const accepts = [
  { scheme: "exact", network: base, payTo: PAY_TO.evm, price: `$${PRICE}`, maxTimeoutSeconds: 300 },
  { scheme: "exact", network: solana, payTo: PAY_TO.solana, price: `$${PRICE}`, maxTimeoutSeconds: 300 },
];
/** As our own challenges have it: how to call the route, and what it answers. */
const extensions = declareDiscoveryExtension({
  bodyType: "json",
  input: MANIFESTS[0]?.examples[0]?.input as object,
  inputSchema: INPUT,
  output: { example: ANSWER },
} as never);
const routes = Object.fromEntries(
  PATHS.map((path) => [
    `POST ${path}`,
    { accepts, description: "A service", mimeType: "application/json", extensions },
  ]),
);

const app = express();
app.use(paymentMiddleware(routes, resources));
app.use(express.json());
for (const path of PATHS) app.post(path, (_request, response) => void response.json(ANSWER));
announce(createServer(app));
