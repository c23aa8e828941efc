import { totalmem } from "node:os";

/** In bytes: of the machine, or of the container that is smaller. Some systems say 0 of a container. */
export const memory = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
