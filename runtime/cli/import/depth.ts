const DEEPEST = 256;

/** Whether data is nested more deeply than any API description needs, or contains itself. */
export function isDeep(data: unknown): boolean {
  const open: (readonly [value: unknown, depth: number])[] = [[data, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (depth > DEEPEST) return true;
    if (typeof value === "object" && value !== null)
      for (const part of Object.values(value)) open.push([part, depth + 1]);
  }
  return false;
}
