import { definePlugin, type HandlersOf, isBlank, Problem, toValueError } from "#plugin";
import { readChainAddress } from "./address.ts";
import { createIntel, WALLET_RULES } from "./intel/bundle.ts";
import { createInvestigate } from "./investigate/investigation.ts";
import { readSubject } from "./investigate/subject.ts";
import { createEns } from "./names/ens/ens.ts";
import { readName } from "./names/name.ts";
import { createResolveName } from "./names/resolution.ts";
import { createSol } from "./names/sol/sol.ts";
import { createScreening } from "./screen/screening.ts";
import { refuseTokenAccount } from "./token-account.ts";

/**
 * Wallet services: screening, name resolution, wallet intelligence and investigation. Each handler is created only when
 * its service is sold, with the sources that its manifest names; only investigation signs and anchors.
 */
export default definePlugin("wallet", (host) => {
  const registries = once(() => ({ ENS: createEns(host), SNS: createSol(host) }));
  const screening = once(() => createScreening(host));
  const gatherIntel = once(() => createIntel(host, { registries: registries(), screening: screening() }));
  return {
    get screen(): HandlersOf<"wallet">["screen"] {
      const { screen } = screening();
      return {
        check({ wallet }) {
          if (!isBlank(wallet)) return;
          const issues = [toValueError("wallet must not be blank", wallet, "wallet")];
          throw new Problem("invalid-input", undefined, { issues });
        },
        run: ({ wallet }, { signal }) => screen(wallet, { signal }),
      };
    },

    get resolve(): HandlersOf<"wallet">["resolve"] {
      const resolveName = createResolveName({ registries: registries(), clock: host.clock });
      return {
        check: ({ name }) => void readName(name),
        run: ({ name }, { signal }) => resolveName(name, signal),
      };
    },

    get intel(): HandlersOf<"wallet">["intel"] {
      const gather = gatherIntel();
      return {
        check: ({ wallet }) => void readChainAddress(wallet, WALLET_RULES),
        run: ({ wallet }, { signal }) => gather(wallet, signal),
      };
    },

    get investigate(): HandlersOf<"wallet">["investigate"] {
      const { anchor } = host;
      const solana = host.upstream("solana");
      const investigate = createInvestigate(host, screening());
      return {
        check: ({ address }) => void readSubject(address),
        async ready({ address }, signal) {
          await anchor.ready(signal);
          const { family, address: key } = readSubject(address);
          if (family === "solana") await refuseTokenAccount(solana, key, signal);
        },
        run: ({ address }, call) => investigate(address, call),
      };
    },
  };
});

/** Creates a value on first use. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
