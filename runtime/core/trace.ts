/** Records when a step of a call begins and ends. Passes on the step's result or error. */
export type TraceStep = <T>(step: string, work: () => Promise<T>) => Promise<T>;
