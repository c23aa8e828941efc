import type { x402Facilitator as X402Facilitator } from "@x402/core/facilitator";
import type { PublicClient } from "viem";
import type { Treasury } from "../../../api/capabilities.ts";
import type { SmartWalletsManifest } from "../../../core/set/manifest.ts";
import { authorizationId, type Eip3009 } from "../../../core/x402/eip3009.ts";
import type { PaymentRequirements } from "../../../core/x402/x402.ts";
import { MALFORMED, makesSigner, readSignature } from "../deployment.ts";
import { type GasTerms, readGasTerms } from "./gas-terms.ts";
import { createLocalSigner, type Declined, type LocalSignerOptions, SPENT, type Trace } from "./signer.ts";

export interface LocalSchemeOptions
  extends Pick<LocalSignerOptions, "sender" | "budget" | "coverage" | "quota" | "assets" | "confirmationMs"> {
  readonly network: `eip155:${string}`;
  readonly treasury: Pick<Treasury, "evmAddress">;
  readonly factories: SmartWalletsManifest["factories"];
}

/** A payment that contains only its authorization: other members would make the SDK read another scheme. */
export interface LocalPayment {
  readonly payload: Eip3009;
  readonly offer: PaymentRequirements & { readonly network: `eip155:${string}`; extra: Record<string, unknown> };
  /** Identifies the authorization on this chain. */
  readonly authorization: string;
}

/** The SDK's facilitator, for one payment. */
export interface LocalScheme {
  readonly terms: GasTerms;
  verify(): ReturnType<X402Facilitator["verify"]>;
  settle(): ReturnType<X402Facilitator["settle"]>;
}

/** Opens the SDK's facilitator with a signer for one call, unless the treasury declines to pay the gas. */
export async function openScheme(
  options: LocalSchemeOptions,
  chain: PublicClient,
  { payload, offer, authorization }: LocalPayment,
  { signal, trace }: { readonly signal: AbortSignal; readonly trace: Trace },
): Promise<LocalScheme | Declined> {
  const { network, sender, treasury, budget, factories } = options;
  const { from: payer } = payload.authorization;
  const address = await treasury.evmAddress();
  const signature = await readSignature(payload.signature);
  if (!signature) return MALFORMED;
  const { inner, deployment } = signature;
  const terms = await readGasTerms(chain, { payer, treasury: address, deployment }, sender, signal);
  if (await budget.isSpent(terms.payer)) return SPENT;
  if (terms.deployment) {
    const { factory } = terms.deployment;
    if (!factories.some((allowed) => allowed.toLowerCase() === factory.toLowerCase())) return toForeign(factory);
    const call = { account: address, gas: terms.mostGas, ...terms.fees };
    const signed = { authorization: payload.authorization, inner, offer };
    if (!(await makesSigner(chain, terms.deployment, signed, call))) return NOT_ITS_WALLET;
  }
  // A deployed wallet needs no deployment, so no factory is called for it.
  const plain = terms.deployment ? payload : { ...payload, signature: inner };
  const [{ x402Facilitator }, { ExactEvmScheme }] = await Promise.all([
    import("@x402/core/facilitator"),
    import("@x402/evm/exact/facilitator"),
  ]);
  const { value, validBefore } = payload.authorization;
  const about = { authorization, paymentId: authorizationId(payload.authorization), value, validBefore };
  const signer = createLocalSigner({ ...options, chain, address, terms, ...about, signal, trace });
  const scheme = new ExactEvmScheme(signer, { eip6492AllowedFactories: [...factories] });
  const facilitator = new x402Facilitator().register(network, scheme);
  const payment = [{ x402Version: 2, accepted: offer, payload: { ...plain } }, offer] as const;
  return { terms, verify: () => facilitator.verify(...payment), settle: () => facilitator.settle(...payment) };
}

const NOT_ITS_WALLET: Declined = {
  reason: "invalid_exact_evm_signature",
  message: "The factory makes no wallet at the payer's address that accepts this signature",
};

const toForeign = (factory: string): Declined => ({
  reason: "eip6492_factory_not_allowed",
  message: `Deploy the wallet first: its factory ${factory} is not allowed here`,
});
