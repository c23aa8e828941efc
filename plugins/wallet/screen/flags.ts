/** The severity of a signal (schemas/ScreenSignal.json). */
export type Severity = "critical" | "high" | "medium";

interface FlagMeaning {
  readonly severity: Exclude<Severity, "critical">;
  /** What the flag says about the address. */
  readonly label: string;
}

/**
 * GoPlus' flags, with GoPlus' names (Malicious Address API). None is critical; only a match in the government's own
 * list is. GoPlus' `sanctioned` is second-hand.
 */
export const FLAGS = {
  blackmail_activities: { severity: "high", label: "blackmail" },
  cybercrime: { severity: "high", label: "cybercrime" },
  darkweb_transactions: { severity: "high", label: "darkweb trade" },
  fake_kyc: { severity: "high", label: "fake KYC" },
  fake_token: { severity: "high", label: "counterfeit tokens" },
  financial_crime: { severity: "high", label: "financial crime" },
  honeypot_related_address: { severity: "high", label: "honeypot tokens" },
  malicious_mining_activities: { severity: "high", label: "malicious mining" },
  money_laundering: { severity: "high", label: "money laundering" },
  number_of_malicious_contracts_created: { severity: "high", label: "malicious contracts of its own" },
  phishing_activities: { severity: "high", label: "phishing" },
  sanctioned: { severity: "high", label: "sanctions by GoPlus' records" },
  stealing_attack: { severity: "high", label: "theft" },
  blacklist_doubt: { severity: "medium", label: "suspected wrongdoing" },
  fake_standard_interface: { severity: "medium", label: "contracts that imitate a standard" },
  gas_abuse: { severity: "medium", label: "abuse of others' gas" },
  mixer: { severity: "medium", label: "a coin mixer" },
  reinit: { severity: "medium", label: "contracts that can be deployed anew" },
} as const satisfies Record<string, FlagMeaning>;

export type Flag = keyof typeof FLAGS;
