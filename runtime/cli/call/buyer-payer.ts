import { base58 } from "@scure/base";
import { x402Client } from "@x402/core/client";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { DefaultAssetTable, PaymentRequired, SchemeNetworkClient } from "@x402/core/types";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isSameAddress } from "../../core/rails/tokens.ts";
import { isEvm } from "../../core/set/manifest.ts";
import { printable } from "../printable.ts";
import type { BuyerWallet } from "./buyer-wallet.ts";
import { type Offer, refuseToPay } from "./offers.ts";

/** Signs the payment of one offer. */
export interface Payer {
  /** Address of the account that pays. */
  readonly address: string;
  /** The PAYMENT-SIGNATURE header that pays this offer of the challenge. @throws Problem `upstream-failed`. */
  sign(challenge: PaymentRequired): Promise<string>;
}

/** The longest life of a payment that is signed: whoever holds it can take the money until then. */
const LONGEST_SECONDS = 24 * 60 * 60;

/** Opens the wallet's key for the offer's chain; only that chain's SDK is loaded. @throws Problem `payment-required`. */
export async function openPayer(wallet: BuyerWallet, { rail, requirements }: Offer): Promise<Payer> {
  const key = wallet.key(rail);
  if (key === undefined) refuseToPay(`the wallet has no key for ${rail.id}`);
  const { network, asset, amount, maxTimeoutSeconds, extra } = requirements;
  const isLong = maxTimeoutSeconds > LONGEST_SECONDS;
  const fault = isLong ? "longer than a day" : !Number.isInteger(maxTimeoutSeconds) && "no whole number";
  if (fault) refuseToPay(`the seller could use the payment for ${maxTimeoutSeconds} seconds, which is ${fault}`);
  const { address, scheme, tokens } = isEvm(rail) ? await evm(key as Hex) : await solana(key, await wallet.rpc(rail));
  if (!isEvm(rail) && extra?.feePayer === address)
    refuseToPay(`the seller names the buyer, ${address}, as the payer of the network's fee, which no limit counts`);
  const known = tokens[network]?.find((token) => isSameAddress(network, token.asset, asset));
  if (known && (known.decimals !== rail.decimals || rail.currency !== "usd"))
    refuseToPay(
      `rail ${rail.id} counts ${rail.currency} with ${rail.decimals} decimals, and its token ${known.symbol} counts usd with ${known.decimals}: correct the rail, since no limit holds otherwise`,
    );
  const client = new x402Client()
    .register(network, scheme)
    .setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: amount }] });
  return {
    address,
    async sign(challenge) {
      try {
        const payment = await client.createPaymentPayload({ ...challenge, accepts: [requirements] });
        return encodePaymentSignatureHeader(payment);
      } catch (error) {
        const where = isEvm(rail) ? "" : ` (is ${rail.rpc} a working RPC URL?)`;
        const message = printable((error as Error).message); // It repeats what the seller asks for.
        throw new Problem("upstream-failed", `the payment could not be signed: ${message}${where}. Nothing was paid.`, {
          cause: error,
        });
      }
    },
  };
}

interface Signer {
  readonly address: string;
  readonly scheme: SchemeNetworkClient;
  /** The SDK's tokens, all of which count dollars: a file of rails, which may be a stranger's, could say otherwise. */
  readonly tokens: DefaultAssetTable;
}

async function evm(key: Hex): Promise<Signer> {
  const [{ privateKeyToAccount }, { ExactEvmScheme }, { DEFAULT_ASSETS: tokens }] = await Promise.all([
    import("viem/accounts"),
    import("@x402/evm/exact/client"),
    import("@x402/evm"),
  ]);
  const account = privateKeyToAccount(key);
  return { address: account.address, scheme: new ExactEvmScheme(account), tokens };
}

async function solana(key: string, rpcUrl: string | undefined): Promise<Signer> {
  const [{ createKeyPairSignerFromBytes }, { ExactSvmScheme }, { DEFAULT_ASSETS: tokens }] = await Promise.all([
    import("@solana/kit"),
    import("@x402/svm/exact/client"),
    import("@x402/svm"),
  ]);
  const signer = await createKeyPairSignerFromBytes(base58.decode(key));
  const scheme = new ExactSvmScheme(signer, rpcUrl === undefined ? {} : { rpcUrl });
  return { address: signer.address, scheme, tokens };
}
