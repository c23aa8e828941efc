import { SETTLED, SUPPORTED, VERIFIED } from "../stub-facilitator.ts";
import { announce } from "./announce.ts";

const ANSWERS: Readonly<Record<string, string>> = {
  "/supported": JSON.stringify(SUPPORTED),
  "/verify": JSON.stringify(VERIFIED),
  "/settle": JSON.stringify(SETTLED),
};

await announce(() => (request, response) => {
  request.resume();
  const body = ANSWERS[request.url ?? ""] ?? "{}";
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
});
