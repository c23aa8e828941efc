import { paymentMiddleware } from "@x402/express";
import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import express from "express";
import { ANSWER, EXAMPLE, INPUT, MANIFESTS, OUTPUT, PATHS, SITE } from "../shop.ts";
import { announce } from "./announce.ts";
import { ACCEPTS, createResources } from "./x402-sdk.ts";

/** The stock x402 middleware on Express, selling the same routes. `node peer.ts [facilitator URL]`. */
const [url] = process.argv.slice(2);

/** As our own challenges have it: how to call the route, and what it answers. */
const extensions = declareDiscoveryExtension({
  bodyType: "json",
  input: EXAMPLE,
  inputSchema: INPUT,
  output: { example: ANSWER, schema: OUTPUT },
});
const routes = Object.fromEntries(
  MANIFESTS.map(({ route, description, tags }) => [
    route,
    {
      accepts: ACCEPTS,
      description,
      mimeType: "application/json",
      serviceName: SITE.title,
      tags: [...tags],
      extensions,
    },
  ]),
);

const app = express();
app.use(paymentMiddleware(routes, createResources(url)));
app.use(express.json());
for (const path of PATHS) app.post(path, (_request, response) => void response.json(ANSWER));
await announce(() => app);
