import type { AnyHandler } from "../api/plugin.ts";
import type { Manifest } from "./manifest.ts";
import type { Route } from "./route.ts";
import type { Schema } from "./validator.ts";

/** A manifest bound to its handler and its compiled schemas: ready to be called. Frozen. */
export interface Service {
  readonly manifest: Manifest;
  /** The route of the manifest first, then its aliases. All share one path. */
  readonly routes: readonly Route[];
  readonly path: string;
  readonly handler: AnyHandler;
  readonly input: Schema;
  readonly output: Schema;
  readonly deadlineMs: number;
}
