const JSON_TYPE = /^(?:application|text)\/(?:json|[\w.-]+\+json|\*)\s*(?:;|$)|^\*\/\*$/i;

/** Whether a media type is JSON or a wildcard. */
export const isJsonType = (type: string): boolean => JSON_TYPE.test(type);

/** Whether a media type is `application/json` itself, and no other one that begins alike, such as that of JSON Patch. */
export const isPlainJson = (type: string): boolean => /^application\/json\s*(?:;|$)/i.test(type);
