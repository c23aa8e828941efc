import type { Plugins } from "#plugin";

/** The answer's fields of one kind of chain (schemas/TxDecodeResponse.json). */
export type ChainFields = Partial<Plugins["transaction"]["decode"]["output"]>;
