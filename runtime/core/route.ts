/** A route by the manifests' strict grammar. */
export interface Route {
  readonly method: "GET" | "POST";
  /** Begins with `/`, with `{name}` for a path parameter. */
  readonly path: string;
}
