import { isEvm } from "../../set/manifest.ts";
import type { Store } from "../../store.ts";
import { type PayerProof, type Rail, railOf } from "../../x402/rails.ts";
import { type Purchase, payerOf } from "../purchase.ts";

/**
 * The names under which identifiers are stored. A key's wallet is one payer on all EVM networks, so that a purchase is
 * not paid again on another rail. A contract's wallet is a payer on its network: on another one, somebody else may have
 * put a contract at its address.
 */
export interface IdentifierNames {
  /** For a purchase whose payer is verified. */
  choose(payer: string, purchase: Purchase): Promise<string>;
  /** Undefined when nothing is stored, or when the signature alone does not prove the payer. */
  find(payer: string, purchase: Purchase): Promise<string | undefined>;
}

export function createIdentifierNames({ store, rails }: { store: Store; rails: readonly Rail[] }): IdentifierNames {
  async function isKnown(name: string): Promise<boolean> {
    return (await store.get(`named:${name}#0`)) !== undefined;
  }

  async function prove({ payment, offer }: Purchase): Promise<PayerProof | undefined> {
    const { provePayer } = railOf(rails, offer) ?? {};
    return provePayer?.(payment.payload).catch(() => undefined);
  }

  /** Keys, too, have a name of their network, where only the facilitator has proven them. */
  async function nameOf({ here, everywhere }: Names, proof: PayerProof | undefined): Promise<string> {
    return proof === "key" && !(await isKnown(here)) ? everywhere : here;
  }

  return {
    async choose(payer, purchase) {
      const names = toNames(payer, purchase);
      return isEvm(purchase.offer) ? nameOf(names, await prove(purchase)) : names.here;
    },
    async find(payer, purchase) {
      const names = toNames(payer, purchase);
      if (!(await isKnown(names.here)) && !(await isKnown(names.everywhere))) return undefined;
      const proof = await prove(purchase);
      return proof && nameOf(names, proof);
    },
  };
}

type Names = Readonly<Record<"here" | "everywhere", string>>;

function toNames(payer: string, { payment: { identifier }, offer }: Purchase): Names {
  const here = `${payerOf(payer, offer)}:${identifier}`;
  return { here, everywhere: here.replace(/^eip155:\d+/, "eip155") };
}
