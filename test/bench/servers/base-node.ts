import { startBaseNode, toTopicAddress } from "../../plugins/ledger/base-node.ts";

/** A node of Base that holds as many x402 payments of one wallet as the argument says, spread over 100 days to 500 recipients. */
const NEWEST = 40_000_000;
const SPAN = 100 * 43_200;
const RECIPIENTS = 500;

const count = Number(process.argv[2]);
const node = await startBaseNode(NEWEST);
node.hold(
  Array.from({ length: count }, (_, at) => ({
    to: toTopicAddress((at * 7919) % RECIPIENTS),
    amount: BigInt(1000 + ((at * 7919) % 250_000)),
    block: NEWEST - SPAN + Math.floor((at * SPAN) / count),
  })),
);
process.stdout.write(`${new URL(node.url).port}\n`);
