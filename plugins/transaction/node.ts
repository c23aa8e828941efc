import { Ajv, type SchemaObject, type ValidateFunction } from "ajv";
import { Problem, type Upstream } from "#plugin";

/** Calls one read-only JSON-RPC method; undefined when the node answers `null`. */
export type ReadMethod<T> = (node: Upstream, params: readonly unknown[], signal: AbortSignal) => Promise<T | undefined>;

/**
 * Makes a reader of a JSON-RPC method that validates the answer with a JSON Schema.
 * @param unreadable error codes that are not the node's fault, each with the detail for the caller.
 * @throws (the reader does) Problem `upstream-failed` when the node fails, refuses or answers another shape;
 * `unparseable-input` for the codes of `unreadable`.
 */
export function createRead<T>(
  method: string,
  schema: SchemaObject,
  unreadable: Readonly<Record<number, string>> = {},
): ReadMethod<T> {
  // Compiled on first use, to start faster.
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
