/** What becomes of mail while a scanner is away: accepted and checked later, deferred with 451, or kept until it is checked. */
export const WHEN_AWAY = ['accept', 'defer', 'hold'] as const;
export type WhenAway = (typeof WHEN_AWAY)[number];

export const VIRUS_ACTIONS = ['refuse', 'quarantine'] as const;
type VirusAction = (typeof VIRUS_ACTIONS)[number];

/** rspamd as the operator set it up. Its URLs may point to private addresses. */
export interface SpamOptions {
  /** of the worker that checks, without a path */
  url: string;
  /** of the controller, which learns */
  controllerUrl: string;
  /** of the controller; null: it trusts our address */
  password: string | null;
  /** milliseconds */
  limitMs: number;
  whenAway: WhenAway;
  /** mail with this score is refused; null: none is */
  rejectScore: number | null;
}

/** Where clamd listens. */
export type ClamdAddress = { host: string; port: number } | { path: string };

export interface VirusOptions {
  address: ClamdAddress;
  /** milliseconds */
  limitMs: number;
  whenAway: WhenAway;
  action: VirusAction;
}

/** The scanners of this service; null: none of that kind. */
export interface ScannerOptions {
  spam: SpamOptions | null;
  virus: VirusOptions | null;
}
