/** A budget of points per key and minute. */
export interface Budget {
  /**
   * Spends points of a key: 0 when it had enough, else the whole seconds until it has. @throws Problem `unavailable`.
   */
  take(key: string, points?: number): Promise<number>;
  /** Returns the points of a call that was paid. Never throws: a lost credit is harmless. */
  giveBack(key: string, points?: number): void;
}
