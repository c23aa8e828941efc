import { Problem } from "../api/problem.ts";
import type { Store } from "./store.ts";

/** The cause of the Problem of a damaged record. */
class Damage extends Error {}

/**
 * The Problem of a record that is there and cannot be read, however often it is tried: a person has to look at it.
 * @param key of the record in the store
 */
export const toDamaged = (key: string, reason: string): Problem =>
  new Problem("unavailable", `The record "${key}" in the store is damaged`, { cause: new Damage(`${key}: ${reason}`) });

export const isDamaged = (error: unknown): boolean => error instanceof Problem && error.options.cause instanceof Damage;

/** For `catch`: undefined for a record that is damaged. @throws every other error. */
export function unlessDamaged(error: unknown): undefined {
  if (!isDamaged(error)) throw error;
}

/** For `catch`: null for a damaged record; undefined means that a record is missing. @throws every other error. */
export const nullIfDamaged = (error: unknown): null => unlessDamaged(error) ?? null;

/**
 * The record under a key; undefined when there is none. @param what it is, for the error
 * @throws Problem `unavailable`, also when it is damaged.
 */
export async function readSound<T>(
  store: Store,
  key: string,
  isSound: (record: unknown) => record is T,
  what: string,
): Promise<T | undefined> {
  const record = await store.get<unknown>(key);
  if (record === undefined || isSound(record)) return record;
  throw toDamaged(key, `It is no ${what} as this version writes them`);
}
