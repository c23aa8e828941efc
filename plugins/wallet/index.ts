import { definePlugin, Problem, toValueError } from "#plugin";
import { readChainAddress } from "./address.ts";
import { createIntel, WALLET_RULES } from "./intel/bundle.ts";
import { createInvestigate } from "./investigate/investigation.ts";
import { readSubject } from "./investigate/subject.ts";
import { createEns } from "./names/ens.ts";
import { readName } from "./names/name.ts";
import { createResolveName } from "./names/resolution.ts";
import { createSol } from "./names/sol.ts";
import { createScreening } from "./screen/screening.ts";

/** Wallet services: screening, name resolution, wallet intelligence and investigation. */
export default definePlugin("wallet", (host) => {
  const registries = { ENS: createEns(host), SNS: createSol(host) };
  const screening = createScreening(host);
  const resolveName = createResolveName({ registries, clock: host.clock });
  const gatherIntel = createIntel(host, { registries, screening });
  const investigate = createInvestigate(host, { registries, screening, gatherIntel });
  return {
    screen: {
      check({ wallet }) {
        if (wallet.trim() !== "") return;
        const issues = [toValueError("wallet must not be blank", wallet, "wallet")];
        throw new Problem("invalid-input", undefined, { issues });
      },
      run: ({ wallet }, { signal }) => screening.screen(wallet, signal),
    },

    resolve: {
      check: ({ name }) => void readName(name),
      run: ({ name }, { signal }) => resolveName(name, signal),
    },

    intel: {
      check: ({ wallet }) => void readChainAddress(wallet, WALLET_RULES),
      run: ({ wallet }, { signal }) => gatherIntel(wallet, signal),
    },

    investigate: {
      check: ({ address }) => void readSubject(address),
      run: ({ address }, call) => investigate(address, call),
    },
  };
});
