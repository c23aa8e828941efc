import { buffer } from "node:stream/consumers";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { SUPPORTED, settled, verified } from "../stub-facilitator.ts";
import { announce } from "./announce.ts";

const ANSWERS: Readonly<Record<string, (payment: PaymentPayload) => unknown>> = {
  "/verify": verified,
  "/settle": settled,
};

await announce(() => async (request, response) => {
  const text = (await buffer(request)).toString();
  const answer = ANSWERS[request.url ?? ""];
  const said = answer ? answer(JSON.parse(text).paymentPayload) : SUPPORTED;
  const body = JSON.stringify(said);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
});
