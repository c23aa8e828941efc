/** Names of headers and parameters in which APIs expect credentials; providers put their own names before. */
export const CREDENTIAL =
  /^(?:(?:proxy-)?authorization|x-?(?:api|auth|access|app)?-?(?:key|token|secret)|(?:api|app|access|auth|client|subscription)[-_]?(?:key|token|secret|id_token)|key|token|secret|password|passwd|pwd|signature|sig|apikey|appid|(?:.*[-_.])?(?:api[-_]?key|(?:rapidapi|functions|subscription)-key|private-token|(?:access|auth|security|vault)[-_]token))$/i;
