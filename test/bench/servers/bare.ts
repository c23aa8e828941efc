import { ANSWER } from "../shop.ts";
import { announce } from "./announce.ts";

/** The least that a server can do: the baseline of every ratio. */
const body = JSON.stringify(ANSWER);
await announce(() => (request, response) => {
  request.resume();
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
});
