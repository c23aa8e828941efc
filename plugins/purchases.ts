import { definePlugin, Problem } from "#plugin";

/** What a wallet that has signed in has bought. */
export default definePlugin("purchases", ({ purchases }) => ({
  list: async ({ limit, answers }, { accounts = [] }) => ({
    purchases: await purchases.list(accounts, limit, { answers }),
  }),
  read: async ({ id }, { accounts = [] }) => {
    const found = await purchases.read(accounts, id);
    if (!found) throw new Problem("nothing-found", "This wallet has no such purchase, or it is forgotten");
    return found;
  },
}));
