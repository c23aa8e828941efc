/** How many requests each key may make in a minute. */
export interface Budget {
  /** Takes some of what a key may spend: 0, or the whole seconds after which there is enough again. @throws Problem `unavailable`. */
  take(key: string, points?: number): Promise<number>;
  /** Gives back what turned out to be paid for. Never throws: a lost credit is harmless. */
  giveBack(key: string, points?: number): void;
}
