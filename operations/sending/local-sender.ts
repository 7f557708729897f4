import { SYSTEM_WORKSPACE_ID } from '../../core/accounts/system-account.ts';
import type { OutgoingContent } from '../../db/queries/sending/outgoing-write.ts';

/** What the statement that stored claimed emails found, as a claim of their recipients would have. */
export interface ClaimFacts {
  /** when the statement was sent, on performance.now(): the leases begin then */
  askedAt: number;
  /** the domains of senders that have verified records for return addresses */
  mailFromDomains: ReadonlySet<string>;
  /** the domains of recipients that belong to this service */
  hostedDomains: ReadonlySet<string>;
}

/** Room for emails that are about to be stored with a claim. */
interface SendingPlaces {
  /** the emails whose recipients may be claimed; the others wait in their rows, for the sending actor */
  claimable: ReadonlySet<OutgoingContent>;
  /**
   * Takes over what was stored, after its commit: the claimed emails to send them, and the bytes of all of them, so that they are not read
   * back. Without a call of this, `giveBack` must be called.
   */
  fill(stored: readonly OutgoingContent[], facts: ClaimFacts): void;
  /** Gives the room back: nothing was stored, or it is not known. */
  giveBack(): void;
}

/** The sending actor of this process, for mail that is stored and claimed by one statement. */
export interface LocalSender {
  /** written to claimed_by */
  claimant: string;
  /** Keeps room for the emails of a user as far as nothing of the same user and destination waits. */
  keepPlaces(workspaceId: string, emails: readonly OutgoingContent[]): SendingPlaces;
}

/** The claims of emails that are about to be stored, for the sending actor of this process. */
export interface LocalClaims {
  /** null: none is claimed */
  claimant: string | null;
  /** Keeps room for emails, once. Returns those whose recipients may be claimed. Then `fill` or `giveBack` must be called. */
  keep(emails: readonly OutgoingContent[]): ReadonlySet<OutgoingContent>;
  /** Hands over what was stored, after its commit. Returns the ids of the emails whose recipients are claimed. */
  fill(stored: readonly OutgoingContent[], facts: Omit<ClaimFacts, 'askedAt'>): ReadonlySet<string>;
  /** Gives the room back: nothing was stored, or it is not known. */
  giveBack(): void;
}

/** Mail of the service itself is not claimed as it is stored: its return address and its key are those of others. */
export function openLocalClaims({
  localSending,
  workspaceId,
}: {
  localSending?: LocalSending | undefined;
  workspaceId: string;
}): LocalClaims {
  const sender = workspaceId === SYSTEM_WORKSPACE_ID ? null : (localSending?.sender ?? null);
  let places: SendingPlaces | null = null;
  let askedAt = 0;
  return {
    claimant: sender?.claimant ?? null,
    keep(emails) {
      places = sender?.keepPlaces(workspaceId, emails) ?? null;
      askedAt = performance.now();
      return places?.claimable ?? new Set();
    },
    fill(stored, facts) {
      const claimable = places?.claimable ?? new Set();
      places?.fill(stored, { ...facts, askedAt });
      places = null;
      return new Set(stored.filter((email) => claimable.has(email)).map(({ row }) => row.id));
    },
    giveBack() {
      places?.giveBack();
      places = null;
    },
  };
}

/** Where the gateway of a process finds its sending actor, which starts later and stops earlier. */
export interface LocalSending {
  /** null: the sending actor runs elsewhere, or not now */
  sender: LocalSender | null;
}
