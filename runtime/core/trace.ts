/** Notes when a step of a call begins and ends. What the step gives or throws is not changed. */
export type TraceStep = <T>(step: string, work: () => Promise<T>) => Promise<T>;
