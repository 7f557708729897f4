/** What RFC 5321 §4.4 records about one hop. */
export interface Hop {
  /** as the client sent it in EHLO or HELO */
  helo: string;
  remoteAddress: string;
  ownHostname: string;
  isExtended: boolean;
  isTls: boolean;
  /** MAIL had SMTPUTF8 (RFC 6531 §4.3) */
  isUtf8: boolean;
  id: string;
  recipients: readonly string[];
  receivedAt: Date;
}

const domainOrLiteral = /^(?:[A-Za-z0-9_.-]{1,255}|\[[A-Za-z0-9:.]{1,64}\])$/;
const printableAscii = /^[\x21-\x7e]+$/;

/**
 * Returns our Received header (RFC 5321 §4.4, protocol names of RFC 3848 and RFC 6531), with a trailing CRLF. The recipient is named only
 * when it is the only one, to keep others private. A HELO that is not a domain becomes `unknown`.
 */
export function receivedHeader(hop: Hop): string {
  const from = domainOrLiteral.test(hop.helo) ? hop.helo : 'unknown';
  const [recipient] = hop.recipients;
  const isNamed =
    hop.recipients.length === 1 && recipient !== undefined && (hop.isUtf8 || printableAscii.test(recipient));
  return [
    `Received: from ${from} (${addressLiteral(hop.remoteAddress)})\r\n`,
    `\tby ${hop.ownHostname} with ${protocol(hop)} id ${hop.id}`,
    isNamed ? `\r\n\tfor <${recipient}>; ` : ';\r\n\t',
    `${hop.receivedAt.toUTCString().replace('GMT', '+0000')}\r\n`,
  ].join('');
}

function addressLiteral(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`;
}

function protocol(hop: Hop): string {
  if (!hop.isExtended) return 'SMTP';
  return `${hop.isUtf8 ? 'UTF8SMTP' : 'ESMTP'}${hop.isTls ? 'S' : ''}`;
}
