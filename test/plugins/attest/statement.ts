import { createHash } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Hex } from "../../../runtime/api/plugin.ts";

export const INPUT = "9F86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
export const OUTPUT = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
export const STATEMENT = { input_hash: INPUT, output_hash: OUTPUT, decision: "approved" };
export const MESSAGE = `payphone/attest/v1\ninput=${INPUT.toLowerCase()}\noutput=${OUTPUT}\ndecision=approved`;
export const ROOT = createHash("sha256").update(MESSAGE).digest("hex");
export const TX = `0x${"c0".repeat(32)}` as Hex;

export const caller = privateKeyToAccount(generatePrivateKey());
