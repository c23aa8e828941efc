const JSON_TYPE = /^(?:application|text)\/(?:json|[\w.-]+\+json|\*)\s*(?:;|$)|^\*\/\*$/i;

/** Whether a media type is JSON or a wildcard. */
export const isJsonType = (type: string): boolean => JSON_TYPE.test(type);
