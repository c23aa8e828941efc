/** Something that a directory would refuse or dislike. */
export interface Finding {
  /** `error`: the service is not listed, or listed wrongly; `warning`: this may happen. */
  readonly level: "error" | "warning";
  /** A path and a part of it: `/openapi.json POST /v1/roll`. */
  readonly place: string;
  /** What is wrong, and what is expected. */
  readonly message: string;
}

/** Findings at one place. */
export interface Place {
  /** Adds an error unless the condition holds. */
  expect(holds: boolean, message: string): void;
  /** Adds a warning unless the condition holds. */
  warn(holds: boolean, message: string): void;
}

export interface Findings {
  readonly list: readonly Finding[];
  at(place: string): Place;
}

/** An empty collection. */
export function createFindings(): Findings {
  const list: Finding[] = [];
  return {
    list,
    at: (place) => ({
      expect: (holds, message) => void (holds || list.push({ level: "error", place, message })),
      warn: (holds, message) => void (holds || list.push({ level: "warning", place, message })),
    }),
  };
}

/** `level: place: message`. */
export const toFindingLine = ({ level, place, message }: Finding): string => `${level}: ${place}: ${message}`;
