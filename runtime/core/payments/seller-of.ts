import type { Service } from "../service.ts";
import { callOf, isAskedAgain, type Purchase, toAsSold } from "./purchase.ts";
import type { PaymentRecord } from "./record.ts";
import type { Reservations } from "./reservations.ts";

/** The service that a call is about: the one at its route, or a retired one there that the payment has bought from. */
export type SellerOf = (asked: Service, key: string) => Promise<Service>;

/** The retired services at the route of a service. */
export type FormerOf = (asked: Service) => readonly Service[];

export function createFormerOf(services: readonly Service[]): FormerOf {
  const retired = services.filter(({ isRetired }) => isRetired);
  return (asked) => retired.filter((service) => service.path === asked.path && service !== asked);
}

/**
 * The service that has sold a call: the one that is asked for it again, perhaps sold under another id in another process, or a
 * retired one at its route. Undefined: another call. `key`: of the payment that has bought it.
 */
export type SoldBy = (
  sold: { readonly call: string } & Pick<PaymentRecord, "asked">,
  again: Purchase,
  key: string,
) => Promise<Service | undefined>;

export const createSoldBy =
  (formerOf: FormerOf, { read }: Pick<Reservations, "read">): SoldBy =>
  async (sold, again, key) => {
    const { service: asked, input, given } = again;
    const seller = [asked, ...formerOf(asked)].find(
      (service) => sold.call === callOf({ service, input }) || isAskedAgain(sold, { service, given }),
    );
    const record = seller ? undefined : await read(key);
    return record && isAskedAgain(record, toAsSold(record, again)) ? asked : seller;
  };

export function createSellerOf(formerOf: FormerOf, { recall }: Pick<Reservations, "recall">): SellerOf {
  return async (asked, key) => {
    const others = formerOf(asked);
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
