/** One accepted recipient of one SMTP transaction (a row of table reception): the envelope, and what is to be parsed. */
export interface Reception {
  userId: string;
  emailId: string;
  rawId: string;
  /** empty for the null reverse-path */
  reversePath: string;
  /** forward-path as given, including the plus-tag */
  recipient: string;
  /** the address that receives it, lower case */
  ownAddress: string;
  /** null when the catch-all accepted it */
  addressId: string | null;
  domainId: string;
  remoteAddress: string;
  helo: string;
  isTls: boolean;
  /** our own trace fields, with CRLF line ends; they precede the bytes */
  traceFields: string;
  /** when SMTP replied 250 */
  acceptedAt: Date;
  /** tries to parse it, including the one that is due */
  tries: number;
}
