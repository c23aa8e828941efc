import { toCorpus } from "./corpus.ts";

/**
 * The list that is searched until OFAC's list has been read for the first time: the addresses of the Lazarus Group,
 * which OFAC announced on 14 April, 22 April and 6 May 2022 and still lists.
 */
export const FLOOR = toCorpus(
  {
    published: "2022-05-06",
    entries: [
      {
        uid: "27307",
        name: "LAZARUS GROUP",
        programs: ["DPRK3"],
        addresses: [
          "0x098B716B8Aaf21512996dC57EB0615e2383E2f96",
          "0xa0e1c89Ef1a489c9C7dE96311eD5Ce5D32c20E4B",
          "0x3Cffd56B47B7b41c56258D9C7731ABaDc360E073",
          "0x53b6936513e738f44FB50d2b9476730C0Ab3Bfc1",
          "0x35fB6f6DB4fb05e6A4cE86f2C93691425626d4b1",
          "0xF7B31119c2682c88d88D455dBb9d5932c65Cf1bE",
          "0x3e37627dEAA754090fBFbb8bd226c1CE66D255e9",
          "0x08723392Ed15743cc38513C4925f5e6be5c17243",
        ].map((address) => ({ ticker: "ETH", address })),
      },
    ],
  },
  "builtin",
);
