import { Ajv, type SchemaObject, type ValidateFunction } from "ajv";
import { Problem, type Upstream } from "#plugin";

/** One reading method of a chain's node; undefined is the node's `null`: it holds no such thing. */
export type Read<T> = (node: Upstream, params: readonly unknown[], signal: AbortSignal) => Promise<T | undefined>;

/**
 * Reads what a JSON-RPC method answers, and believes it only as far as it fits the schema.
 * @param unreadable the codes of refusals that are no fault of the node, and what to tell the caller then.
 * @throws (the reader does) Problem `upstream-failed` when the node fails, refuses or answers something else;
 * `unparseable-input` for what is `unreadable`.
 */
export function createRead<T>(
  method: string,
  schema: SchemaObject,
  unreadable: Readonly<Record<number, string>> = {},
): Read<T> {
  // Compiled at the first use: no start has to wait for it.
  let compiled: ValidateFunction<T> | undefined;
  return async (node, params, signal) => {
    const { result, error } = await node.rpc(method, params, { signal });
    if (error && Object.hasOwn(unreadable, error.code)) throw new Problem("unparseable-input", unreadable[error.code]);
    if (error)
      throw new Problem("upstream-failed", `${node.title} refused ${method} with code ${error.code}`, {
        cause: error,
      });
    if (result === null) return undefined;
    compiled ??= ajv.compile<T>(schema);
    if (compiled(result)) return result;
    throw new Problem("upstream-failed", `${node.title} answered ${method} with something else`, {
      cause: ajv.errorsText(compiled.errors),
    });
  };
}

const ajv = new Ajv({ allowUnionTypes: true, validateSchema: false, meta: false });
