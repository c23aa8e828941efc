/**
 * Node's HTTP server. As an ECMAScript module, `node:http` reads all its exports, and one of them loads Node's own fetch
 * client: 10 ms and 5 MB of a start that nothing here needs.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");
