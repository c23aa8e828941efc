/** The path of a base URL, below which everything is served: `/paid`, or an empty text. */
export const pathOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, "");
