/**
 * Reads JSON whose numbers JavaScript can hold: others would be sent, and paid for, as other numbers.
 * @param {string} text
 * @returns {unknown}
 * @throws SyntaxError where it is no JSON, RangeError where it has such a number
 */
export const parseExactly = (text) => JSON.parse(text, refuseChanged);

/**
 * Reads an input.
 * @param {string} text
 * @returns {{ value?: Record<string, unknown>, fault?: string }}
 */
export function readObject(text) {
  try {
    const value = parseExactly(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject
      ? { value: /** @type {Record<string, unknown>} */ (value) }
      : { fault: "The input must be a JSON object, like { } with fields in it." };
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    return { fault: error instanceof RangeError ? message : `The input is no JSON: ${message}` };
  }
}

/**
 * @param {string} _key
 * @param {unknown} value
 * @param {{ source?: string }} [context] missing in older browsers
 */
function refuseChanged(_key, value, { source } = {}) {
  if (typeof value === "number" && isChanged(value, source ?? String(value)))
    throw new RangeError(`The input has ${source ?? value}, which would be sent as ${JSON.stringify(value)}.`);
  return value;
}

/**
 * @param {number} value
 * @param {string} source how it was written
 */
const isChanged = (value, source) =>
  !Number.isFinite(value) || (/^-?\d{16,}$/.test(source) && BigInt(source) !== BigInt(value));
