import { createServer, type RequestListener, type Server } from "node:http";
import { expect } from "chai";
import { createEvmClient } from "../../runtime/drivers/evm/client.ts";
import { createSolanaClient } from "../../runtime/drivers/solana/client.ts";
import { listenOnLoopback } from "../../runtime/sandbox/json-rpc.ts";
import { rail } from "../support/chains/chains.ts";
import { thrown } from "../support/thrown.ts";

describe("a node that sends its requests elsewhere", () => {
  const servers: Server[] = [];
  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    return await listenOnLoopback(server);
  }
  after(() => {
    for (const server of servers) server.close();
  });

  it("has given no answer, and nobody else is asked: its URL and headers may hold a key", async () => {
    let strangers = 0;
    const elsewhere = await serve((_, response) => {
      strangers += 1;
      response.end();
    });
    const url = await serve((_, response) => void response.writeHead(307, { location: elsewhere }).end());
    const base = createEvmClient({ url, chainId: 8453, retries: 0 });
    const solana = createSolanaClient({ url, network: rail("solana").network, retries: 0 });
    expect(await thrown(base.ask((chain) => chain.getBlockNumber()))).to.include({ code: "upstream-failed" });
    expect(await thrown(solana.ask((chain) => chain.getSlot()))).to.include({ code: "upstream-failed" });
    expect(strangers).to.equal(0);
  });
});
