import { randomBytes } from "node:crypto";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { type Hex, verifyTypedData } from "viem";
import type { Eip3009 } from "../../runtime/core/x402/eip3009.ts";

/** The two halves of a facilitator's request (x402 v2, section 7). */
export interface FacilitatorRequest {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
}

type Authorization = Eip3009["authorization"];

/** What moves the money behind the scripted facilitator. */
export interface Money {
  /** The body of `GET /supported`. */
  supported(): Promise<object>;
  /** The body of a `POST /verify`. */
  verify(request: FacilitatorRequest): Promise<object>;
  /** The body of a `POST /settle`; moves the money of an authorization at most once. */
  settle(request: FacilitatorRequest): Promise<SettleBody>;
  /** Makes an authorization worthless before it is settled, as its payer can at any time. */
  cancel(request: FacilitatorRequest): Promise<void>;
}

export interface SettleBody {
  readonly success: boolean;
  readonly transaction?: string;
  readonly errorReason?: string;
}

export const authorizationOf = ({ payload }: PaymentPayload): Authorization =>
  (payload as { readonly authorization: Authorization }).authorization;

/** Networks of the imaginary ledger, unless the command names others: Base, Base Sepolia, Polygon, Avalanche. */
const NETWORKS = ["eip155:8453", "eip155:84532", "eip155:137", "eip155:43114"];

/** An imaginary ledger on which every account has money: for sellers that believe their facilitator and read no chain. */
export function createLedger(networks: readonly string[] = NETWORKS): Money {
  const gone = new Set<string>();
  const refuse = async ({ paymentPayload, paymentRequirements }: FacilitatorRequest): Promise<string | undefined> => {
    const authorization = authorizationOf(paymentPayload);
    const { from, to, value, validBefore, nonce } = authorization;
    if (gone.has(`${from}:${nonce}`)) return "invalid_exact_evm_nonce_already_used";
    if (BigInt(validBefore) * 1000n <= BigInt(Date.now()))
      return "invalid_exact_evm_payload_authorization_valid_before";
    if (to.toLowerCase() !== paymentRequirements.payTo.toLowerCase())
      return "invalid_exact_evm_payload_recipient_mismatch";
    if (BigInt(value) < BigInt(paymentRequirements.amount)) return "invalid_exact_evm_payload_authorization_value";
    return (await isSigned(paymentPayload, paymentRequirements)) ? undefined : "invalid_exact_evm_payload_signature";
  };
  return {
    supported: async () => ({
      kinds: networks.map((network) => ({ x402Version: 2, scheme: "exact", network })),
      extensions: [],
      signers: {},
    }),
    async verify(request) {
      const payer = authorizationOf(request.paymentPayload).from;
      const invalidReason = await refuse(request);
      return invalidReason ? { isValid: false, invalidReason, payer } : { isValid: true, payer };
    },
    async settle(request) {
      const { from: payer, nonce } = authorizationOf(request.paymentPayload);
      const { network } = request.paymentRequirements;
      const errorReason = await refuse(request);
      if (errorReason) return { success: false, errorReason, transaction: "", network, payer } as SettleBody;
      gone.add(`${payer}:${nonce}`);
      return { success: true, transaction: `0x${randomBytes(32).toString("hex")}`, network, payer } as SettleBody;
    },
    async cancel({ paymentPayload }) {
      const { from, nonce } = authorizationOf(paymentPayload);
      gone.add(`${from}:${nonce}`);
    },
  };
}

/** The EIP-712 signature over TransferWithAuthorization (EIP-3009), with the token's domain from the offer. */
async function isSigned({ payload }: PaymentPayload, { network, asset, extra }: PaymentRequirements): Promise<boolean> {
  const { authorization, signature } = payload as { authorization: Authorization; signature: Hex };
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return verifyTypedData({
    address: from,
    domain: {
      name: String(extra?.name),
      version: String(extra?.version),
      chainId: Number(network.split(":")[1]),
      verifyingContract: asset as Hex,
    },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: {
      from,
      to,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce,
    },
    signature,
  }).catch(() => false);
}
