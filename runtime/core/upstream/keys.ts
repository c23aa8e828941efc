/** A credential of an upstream: in a header, after `scheme` if that is set, or in a query parameter. */
export interface KeyManifest {
  /** The environment variable with the credential. */
  readonly variable: string;
  readonly header?: string;
  readonly scheme?: "Bearer" | "Basic" | "Token" | "Key";
  readonly query?: string;
}

/** The parts of an upstream that name credentials. */
export interface Keyed {
  readonly key?: KeyManifest;
  readonly keys?: readonly KeyManifest[];
}

/** Whether a variable's name suggests that it holds a secret. */
export const isSecretName = (name: string): boolean =>
  /key|token|secret|passw|credential|auth|cookie|bearer|jwt|_pwd$|(?:^|_)(?:pat|pass)(?:_|$)/i.test(name);

/** All credentials of an upstream. */
export const keysOf = ({ key, keys = [] }: Keyed = {}): readonly KeyManifest[] => (key ? [key, ...keys] : keys);
