/** What is known about a client before its mail is accepted. */
export interface DoorState {
  /** of SMTP_TRUSTED_NETWORKS, or this machine: nothing here holds for it */
  readonly isTrusted: boolean;
  /** on the internet: what asks others about it, or counts its mail, holds for it */
  readonly isOutside: boolean;
  /** whether it sent something before its turn */
  talkedEarly: boolean;
  /** what the lists say about it; null: none is asked */
  listing: Promise<Listing> | null;
}

/** The lists that name a client. */
export interface Listing {
  allowedBy: string | null;
  blockedBy: string | null;
}
