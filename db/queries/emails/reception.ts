/** One accepted recipient of one SMTP transaction (a row of table reception): the envelope, and what is to be parsed. */
export interface Reception {
  userId: string;
  emailId: string;
  rawId: string;
  /** empty for the null reverse-path */
  reversePath: string;
  /** forward-path as given, plus-tag and all */
  recipient: string;
  /** the address that takes it, lower case */
  ownAddress: string;
  /** null when the catch-all took it */
  addressId: string | null;
  domainId: string;
  remoteAddress: string;
  helo: string;
  isTls: boolean;
  /** our own trace fields, CRLF ended; they stand before the bytes */
  traceFields: string;
  /** when SMTP answered 250 */
  acceptedAt: Date;
  /** tries to parse it, the one that is due included */
  tries: number;
}
