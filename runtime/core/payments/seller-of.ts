import type { Service } from "../service.ts";
import type { Reservations } from "./reservations.ts";

/** The service that a call is about: the one at its route, or a retired one there that the payment has bought from. */
export type SellerOf = (asked: Service, key: string) => Promise<Service>;

export function createSellerOf(services: readonly Service[], { recall }: Pick<Reservations, "recall">): SellerOf {
  const retired = services.filter(({ isRetired }) => isRetired);
  return async (asked, key) => {
    const others = retired.filter((service) => service.path === asked.path && service !== asked);
    if (others.length === 0) return asked;
    const record = await recall(key);
    return others.find(({ manifest }) => manifest.id === record?.service) ?? asked;
  };
}

/** Whether a payment was spent on the service of a call, even if that is free today, or on a retired one at its route. */
export type HasSold = (asked: Service, key: string) => Promise<boolean>;

export function createHasSold(sellerOf: SellerOf, { recall }: Pick<Reservations, "recall">): HasSold {
  return async (asked, key) => {
    const record = await recall(key);
    if (!record || record.state === "rejected") return false;
    return record.service === (await sellerOf(asked, key)).manifest.id;
  };
}
