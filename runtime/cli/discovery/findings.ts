/** What a directory would dislike. */
export interface Finding {
  /** An error keeps a service from being listed, or listed well; a warning is close to that. */
  readonly level: "error" | "warning";
  /** A path, and what of it: `/openapi.json POST /v1/roll`. */
  readonly place: string;
  /** What is wrong, and what would be right. */
  readonly message: string;
}

/** Findings at one place. */
export interface Place {
  /** Notes the message when the condition does not hold. */
  expect(holds: boolean, message: string): void;
  warn(holds: boolean, message: string): void;
}

/** Collects findings. */
export interface Findings {
  readonly list: readonly Finding[];
  at(place: string): Place;
}

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
export const toLine = ({ level, place, message }: Finding): string => `${level}: ${place}: ${message}`;
