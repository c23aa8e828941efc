/** A server of one's own, with the shop below a path. */
export const HOST = `import { createServer } from "node:http";
import { openPayphone } from "payphone";

const shop = openPayphone({ env: process.env });
const server = createServer((request, response) => {
  if (request.url?.startsWith("/paid/")) shop.listener(request, response);
  else response.end("the host's");
});
await shop.start();
server.listen(Number(process.env.PORT), () => console.log("listening on " + process.env.PUBLIC_BASE_URL));
`;
