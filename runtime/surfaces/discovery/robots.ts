/** Everything may be read by everybody: whatever costs something asks for payment itself. */
export const toRobots = (): string => "User-agent: *\nAllow: /\n";
