/** A budget of points per key and minute. */
export interface Budget {
  /** Spends points of a key. Returns 0, or the seconds until it has enough points. @throws Problem `unavailable`. */
  take(key: string, points?: number): Promise<number>;
  /** Returns the points of a paid call. Never throws: a lost credit is harmless. */
  giveBack(key: string, points?: number): void;
}
