import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { Problem } from "../../../../runtime/api/problem.ts";
import { breaks } from "../../../support/sources/scripted-source.ts";
import { createWorldClock } from "../../../support/world/clock.ts";
import { askForPause, type Question } from "../../../support/world/manners.ts";
import { openRecordedNode } from "../../../support/world/recorded.ts";
import type { WorldSource } from "../../../support/world/source.ts";
import { createHost, problemOf, type Reach, type Serve, serve } from "../../host.ts";
import { FAULTS } from "../faults.ts";

const NAMES = { ethereum: "vitalik.eth", solana: "bonfida.sol" } as const;

describe("a name, and nodes as they are in the world", () => {
  for (const node of ["ethereum", "solana"] as const)
    describe(NAMES[node], () => {
      const clock = createWorldClock();
      const name = NAMES[node];
      let source: WorldSource;
      let resolve: Serve;
      beforeEach(async () => {
        source = await openRecordedNode({ clock, files: [`plugins/wallet/recordings/${node}/names.json`] });
        resolve = await start();
      });
      afterEach(() => source.close());
      const start = (reach: Reach = {}): Promise<Serve> =>
        serve(
          "resolve_name",
          wallet,
          createHost({ clock }, { urls: { [node]: source.url }, pause: clock.pause, ...reach }),
        );

      for (const [what, line] of Object.entries(FAULTS))
        it(`fails, and does not lead nowhere, when the node gives ${what}`, async () => {
          resolve = await start({ timeoutMs: 200, retries: 0 });
          source.behave({ fault: () => line });
          expect((await problemOf(resolve({ name }))).code).to.equal("upstream-failed");
        });

      it("fails, or says what is not known, when any one of the node's answers is missing", async () => {
        await resolve({ name });
        const toKey = ({ name: method, params }: Question): string => JSON.stringify([method, params]);
        for (const missing of source.asked.map(toKey)) {
          resolve = await start(); // Shares no request with the one before.
          source.behave({ fault: (question) => (toKey(question) === missing ? FAULTS["a refusal"] : undefined) });
          const found = await resolve({ name }).catch((error: Problem) => error);
          if (found instanceof Problem) expect(found.code, missing).to.equal("upstream-failed");
          else expect(found.notes, missing).to.equal("Whether it has a Solana address could not be found out.");
        }
      });

      it("leads where it leads when the node allows two calls a second, and breaks each first answer", async () => {
        const limit = { perSecond: 2, burst: 2 };
        source.behave({
          rates: { eth_call: limit, getMultipleAccounts: limit },
          refusal: askForPause(1),
          fault: ({ times }) => (times === 0 ? breaks : undefined),
        });
        for (let times = 0; times < 3; times += 1) expect((await resolve({ name })).addresses).to.have.length(1);
      });
    });
});
