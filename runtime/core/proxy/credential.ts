/** Names of headers and parameters in which APIs expect credentials; providers put their own names before. */
export const CREDENTIAL =
  /^(?:(?:proxy-)?authorization|x-?(?:api|auth|access|app)?-?(?:key|token|secret)|(?:api|app|access|auth|client|subscription)[-_]?(?:key|token|secret|id_token)|key|token|secret|password|passwd|pwd|signature|sig|apikey|appid|(?:.*[-_.])?(?:api[-_]?key|(?:rapidapi|functions|subscription)-key|private-token|(?:access|auth|security|vault)[-_]token))$/i;

/** Credentials that show by their form what they are: those of known providers, and signed tokens (RFC 7519). */
export const CREDENTIAL_FORM =
  /\b(?:sk|rk)[-_](?:[a-z0-9]+[-_])*[A-Za-z0-9]{20,}|\bgh[opsur]_\w{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}|\bxox[abeoprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\bhf_[A-Za-z0-9]{30,}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/;
