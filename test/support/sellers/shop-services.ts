import type { Manifest } from "../../../runtime/core/set/manifest.ts";

const ROLL = {
  type: "object",
  properties: {
    low: { type: "integer" },
    high: { type: "integer" },
    count: { type: "integer", minimum: 1, default: 1 },
    label: { type: ["string", "null"] },
    data: {},
  },
  required: ["low", "high"],
};
const ROLLED = {
  type: "object",
  properties: { value: { type: "integer" }, executions: { type: "integer" } },
  required: ["value"],
};

/** A service of the shop that takes a roll. */
export const manifest = (id: string, price: string): Manifest => ({
  id,
  title: id,
  description: `The service ${id}.`,
  route: `POST /v1/${id}`,
  aliases: [`GET /v1/${id}`],
  price,
  handler: `dice.${id}`,
  input: ROLL,
  output: ROLLED,
  tags: [],
  examples: [],
});

const { price: _, aliases: __, ...bare } = manifest("purchases", "0.001");
/** The service that shows a wallet its purchases. */
export const PURCHASES: Manifest = {
  ...bare,
  route: "GET /v1/purchases",
  sign_in: true,
  input: { type: "object", properties: {} },
  output: { type: "object", properties: { purchases: { type: "array" } } },
};

/** The service that tells whether a wallet is sanctioned. */
export const SCREEN: Manifest = {
  ...manifest("screen", "0.02"),
  input: { type: "object", properties: { wallet: { type: "string" } }, required: ["wallet"] },
  output: { type: "object", properties: { sanctions_match: { type: "boolean" } } },
};
