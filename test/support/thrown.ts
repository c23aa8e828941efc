/** What a promise is rejected with; otherwise its value. */
export const thrown = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
